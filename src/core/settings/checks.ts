import type { CiCommand } from './ci-commands.ts';
import { type CiJob, ciJob, workflowFiles } from './ci-workflow.ts';
import { type CheckCommands, type Ecosystem, ecosystemsOf } from './ecosystems.ts';
import { containerSetup, type FoundCommand, LAST_RESORT_FILES, taskTest } from './last-resorts.ts';
import { inVenv, MAKE_VENV } from './python-setup.ts';
import { chainParts } from './test-runners.ts';

const CHECK_FILES: readonly string[] = [
  ...LAST_RESORT_FILES,
  'package.json',
  'go.mod',
  'Cargo.toml',
  'pyproject.toml',
  'setup.cfg',
  'tox.ini',
  'pytest.ini',
  'requirements.txt',
  'requirements-dev.txt',
  'Makefile',
  'makefile',
  'GNUmakefile',
];

/** Paths of the files of a repository whose text `detectChecks` wants to see; bounded. */
export const checkFiles = (paths: readonly string[]): readonly string[] => {
  const present = new Set(paths);
  return [...CHECK_FILES.filter((path) => present.has(path)), ...workflowFiles(paths)];
};

export interface DetectedChecks {
  readonly commands: CheckCommands;
  /** The file that each command was detected from. */
  readonly from: Readonly<Partial<Record<keyof CheckCommands, string>>>;
  /** Containers that the repository's CI starts beside the tests, such as `postgres`: sandboxes have none. */
  readonly services: readonly string[];
}

/**
 * How a repository is set up, built and tested, from its list of files and the text of some (`checkFiles`). The first
 * ecosystem that names a test command wins: package.json, Python, Go, Cargo, Maven, Gradle, Ruby, PHP, .NET; where none
 * does, what its CI workflow runs, a task of mise, what such repositories mostly have, a makefile. Set-up and build come
 * from the workflow where its files name none.
 */
export function detectChecks(repository: {
  readonly files: readonly string[];
  readonly read: Readonly<Record<string, string>>;
}): DetectedChecks {
  const { read } = repository;
  const snapshot = { files: new Set(repository.files), read };
  const found = ecosystemsOf(snapshot);
  const job = ciJob(read);
  const ci = job === null ? null : ciChecks(job);
  const sure = found.find(({ test, guessed }) => test && !guessed);
  const guess = sure ?? found.find(({ test }) => test) ?? found[0];
  const task = taskTest(read);
  const test = sure ? testOf(sure) : (ci?.test ?? task ?? testOf(guess));
  const build =
    guess?.build === undefined
      ? (test && test === ci?.test && ci.build) || null
      : { command: guess.build, file: guess.file };
  const needs = test !== null || build !== null;
  const setup = needs ? setupOf(test === ci?.test, guess, ci, containerSetup(read)) : null;
  const venv = setup?.command.includes('.venv') === true;
  const parts = { setup, build, test: venv && test ? { ...test, command: inVenv(test.command) } : test };
  const named = Object.entries(parts).filter((part): part is [string, FoundCommand] => Boolean(part[1]));
  return {
    commands: Object.fromEntries(named.map(([name, { command }]) => [name, command])),
    from: Object.fromEntries(named.map(([name, { file }]) => [name, file])),
    services: job?.services ?? [],
  };
}

const testOf = (found: Ecosystem | undefined): FoundCommand | null =>
  found?.test === undefined ? null : { command: found.test, file: found.file };

/** What tests of the workflow need is what the workflow installs. */
function setupOf(
  testedByCi: boolean,
  found: Ecosystem | undefined,
  ci: CiChecks | null,
  container: FoundCommand | null,
): FoundCommand | null {
  const own = found?.setup === undefined ? null : { command: found.setup, file: found.file };
  if (testedByCi && ci?.setup) return ci.setup;
  return own ?? (found?.complete ? null : (ci?.setup ?? container));
}

interface CiChecks {
  readonly setup: FoundCommand | null;
  readonly build: FoundCommand | null;
  readonly test: FoundCommand | null;
}

/** The commands of a CI job as one for each step; its Python packages go into a virtual environment. */
function ciChecks({ file, commands }: CiJob): CiChecks {
  const of = (part: CiCommand['part']) => [
    ...new Set(commands.flatMap((one) => (one.part === part ? [one.command] : []))),
  ];
  const joined = (parts: readonly string[]): FoundCommand | null =>
    parts.length === 0 ? null : { file, command: parts.map(whole).join(' && ') };
  const installs = of('setup').filter((one) => !FILES_ONLY.test(one));
  const pip = installs.some((one) => /\bpip[\d.]*\s+install\b/.test(one));
  const setup = pip
    ? [
        MAKE_VENV,
        ...of('setup')
          .filter((one) => !/venv\b/.test(one))
          .map((one) => inVenv(one).replace(/ --system\b/g, '')),
      ]
    : of('setup');
  const tests = of('test');
  const plain = tests.filter((one) => !/\b(?:coverage|cov)\b/.test(one));
  return {
    setup: installs.length === 0 ? null : joined(setup),
    build: joined(of('build')),
    test: joined(plain.length > 0 ? plain : tests),
  };
}

/** What only copies or makes files: no installation. */
const FILES_ONLY = /^(?:cp|mkdir|touch|ln)\s/;

/** A command as a part of a chain by `&&`. */
const whole = (command: string): string =>
  chainParts(command) === null && !/^\(cd .*\)$/.test(command)
    ? `{ ${command.replace(/;\s*$/, '')}; }`
    : command;
