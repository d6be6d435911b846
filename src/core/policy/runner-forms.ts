import type { ReportSource } from './report-plan.ts';
import type { TestCommandLine } from './test-command.ts';
import { optionsOf, type Recognised, type RunnerName } from './test-runners.ts';

/** How a runner is told to leave a report. */
export interface RunnerForm {
  readonly env: Readonly<Record<string, string>>;
  /** Arguments for the end of the command; may be empty. */
  readonly append: string;
  /** Stands in for the last command where an argument has to stand in its middle. */
  readonly rewritten?: string;
  readonly report: ReportSource | null;
}

/** How a runner is told to run some files only. */
export interface FocusForm {
  /** In place of the last command; the files are `"$@"`. */
  readonly command: string;
  /** Files that can hold its tests. */
  readonly takes: RegExp;
  /** One file at a time: they share a process, where one that cannot be loaded takes the others with it. */
  readonly apart: boolean;
  /** What is named in place of the files. */
  readonly argsOf?: (files: readonly string[]) => readonly string[];
  readonly report?: ReportSource;
}

/** Null where the runner leaves no report that way. */
export function runnerForm(found: Recognised, line: TestCommandLine, folder: string): RunnerForm | null {
  const { runner, words } = found;
  const own = REPORTS[runner](folder);
  const plain = { env: {}, append: '', report: own };
  switch (runner) {
    case 'node-test':
      // The project has reporters of its own.
      return words.some((word) => word.startsWith('--test-reporter'))
        ? null
        : { ...plain, env: nodeOptions(`${folder}/report.xml`) };
    case 'pytest':
      return { ...plain, env: { PYTEST_ADDOPTS: pytestOptions(`${folder}/report.xml`) } };
    case 'tape':
    case 'script':
      return plain;
    case 'go':
    case 'cargo':
      return { ...plain, rewritten: withOptions(found) };
    case 'ava':
    case 'tap':
    case 'unittest':
      return { ...plain, append: words.includes(ADDED[runner]) ? '' : ADDED[runner] };
    default:
      return line.last === null ? null : { ...plain, append: appended(runner, folder) };
  }
}

const REPORTS: Readonly<Record<RunnerName, (folder: string) => ReportSource>> = {
  vitest: xml,
  pytest: xml,
  'node-test': xml,
  deno: xml,
  bun: xml,
  jest: (folder) => ({ source: 'file', file: `${folder}/report.json`, format: 'jest-json' }),
  // mocha knows the option `output` since 9.2.
  mocha: (folder) => ({
    source: 'file',
    file: `${folder}/report.json`,
    format: 'mocha-json',
    orStdout: true,
  }),
  ava: tap,
  tape: tap,
  tap,
  script: tap,
  go: () => ({ source: 'stdout', format: 'go-json' }),
  cargo: () => ({ source: 'stdout', format: 'cargo-text' }),
  unittest: () => ({ source: 'stderr', format: 'unittest-text' }),
};

function xml(folder: string): ReportSource {
  return { source: 'file', file: `${folder}/report.xml`, format: 'junit' };
}

function tap(): ReportSource {
  return { source: 'stdout', format: 'tap' };
}

const ADDED = { ava: '--tap', tap: '--reporter=tap', unittest: '-v' } as const;

function appended(runner: 'vitest' | 'jest' | 'mocha' | 'deno' | 'bun', folder: string): string {
  switch (runner) {
    case 'vitest':
      return `--reporter=default --reporter=junit --outputFile.junit=${folder}/report.xml`;
    case 'jest':
      return `--ci --json --outputFile=${folder}/report.json`;
    case 'mocha':
      // The last reporter counts. `-O` is understood by every version, the long name is not.
      return `--reporter json -O output=${folder}/report.json`;
    case 'deno':
      return `--junit-path=${folder}/report.xml`;
    case 'bun':
      return `--reporter=junit --reporter-outfile=${folder}/report.xml`;
  }
}

/** Both Node 20 and later accept these through NODE_OPTIONS, so they also reach a runner behind `npm test`. */
const nodeOptions = (file: string): Record<string, string> => ({
  NODE_OPTIONS: [
    `--test-reporter=junit --test-reporter-destination=${file}`,
    '--test-reporter=tap --test-reporter-destination=stdout',
  ].join(' '),
});

/** xunit1 is the flavour that names each test's file. */
const pytestOptions = (file: string): string => `--junitxml=${file} -o junit_family=xunit1`;

/** `go test` and `cargo test` take their options right behind the verb. */
function withOptions({ runner, words, at }: Recognised): string {
  const [before, after] = [words.slice(0, at + 1), words.slice(at + 1)];
  if (runner === 'go') return [...before, ...(after.includes('-json') ? [] : ['-json']), ...after].join(' ');
  // Without it the first target that fails is the last one. The names of the targets stand on standard error.
  const all = after.includes('--no-fail-fast') ? [] : ['--no-fail-fast'];
  return `${[...before, ...all, ...after].join(' ')} 2>&1`;
}

const SCRIPTS = /\.[cm]?[jt]sx?$/;

/** Null for a runner that cannot be told, or of which we do not know how. */
export function focusForm(found: Recognised, folder: string): FocusForm | null {
  const { runner, words, at } = found;
  const start = [...words.slice(0, at + 1), ...optionsOf(found)].join(' ');
  const form = { takes: SCRIPTS, apart: false };
  switch (runner) {
    case 'vitest':
    case 'deno':
    case 'bun':
      return { ...form, command: `${start} ${appended(runner, folder)} "$@"` };
    case 'jest':
      return { ...form, command: `${start} ${appended(runner, folder)} --runTestsByPath "$@"` };
    case 'mocha':
      return { ...form, apart: true, command: `${start} ${appended(runner, folder)} "$@"` };
    case 'ava':
    case 'tap':
      return { ...form, apart: runner === 'ava', command: `${start} ${ADDED[runner]} "$@"` };
    case 'tape':
    case 'script':
      return { ...form, apart: true, command: `${start} "$@"` };
    case 'node-test':
      return { ...form, command: `${start} "$@"` };
    case 'pytest':
      return { takes: /\.py$/, apart: false, command: `${start} "$@"` };
    case 'go':
      return { takes: /_test\.go$/, apart: false, command: `${start} -json "$@"`, argsOf: foldersOf };
    case 'cargo':
    case 'unittest':
      return null;
  }
}

const foldersOf = (files: readonly string[]): readonly string[] => [
  ...new Set(files.map((file) => `./${file.split('/').slice(0, -1).join('/')}`)),
];
