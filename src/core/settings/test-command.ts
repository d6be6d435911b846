import type { Recognised } from './command-kinds.ts';
import type { ReportSource } from './report-source.ts';
import { anyReports, anyRunnerOptions } from './reports-of-any-runner.ts';

/** A command that runs tests, or a non-test step. */
export interface TestCommand {
  /** For `sh -c`, with `args` as its positional parameters. */
  readonly command: string;
  /** File names come from patches: they are passed separately from the command, never as words of it (I6). */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Null: unknown runner, so only its exit code counts. */
  readonly report: ReportSource | null;
  /** Prefix of every test's id, for runners that do not report the file; may be empty. */
  readonly prefix: string;
  /** The same with all files in one process instead of one for each; absent if that is unknown. */
  readonly inOneProcess?: string;
  /** The same, and the runner exits although something that a test started still runs; absent: it has no option. */
  readonly exit?: string;
  /** Its report is written only when all files of tests have ended, so there is none while one of them hangs. */
  readonly reportsLast?: true;
  /** The steps that it needs, at its beginning: after the commands before it, and without them. Absent: none. */
  readonly begins?: readonly [after: string, alone: string];
  /** The command runs no tests, such as a linter: it counts as one test with this id, which passes with exit code 0. */
  readonly check?: string;
  /** The `check` is a linter. */
  readonly lints?: true;
  /** Folder of the tested workspace package; absent otherwise. */
  readonly package?: string;
  /** How tests are told to write a report, or that they are not; absent: by options of the command, if it has some. */
  readonly form?: CommandForm;
  /** The same tests in other forms, for a runner that this one breaks; absent for non-test steps. */
  readonly otherwise?: readonly TestCommand[];
}

/**
 * `exit`: the same, and the runner exits after its last test. `environment`: as for an unknown runner. `plain`: the
 * repository's own command, by its exit code. `left-out`: it does not run.
 */
export type CommandForm = 'exit' | 'environment' | 'plain' | 'left-out';

/** A command in another form; undefined: it has none of this kind. */
export function inForm(command: TestCommand, form: CommandForm): TestCommand | undefined {
  if (form !== 'exit') return command.otherwise?.find((one) => one.form === form);
  const { exit, inOneProcess: _, ...others } = command;
  return exit === undefined ? undefined : { ...others, command: exit, form };
}

/** How a runner is made to exit. */
export interface Exiting {
  /** The same command, and the runner exits although something that a test started still runs. */
  readonly exit?: (command: string) => string;
  /** As in `TestCommand`. */
  readonly reportsLast?: true;
}

/** A command, and the same in the form in which its runner exits, if there is one. */
export const exiting = (
  command: string,
  { exit, reportsLast }: Exiting,
): Pick<TestCommand, 'command' | 'exit' | 'reportsLast'> => ({
  command,
  ...(exit && { exit: exit(command) }),
  ...(reportsLast && { reportsLast }),
});

/** A command with all that it needs, where none of those before it in the plan runs. */
export function alone({ begins, ...command }: TestCommand): TestCommand {
  if (!begins) return command;
  const placed = (text: string) => `${begins[1]}${text.slice(begins[0].length)}`;
  const exit = command.exit === undefined ? {} : { exit: placed(command.exit) };
  return { ...command, command: placed(command.command), ...exit };
}

/** The unchanged command, by its exit code alone. */
export const plainCommand = (command: string): TestCommand => ({
  command,
  args: [],
  env: {},
  report: null,
  prefix: '',
});

/** The unchanged command, with whatever reports the programs that it starts write or print. */
export const unknownCommand = (command: string, folder: string): TestCommand => ({
  ...plainCommand(command),
  env: anyRunnerOptions(folder),
  report: anyReports(folder),
});

/** Runners that a program which they load tells to write a report (`optionsScript`). */
const TOLD_BY_ENVIRONMENT: ReadonlySet<string> = new Set(['jest', 'vitest', 'mocha', 'ava']);

/** A program between the command and its runner may refuse options, or understand them otherwise. */
export const otherForms = (
  command: string,
  found: Recognised | null,
  folder: string,
): readonly TestCommand[] => [
  ...(TOLD_BY_ENVIRONMENT.has(found?.runner ?? '')
    ? [{ ...unknownCommand(command, folder), form: 'environment' as const }]
    : []),
  { ...plainCommand(command), form: 'plain' },
];
