import {
  optionsOf,
  type Recognised,
  type RunnerName,
  recognise,
  type TestCommandLine,
  testCommandLine,
} from './test-runners.ts';

export type ReportFormat =
  | 'junit'
  | 'jest-json'
  | 'mocha-json'
  | 'tap'
  | 'go-json'
  | 'cargo-text'
  | 'unittest-text';

/**
 * Where a runner's report is found when the command has ended. A file is preferred wherever a runner can write one: what
 * the code under test prints does not end up in it. Neither is proof: the code under test runs in the runner's own
 * process, so it can write to the file as well as to a stream, if it is made to. What that achieves is bounded: a report
 * says nothing about other candidates' code, and a stream into which lines were slipped contradicts the runner's own plan
 * and counts as no report (src/core/test-reports/tap.ts).
 */
export type ReportSource =
  | {
      readonly source: 'file';
      readonly file: string;
      readonly format: ReportFormat;
      /** Older versions of the runner know no file and write the same to standard output. */
      readonly orStdout?: true;
    }
  | { readonly source: 'stdout' | 'stderr'; readonly format: ReportFormat };

/** One way to run tests. */
export interface TestCommand {
  /** For `sh -c`, with `args` as its positional parameters. */
  readonly command: string;
  /** File names come from patches: they are handed over apart from the command, never as words of it (I6). */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Null: this runner is not known, so its exit code is all there is. */
  readonly report: ReportSource | null;
  /** Put before every test's id, for runners that do not say the file; may be empty. */
  readonly prefix: string;
}

/** How to run the tests so that they leave a structured report. */
export interface ReportPlan extends TestCommand {
  /**
   * Commands that run the tests of these files, by path from the top of the repository, and no others where that can be
   * had: what else they run shows by its ids. Files that hold no tests of this runner are passed over. Null where it is
   * not known how, or none is left: then the whole command has to be run.
   */
  focus(files: readonly string[]): readonly TestCommand[] | null;
}

/**
 * Plans the report of a test command. `packageJson` is the text of the base commit's file: it says what `npm test`
 * runs. `folder` is where a report goes, as the sandbox sees it; the command must be able to write there.
 *
 * A command of which nothing is known may still print TAP, so its output is read as that; what is none is unreadable,
 * and the exit code stands alone.
 */
export function reportPlan(testCommand: string, packageJson?: string, folder = '/out'): ReportPlan {
  const line = testCommandLine(testCommand, packageJson);
  const found = recognise(line.last ?? line.inner);
  const form = found && runnerForm(found, line, folder);
  if (!found || !form) return { ...plainCommand(testCommand), report: TAP, focus: () => null };
  const plan = planOf(testCommand, line, form);
  const focused = plan.report && focusForm(found, folder);
  return { ...plan, focus: (files) => (focused ? focusOn(line, { found, plan, focused }, files) : null) };
}

/** The command as it was given, by its exit code alone. */
export const plainCommand = (command: string): TestCommand => ({
  command,
  args: [],
  env: {},
  report: null,
  prefix: '',
});

const TAP: ReportSource = { source: 'stdout', format: 'tap' };

/** Arguments go behind the command where they reach the runner; a command that is no script is written anew. */
function planOf(testCommand: string, line: TestCommandLine, form: RunnerForm): TestCommand {
  const plain = { ...plainCommand(testCommand), env: form.env, report: form.report };
  if (form.rewritten !== undefined) {
    return line.direct && line.before !== null
      ? { ...plain, command: `${line.before}${form.rewritten}` }
      : { ...plain, report: null };
  }
  if (form.append === '') return plain;
  return line.last === null || line.joint === null
    ? { ...plain, report: TAP }
    : { ...plain, command: `${testCommand}${line.joint}${form.append}` };
}

interface Focusing {
  readonly found: Recognised;
  readonly plan: TestCommand;
  readonly focused: FocusForm;
}

/** Files that are run one by one, at most; more are left to the whole command. */
const MOST_APART = 8;

function focusOn(
  line: TestCommandLine,
  { plan, focused }: Focusing,
  files: readonly string[],
): readonly TestCommand[] | null {
  if (line.before === null) return null;
  const named = files.filter((file) => focused.takes.test(file));
  if (named.length === 0 || !named.every(isPlainPath)) return null;
  // What a script starts is found where its package manager would look for it.
  const path = line.direct ? '' : 'export PATH="$PWD/node_modules/.bin:$PATH"; ';
  const command = `${path}${line.before}${focused.command}`;
  const report = focused.report ?? plan.report;
  if (!focused.apart) {
    return [{ ...plan, command, report, args: focused.argsOf ? focused.argsOf(named) : named }];
  }
  if (named.length > MOST_APART) return null;
  return named.map((file) => {
    const prefix = report?.source === 'file' ? '' : file;
    return { ...plan, command, report, args: [file], prefix };
  });
}

/** A path that no runner takes for an option or a pattern. */
const isPlainPath = (path: string): boolean => /^[^-\p{Cc}*?[\]{}()!|\\][^\p{Cc}*?[\]{}()!|\\]*$/u.test(path);

/** How a runner is told to leave a report. */
interface RunnerForm {
  readonly env: Readonly<Record<string, string>>;
  /** Arguments for the end of the command; may be empty. */
  readonly append: string;
  /** Stands in for the last command where an argument has to stand in its middle. */
  readonly rewritten?: string;
  readonly report: ReportSource | null;
}

/** How a runner is told to run some files only. */
interface FocusForm {
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
function runnerForm(found: Recognised, line: TestCommandLine, folder: string): RunnerForm | null {
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
function focusForm(found: Recognised, folder: string): FocusForm | null {
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
