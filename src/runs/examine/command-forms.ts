import {
  HOW_STOPPED,
  hangs,
  isUnread,
  succeeded,
  type TestedCommand,
  type TestRun,
} from '../../core/evidence/index.ts';
import { quotedCode } from '../../core/reports/index.ts';
import {
  alone,
  type CommandForm,
  inForm,
  type ReportPlan,
  type TestCommand,
} from '../../core/settings/index.ts';
import type { CheckRunner } from './areas.ts';

/** The first run of the suite on the base and the runner that made it, which later runs and candidates use as well. */
export interface BaseAttempt {
  readonly run: TestRun;
  readonly on: CheckRunner;
}

const FORMS = ['exit', 'environment', 'plain'] as const;

/** What the other forms of commands gave. */
interface TriedForms {
  /** By planned command. */
  readonly forms: Map<string, CommandForm>;
  readonly notes: Map<string, string>;
  /** Planned commands that work in another form. */
  readonly worked: Set<string>;
  readonly last: BaseAttempt;
}

/**
 * Commands without a test that passes, in their other forms: the options for a report may break them. The last form is
 * kept in any case where there is no report: what the repository's own command prints explains more. Not if it exceeds
 * a limit as well, since another run would take as long.
 */
export async function inOtherForms(
  runner: CheckRunner,
  planned: TestRun,
  runOnce: (runner: CheckRunner) => Promise<TestRun>,
): Promise<{ readonly attempt: BaseAttempt; readonly notes: readonly string[] }> {
  const { plan } = runner;
  const { forms, notes, worked, last } = await tryForms(runner, planned, runOnce);
  const again = await disturbedIn(runner, { planned, worked }, runOnce);
  for (const command of again.disturbed) {
    forms.delete(command);
    notes.delete(command);
  }
  const left = [...notes.values()];
  if (forms.size === 0) {
    const run = again.disturbed.length === 0 ? planned : (again.run ?? (await runOnce(runner)));
    return { attempt: { run, on: runner }, notes: left };
  }
  const on = { ...runner, plan: inForms(plan, (command) => forms.get(command)) };
  const isAll = last.on.plan.commands.length === plan.commands.length && forms.size === plan.commands.length;
  const run = isAll ? last.run : await runOnce(on);
  return { attempt: { run: { ...run, forms: Object.fromEntries(forms) }, on }, notes: left };
}

async function tryForms(
  runner: CheckRunner,
  planned: TestRun,
  runOnce: (runner: CheckRunner) => Promise<TestRun>,
): Promise<TriedForms> {
  const { plan } = runner;
  const forms = new Map<string, CommandForm>();
  const notes = new Map<string, string>();
  const worked = new Set<string>();
  const results = new Map((planned.commands ?? []).map((one) => [one.command, one]));
  let last: BaseAttempt = { run: planned, on: runner };
  for (const form of FORMS) {
    if (form === 'plain') leaveOut(plan, results, { forms, notes });
    const tried = plan.commands.flatMap((command) => trialOf(form, command, { results, forms }));
    if (tried.length === 0) continue;
    const on = { ...runner, plan: { ...plan, commands: tried.map(({ other }) => other) } };
    const run = await runOnce(on);
    last = { run, on };
    for (const one of tried) adopt(form, one, run, { forms, notes, worked, results });
  }
  return { forms, notes, worked, last };
}

interface FormTrial {
  readonly command: TestCommand;
  readonly before: TestedCommand;
  readonly other: TestCommand;
}

type Adopted = Omit<TriedForms, 'last'> & {
  /** By planned command, in the form that is chosen so far. */
  readonly results: Map<string, TestedCommand>;
};

/** A command in another form in which it may work. */
function trialOf(
  form: CommandForm,
  command: TestCommand,
  { results, forms }: Pick<Adopted, 'results' | 'forms'>,
): readonly FormTrial[] {
  const before = results.get(command.command);
  const other = inForm(command, form);
  const isLeft = before && !forms.has(command.command) && isPossible(form, command, before);
  return isLeft && other && !isSame(command, other) ? [{ command, before, other: alone(other) }] : [];
}

/** Chooses a form in which a command works. */
function adopt(
  form: CommandForm,
  { command, before, other }: FormTrial,
  run: TestRun,
  adopted: Adopted,
): void {
  const { forms, notes, worked, results } = adopted;
  const now = run.commands?.find((one) => one.command === other.command);
  const isRead = now === undefined || !(isUnread(now) || hangs(now));
  if (isRead || (form === 'plain' && isKept(before, now))) {
    forms.set(command.command, form);
    const passes = Object.values(run.tests).includes('passed');
    results.set(command.command, now ?? { ...before, ...ENDED, passes });
  }
  if (isRead || succeeded(now)) worked.add(command.command);
  const note = formNote(form, command, { before, now: isRead ? undefined : now });
  if (note !== null) notes.set(command.command, note);
}

/** What is known of a command if all of a run ended, with reports. */
const ENDED = { exitCode: 0, stopped: null, hasReport: true } as const;

/**
 * Leaves out commands of tests that exceed a limit, such as tests that install packages without a network, if tests of
 * others pass: they would keep all of these from counting. Those of a package are left out with it.
 */
function leaveOut(
  { commands }: ReportPlan,
  results: ReadonlyMap<string, TestedCommand>,
  { forms, notes }: Pick<TriedForms, 'forms' | 'notes'>,
): void {
  const tested = commands.flatMap((command) => {
    const result = results.get(command.command);
    return result ? [{ command, result }] : [];
  });
  if (!tested.some(({ result }) => result.passes && result.stopped === null)) return;
  for (const { command, result } of tested) {
    if (result.stopped === null || command.package !== undefined) continue;
    forms.set(command.command, 'left-out');
    notes.set(
      command.command,
      `${quotedCode(shownCommand(command))} is ${HOW_STOPPED[result.stopped]} on the base commit, so its tests were left out.`,
    );
  }
}

/**
 * Of the commands that worked in another form, those that work as planned when they run again: their first run was
 * disturbed, by a lack of memory for example, and their reports are worth more than exit codes. One that exceeded a
 * limit is not run again. `run`: if these are the whole suite.
 */
async function disturbedIn(
  runner: CheckRunner,
  { planned, worked }: { readonly planned: TestRun; readonly worked: ReadonlySet<string> },
  runOnce: (runner: CheckRunner) => Promise<TestRun>,
): Promise<{ readonly disturbed: readonly string[]; readonly run?: TestRun }> {
  const { plan } = runner;
  const ended = (planned.commands ?? []).flatMap(({ command, stopped }) =>
    stopped === null ? [command] : [],
  );
  const commands = plan.commands.filter(({ command }) => worked.has(command) && ended.includes(command));
  if (commands.length === 0) return { disturbed: [] };
  const again = commands.map(alone);
  const run = await runOnce({ ...runner, plan: { ...plan, commands: again } });
  const disturbed = commands.flatMap(({ command }, index) => {
    const now = run.commands?.find((one) => one.command === again[index]?.command);
    return now === undefined || !isUnread(now) ? [command] : [];
  });
  return { disturbed, ...(commands.length === plan.commands.length ? { run } : {}) };
}

/** Tests that pass are read again only so that the command ends. */
function isPossible(form: CommandForm, { reportsLast }: TestCommand, before: TestedCommand): boolean {
  if (form === 'exit') return hangs(before) && (before.passes || reportsLast === true);
  if (!isUnread(before)) return false;
  return form === 'plain' ? !succeeded(before) : before.stopped === null;
}

/** Whether the repository's own command is kept although it leaves no report. */
const isKept = (before: TestedCommand, now: TestedCommand): boolean =>
  succeeded(now) || (!before.hasReport && now.stopped === null);

/**
 * What a person should know about a command that runs in another form from now on; null for nothing. `now` undefined: its
 * report is read.
 */
function formNote(
  form: CommandForm,
  command: TestCommand,
  { before, now }: { readonly before: TestedCommand; readonly now: TestedCommand | undefined },
): string | null {
  const shown = quotedCode(shownCommand(command));
  if (form === 'exit' && now === undefined)
    return command.reportsLast
      ? `${shown} ${HANGS} Runoff ends files of tests that do nothing for half a minute; they count as failed.`
      : `After its last test, ${shown} ${HANGS} Runoff adds the option of the runner that ends it then.`;
  if (form !== 'plain' || now === undefined || !succeeded(now)) return null;
  const { exitCode, stopped, hasReport } = before;
  const end =
    stopped !== null
      ? `is ${HOW_STOPPED[stopped]}`
      : `ends ${exitCode === null ? 'without an exit code' : `with exit code ${exitCode}`}`;
  const how = hasReport ? 'no test passes' : 'writes no report';
  return `With the options that Runoff adds for a test report, ${shown} ${end} and ${how}; without them it succeeds. It runs without these options, so only its exit code counts.`;
}

const HANGS = 'does not end, because something that a test started still runs, such as a server.';

/** Maximum characters of a command in a note. */
const MAX_COMMAND = 80;

/** As the repository has it, without the steps that it needs. */
function shownCommand(command: TestCommand): string {
  const { command: text, begins } = inForm(command, 'plain') ?? command;
  return text
    .slice(begins?.[0].length ?? 0)
    .replace(/^(?:export PATH="[^"]*"; )+/, '')
    .slice(0, MAX_COMMAND);
}

/**
 * The plan with some commands in another form. Which files a command can be limited to is known of its planned form, and
 * of the one that only exits.
 */
export function inForms(plan: ReportPlan, formOf: (command: string) => CommandForm | undefined): ReportPlan {
  const placed = (command: TestCommand, form: CommandForm | undefined) =>
    (form && inForm(command, form)) ?? command;
  let isAlone = false;
  const commands = plan.commands.flatMap((command) => {
    const form = formOf(command.command);
    if (form === 'left-out') {
      isAlone = true;
      return [];
    }
    const one = placed(command, form);
    if (!isAlone || command.check !== undefined) return [one];
    isAlone = false;
    return [alone(one)];
  });
  const focusForm = plan.focused === undefined ? undefined : formOf(plan.focused);
  const focus: ReportPlan['focus'] = (files) => {
    if (focusForm === undefined) return plan.focus(files);
    return focusForm === 'exit' ? (plan.focus(files)?.map((one) => placed(one, 'exit')) ?? null) : null;
  };
  return { ...plan, commands, focus };
}

const isSame = (one: TestCommand, other: TestCommand): boolean =>
  JSON.stringify(whatRuns(one)) === JSON.stringify(whatRuns(other));

const whatRuns = ({ command, args, env }: TestCommand) => [command, args, env];
