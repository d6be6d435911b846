import { hangs, succeeded, type TestRun, type UnreadTests } from '../../core/evidence/index.ts';
import { type CommandForm, inForm, type ReportPlan, type TestCommand } from '../../core/settings/index.ts';
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
  const stuck = stuckSteps(plan, planned, forms);
  for (const command of stuck) {
    forms.set(command, 'left-out');
    notes.set(command, leftOutNote(command));
  }
  const left = [...notes.values()];
  if (forms.size === 0) return { attempt: { run: again.run ?? planned, on: runner }, notes: left };
  const on = { ...runner, plan: inForms(plan, (command) => forms.get(command)) };
  const isAll = last.on.plan.commands.length === plan.commands.length && forms.size === plan.commands.length;
  const run = isAll ? last.run : await runOnce(on);
  return { attempt: { run: { ...run, forms: Object.fromEntries(forms) }, on }, notes: left };
}

/**
 * Commands of tests that exceed a limit, such as tests that install packages without a network, if tests of
 * others pass: they would keep all of these from counting. Those of a package are left out with it.
 */
function stuckSteps(
  { commands }: ReportPlan,
  { unread = [] }: TestRun,
  forms: ReadonlyMap<string, CommandForm>,
): readonly string[] {
  const tests = commands.filter(({ check }) => check === undefined);
  const of = (text: string) => tests.find(({ command }) => command === text);
  const stuck = unread.filter(
    (one) => hangs(one) && !forms.has(one.command) && of(one.command)?.package === undefined,
  );
  const silent = new Set(unread.map(({ command }) => command));
  return tests.some(({ command }) => !silent.has(command)) ? stuck.map(({ command }) => command) : [];
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
  let last: BaseAttempt = { run: planned, on: runner };
  const stuck = stuckSteps(plan, planned, forms);
  for (const form of FORMS) {
    const tried = (planned.unread ?? []).flatMap((before) => {
      const command = plan.commands.find((one) => one.command === before.command);
      const other = command && inForm(command, form);
      const isLeft = command && !forms.has(command.command) && isPossible(form, before, stuck);
      return isLeft && other && !isSame(command, other) ? [{ before, other }] : [];
    });
    if (tried.length === 0) continue;
    const on = { ...runner, plan: { ...plan, commands: tried.map(({ other }) => other) } };
    const run = await runOnce(on);
    last = { run, on };
    for (const { before, other } of tried) {
      const still = run.unread?.find(({ command }) => command === other.command);
      if (still === undefined || (form === 'plain' && isKept(before, still))) forms.set(before.command, form);
      if (still === undefined || succeeded(still)) worked.add(before.command);
      const note = formNote(form, before, still);
      if (note !== null) notes.set(before.command, note);
    }
  }
  return { forms, notes, worked, last };
}

/**
 * Of the commands that worked in another form, those that work as planned when they run again: their first run was
 * disturbed, by a lack of memory for example, and their reports are worth more than exit codes. One that exceeded a
 * limit is not run again. `run`: the whole suite as planned, if one of its commands was disturbed.
 */
async function disturbedIn(
  runner: CheckRunner,
  { planned, worked }: { readonly planned: TestRun; readonly worked: ReadonlySet<string> },
  runOnce: (runner: CheckRunner) => Promise<TestRun>,
): Promise<{ readonly disturbed: readonly string[]; readonly run?: TestRun }> {
  const { plan } = runner;
  const ended = (planned.unread ?? []).flatMap(({ command, stopped }) => (stopped === null ? [command] : []));
  const commands = plan.commands.filter(({ command }) => worked.has(command) && ended.includes(command));
  if (commands.length === 0) return { disturbed: [] };
  const run = await runOnce({ ...runner, plan: { ...plan, commands } });
  const disturbed = commands
    .map(({ command }) => command)
    .filter((command) => !run.unread?.some((still) => still.command === command));
  if (disturbed.length === 0) return { disturbed };
  return { disturbed, run: commands.length === plan.commands.length ? run : await runOnce(runner) };
}

/** What a person should know about a command that runs in another form from now on; null for nothing. */
function formNote(form: CommandForm, before: UnreadTests, still: UnreadTests | undefined): string | null {
  if (form === 'exit') return still === undefined ? exitNote(before.command) : null;
  return form === 'plain' && still && succeeded(still) ? plainNote(before, still.command) : null;
}

/** Tests that pass are read again only so that the command ends. What can be left out is not waited for again. */
function isPossible(form: CommandForm, before: UnreadTests, stuck: readonly string[]): boolean {
  if (form === 'exit' || before.hangs) return form === 'exit' && before.hangs === true;
  return form === 'plain' ? !succeeded(before) && !stuck.includes(before.command) : before.stopped === null;
}

/** Whether the repository's own command is kept although it leaves no report. */
const isKept = (before: UnreadTests, still: UnreadTests): boolean =>
  succeeded(still) || (!before.hasReport && still.stopped === null);

/** Maximum characters of a command in a note. */
const MAX_COMMAND = 80;

const shownCommand = (command: string): string =>
  command.replace(/^(?:export PATH="[^"]*"; )+/, '').slice(0, MAX_COMMAND);

const leftOutNote = (command: string): string =>
  `\`${shownCommand(command)}\` exceeds a limit on the base commit, so its tests were left out.`;

const exitNote = (command: string): string =>
  `After its last test, \`${shownCommand(command)}\` does not end, because something that a test started still runs, such as a server. Runoff adds the option of the runner that ends it then.`;

function plainNote({ exitCode, hasReport }: UnreadTests, command: string): string {
  const shown = shownCommand(command);
  const code = exitCode === null ? 'without an exit code' : `with exit code ${exitCode}`;
  const how = hasReport ? 'no test passes' : 'writes no report';
  return `With the options that Runoff adds for a test report, \`${shown}\` ends ${code} and ${how}; without them it succeeds. It runs without these options, so only its exit code counts.`;
}

/**
 * The plan with some commands in another form. Which files they can be limited to is known of the planned form, and of
 * the one that only exits.
 */
export function inForms(plan: ReportPlan, formOf: (command: string) => CommandForm | undefined): ReportPlan {
  const forms = plan.commands.map(({ command }) => formOf(command));
  const onlyExits = forms.every((form) => form === undefined || form === 'exit');
  const placed = (command: TestCommand, form: CommandForm | undefined) =>
    (form && inForm(command, form)) ?? command;
  return {
    ...plan,
    commands: plan.commands.flatMap((command, index) =>
      forms[index] === 'left-out' ? [] : [placed(command, forms[index])],
    ),
    focus: (files) => (onlyExits ? (plan.focus(files)?.map((one) => placed(one, 'exit')) ?? null) : null),
  };
}

const isSame = (one: TestCommand, other: TestCommand): boolean =>
  JSON.stringify(whatRuns(one)) === JSON.stringify(whatRuns(other));

const whatRuns = ({ command, args, env }: TestCommand) => [command, args, env];
