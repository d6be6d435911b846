import { isTestsOfC } from './autotools-and-meson.ts';
import type { CiCommand } from './ci-commands.ts';
import { withPreparation } from './ci-preparation.ts';
import { type CiJob, ciJob, testsOnePackage, testsOnlyParts, workflowFiles } from './ci-workflow.ts';
import { chainParts } from './command-kinds.ts';
import { goPathFiles } from './compiled-ecosystems.ts';
import { DENO_FILES } from './deno-ecosystem.ts';
import { ecosystemsOf, isSure, mainFirst, python } from './ecosystems.ts';
import {
  containerSetup,
  dockerSetup,
  type FoundCommand,
  LAST_RESORT_FILES,
  otherTests,
  taskTest,
  testsWithoutCoverage,
} from './last-resorts.ts';
import { type RemovablePackage, removablePackages } from './left-out-packages.ts';
import { pythonProject } from './python-project.ts';
import {
  MAKE_VENV,
  PYTEST_TOO,
  PYTHON_LOCKS,
  preparedEnvironments,
  startsProgram,
  startsPythonTool,
  VENV,
  withPythonTools,
} from './python-setup.ts';
import { manageFile, testSamples } from './python-tests.ts';
import {
  type CheckCommands,
  type Ecosystem,
  type Recipe,
  type RepositorySnapshot,
  SAMPLE_FOLDERS,
} from './repository-recipe.ts';
import { TRAVIS_FILE, travisJob } from './travis.ts';
import { detectTypeCheck } from './type-checks.ts';
import { inVenv, venvFolders } from './virtual-environment.ts';

const CHECK_FILES: readonly string[] = [
  ...LAST_RESORT_FILES,
  TRAVIS_FILE,
  ...DENO_FILES,
  'package.json',
  'pnpm-workspace.yaml',
  '.yarnrc.yml',
  'go.mod',
  'go.work',
  'Cargo.toml',
  ...['composer.json', 'global.json'],
  'pyproject.toml',
  ...['setup.cfg', 'setup.py', 'hatch.toml'],
  ...['tox.ini', 'tox.toml', 'noxfile.py'],
  'pytest.ini',
  'requirements.txt',
  'requirements-dev.txt',
  'Gemfile',
  'Rakefile',
  'CMakeLists.txt',
  ...['Makefile', 'makefile', 'GNUmakefile'],
  ...['tsconfig.json', 'mypy.ini', '.mypy.ini'],
];

/** Paths of the files whose text `checksOfProject` needs; bounded. */
export const filesOfProject = (paths: readonly string[]): readonly string[] => {
  const present = new Set(paths);
  return [
    ...CHECK_FILES.filter((path) => present.has(path)),
    ...workflowFiles(paths),
    ...testSamples(paths),
    ...[manageFile(paths) ?? []].flat(),
    ...[goPathFiles(paths), paths.filter(isTestsOfC)].flat(),
    ...(present.has('package.json') ? packageSamples(paths) : []),
  ];
};

/** Maximum packages whose scripts are read: a workspace has tests if one of its first packages has. */
const MAX_SAMPLE_PACKAGES = 40;

/** Manifests that may be those of packages of a workspace, those nearest to the top first. */
const packageSamples = (paths: readonly string[]): readonly string[] =>
  paths
    .filter((path) => /^(?:[\w@.-]+\/){1,3}package\.json$/.test(path) && !SAMPLE_FOLDERS.test(path))
    .toSorted((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))
    .slice(0, MAX_SAMPLE_PACKAGES);

export interface DetectedChecks {
  readonly commands: CheckCommands;
  /** The file that each command was detected from. */
  readonly from: Readonly<Partial<Record<keyof CheckCommands, string>>>;
  /** Containers that the repository's CI runs next to the tests. */
  readonly services: CiJob['services'];
  /** The type check, and the file that defines it; null for none, or if it is a step of the test command. */
  readonly types: FoundCommand | null;
  /** Packages of npm that set-up may leave out if they cannot be installed. */
  readonly removable: readonly RemovablePackage[];
  /**
   * Complete alternatives, most likely first: from another ecosystem, with fewer
   * packages of Python, from CI workflow (also one of its jobs alone) and .travis.yml, with a part of the tests, with pip
   * instead of a Python lock file, from development container and Dockerfile, what a makefile or the like suggests.
   */
  readonly others: readonly Recipe[];
}

/**
 * Detects how a project is set up, built and tested from its list of files and some of their texts (`filesOfProject`).
 * The ecosystem with most test files wins of those with a test command, the first of package.json, Python, Go, Cargo,
 * Maven, Gradle, Ruby, PHP and .NET where several have as many; otherwise the CI workflow, a mise task, the usual
 * command of such repositories, a makefile, .travis.yml. Set-up and build come from the workflow if the files name none.
 */
export function checksOfProject(snapshot: RepositorySnapshot): DetectedChecks {
  const { read } = snapshot;
  const all = ecosystemsOf(snapshot);
  const found = mainFirst(all, snapshot.files);
  const job = ciJob(read);
  const [ci, alone, travis] = [ciChecks(job), ciChecks(job?.alone), ciChecks(travisJob(read))];
  const sure = found.find(isSure);
  const guess = sure ?? found.find(({ test }) => test) ?? found[0];
  const task = taskTest(read);
  const ofCi = job === null || hidesPackages(job, guess) ? null : ci?.test;
  const test = sure ? testOf(sure) : (ofCi ?? task ?? testOf(guess) ?? travis?.test ?? null);
  const used = [ci, travis].find((one) => test !== null && one?.test === test) ?? null;
  const build = (guess && commandsOf(guess).build) ?? used?.build ?? null;
  const setup = test || build ? setupOf(used, guess, ci ?? travis, containerSetup(read)) : null;
  const own = { setup, build, test };
  const bare = testsWithoutCoverage(read);
  const otherTest = test === null ? [] : otherTests(read, test);
  const others = [
    ...(bare && test?.file === bare.file ? [{ ...own, test: bare }] : []),
    ...leanerSetups(snapshot, setup).map((one) => ({ ...own, setup: one })),
    ...[ci, alone, travis].flatMap((one) => (one ? [{ ...one, build: one.build ?? build }] : [])),
    ...otherTest.map((one) => ({ ...own, test: one })),
    { ...own, setup: setup && startsPythonTool(setup.command) ? setupWithoutLock(snapshot) : null },
    ...[containerSetup(read), dockerSetup(read)].map((one) => ({ ...own, setup: one })),
  ];
  const first = all.filter((one) => one === all.find(isSure) && one !== sure).map(commandsOf);
  const last = sure || !guess?.test ? [] : [commandsOf(guess)];
  const recipe = (one: FoundCommands) => withPreparation(recipeOf(one, snapshot), job, snapshot);
  const detected = recipe(own);
  return {
    ...detected,
    services: job?.services ?? [],
    types: detectTypeCheck(snapshot, detected.commands),
    removable: removablePackages(snapshot),
    others: [...first, ...others.filter((one) => one.setup !== null), ...last]
      .map(recipe)
      .filter(({ commands }) => JSON.stringify(commands) !== JSON.stringify(detected.commands)),
  };
}

/** Tests of all packages of a workspace say more than some scripts of CI, or those of one package. */
const hidesPackages = (job: CiJob, guess: Ecosystem | undefined): boolean =>
  guess?.ofPackages === true && (testsOnlyParts(job) || testsOnePackage(job));

type FoundCommands = Readonly<Record<keyof CheckCommands, FoundCommand | null>>;

function recipeOf({ setup, build, test }: FoundCommands, repository: RepositorySnapshot): Recipe {
  const parts = { ...withPython({ setup, test }, repository), build };
  const found = Object.entries(parts).filter((part): part is [string, FoundCommand] => Boolean(part[1]));
  return {
    commands: Object.fromEntries(found.map(([name, { command }]) => [name, command])),
    from: Object.fromEntries(found.map(([name, { file }]) => [name, file])),
  };
}

interface SetupAndTest {
  readonly setup: FoundCommand | null;
  readonly test: FoundCommand | null;
}

/** With the virtual environment, the environments of tox and nox, and Python programs that both start. */
function withPython({ setup, test }: SetupAndTest, repository: RepositorySnapshot): SetupAndTest {
  if (test === null) return { setup, test };
  const runner = (['tox', 'nox'] as const).find((name) => startsProgram(test.command, name));
  const install = withPytest(runner === undefined ? setup : withRunner(setup, runner, test.file), test);
  const { isPackage, uv } = pythonProject(repository.files, repository.read);
  const command = inVenv(test.command, venvFolders(install?.command ?? '', uv.hasWorkspace));
  const prepared = preparedEnvironments(command, repository.read, { python: VENV, isPackage });
  const needed = [install?.command ?? [], prepared?.setup ?? []].flat().join(' && ');
  const tested = prepared?.test ?? command;
  const whole = withPythonTools(needed, tested, {
    uv: /^\d/.test(uv.version) ? `==${uv.version}` : uv.version,
  });
  return {
    setup: whole === '' ? setup : { file: install?.file ?? test.file, command: whole },
    test: { ...test, command: tested },
  };
}

/** tox and nox are installed if they run the tests. */
function withRunner(setup: FoundCommand | null, runner: 'tox' | 'nox', file: string): FoundCommand {
  if (setup?.command.includes('.venv') && startsInstallOf(setup.command, runner)) return setup;
  const venv = setup?.command.includes(MAKE_VENV) ? [] : [MAKE_VENV];
  const own = setup === null ? [] : [setup.command];
  const command = [...venv, ...own, `${VENV} -m pip install ${runner}`].join(' && ');
  return { file: setup?.file ?? file, command };
}

/** A workflow may start pytest in an environment whose set-up, from other files, does not bring it. */
function withPytest(setup: FoundCommand | null, test: FoundCommand): FoundCommand | null {
  if (!setup?.command.includes(MAKE_VENV) || setup.file === test.file) return setup;
  if (/\bpytest\b/.test(setup.command)) return setup;
  if (!startsProgram(inVenv(test.command), 'pytest')) return setup;
  return { ...setup, command: `${setup.command}${PYTEST_TOO}` };
}

const startsInstallOf = (command: string, runner: string): boolean =>
  RegExp(`\\bpip install [^&|;]*\\b${runner}\\b`).test(command);

/**
 * With pip, where the program that wrote the lock file (uv, poetry and others) cannot be installed, or fails: newer
 * versions of the same packages. Null without such a file.
 */
function setupWithoutLock({ files, read }: RepositorySnapshot): FoundCommand | null {
  const left = new Set([...files].filter((path) => !PYTHON_LOCKS.has(path)));
  if (left.size === files.size) return null;
  const found = ecosystemsOf({ files: left, read }).find(({ setup }) => setup?.startsWith(MAKE_VENV));
  return found?.setup === undefined ? null : { file: found.file, command: found.setup };
}

/** With fewer packages, where some cannot be had: without those for development, then without those of tox. */
function leanerSetups(snapshot: RepositorySnapshot, setup: FoundCommand | null): readonly FoundCommand[] {
  if (setup === null || python(snapshot)?.setup !== setup.command) return [];
  const leaner = [{ development: true }, { development: true, tox: true }].map(
    (lean) => python(snapshot, lean)?.setup,
  );
  return [...new Set(leaner)].flatMap((command) => (command === undefined ? [] : [{ ...setup, command }]));
}

const commandsOf = ({ file, ...commands }: Ecosystem): FoundCommands => {
  const of = (command: string | undefined) => (command === undefined ? null : { command, file });
  return { setup: of(commands.setup), build: of(commands.build), test: of(commands.test) };
};

const testOf = (found: Ecosystem | undefined): FoundCommand | null =>
  found?.test === undefined ? null : { command: found.test, file: found.file };

/** Dependencies of the tests of CI (`used`) are installed as in CI. */
function setupOf(
  used: CiChecks | null,
  found: Ecosystem | undefined,
  ci: CiChecks | null,
  container: FoundCommand | null,
): FoundCommand | null {
  const own = found?.setup === undefined ? null : { command: found.setup, file: found.file };
  if (used?.setup) return used.setup;
  return own ?? (found?.complete ? null : (ci?.setup ?? container));
}

interface CiChecks {
  readonly setup: FoundCommand | null;
  readonly build: FoundCommand | null;
  readonly test: FoundCommand | null;
}

/**
 * Converts the commands of a CI job to one per step; its Python packages go into a virtual environment. Null for a job
 * without tests.
 */
function ciChecks(job: CiJob | null = null): CiChecks | null {
  const { file, commands } = job ?? { file: '', commands: [] };
  if (commands.length === 0) return null;
  const of = (...parts: readonly CiCommand['part'][]) => [
    ...new Set(commands.flatMap((one) => (parts.includes(one.part) ? [one.command] : []))),
  ];
  const joined = (parts: readonly string[]): FoundCommand | null =>
    parts.length === 0 ? null : { file, command: parts.map(whole).join(' && ') };
  const installs = of('setup').filter((one) => !FILES_ONLY.test(one));
  const pip = installs.some((one) => /\bpip[\d.]*\s+install\b/.test(one));
  const setup = pip
    ? [
        MAKE_VENV,
        ...of('setup')
          .filter((one) => !/venv\b/.test(one) && !INSTALLS_TOOL.test(one))
          .map((one) => inVenv(one).replace(/ --system\b/g, '')),
      ]
    : of('setup');
  const tests = of('database', 'test');
  const plain = tests.filter((one) => !/\b(?:coverage|cov)\b/.test(one));
  return {
    setup: installs.length === 0 ? null : joined(setup),
    build: joined(of('build')),
    test: joined(plain.some((one) => of('test').includes(one)) ? plain : tests),
  };
}

/** Set-up provides these itself, separately from what they install. */
const INSTALLS_TOOL = /\bpip[\d.]*\s+install\s+(?:-\S+\s+)*(?:uv|poetry|pdm|hatch|pipenv)$/;

/** Only copies or creates files: not an installation. */
const FILES_ONLY = /^(?:cp|mkdir|touch|ln)\s/;

/** A command as a part of a chain by `&&`. */
const whole = (command: string): string =>
  chainParts(command) === null && !/^\(cd .*\)$/.test(command)
    ? `{ ${command.replace(/;\s*$/, '')}${/&\s*$/.test(command) ? '' : ';'} }`
    : command;
