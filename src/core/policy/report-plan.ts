import { type FocusForm, focusForm, type RunnerForm, runnerForm } from './runner-forms.ts';
import { type TestCommandLine, testCommandLine } from './test-command.ts';
import { type Recognised, recognise } from './test-runners.ts';

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
 * and counts as no report (src/adapters/reports/tap.ts).
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
