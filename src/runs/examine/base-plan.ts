import {
  canRun,
  namesOfBase,
  outcomeIn,
  silentPackages,
  soundPackages,
  succeeded,
  type TestRun,
  type UnreadTests,
  withoutSilentPackages,
  withoutTests,
} from '../../core/evidence/index.ts';
import { counted } from '../../core/model/index.ts';
import {
  type CommandForm,
  plainCommand,
  type ReportPlan,
  type TestCommand,
} from '../../core/settings/index.ts';
import { type CheckRunner, withoutServices } from './areas.ts';

/** The first run of the suite on the base and the runner that made it, which later runs and candidates use as well. */
interface BaseAttempt {
  readonly run: TestRun;
  readonly on: CheckRunner;
}

/**
 * Runs the suite on the base as planned. Commands of which no report names a passing test run in other forms, and if
 * nothing passes then, the repository's command runs unsplit.
 */
export async function firstBaseRun(
  runner: CheckRunner,
  runOnce: (runner: CheckRunner) => Promise<TestRun>,
): Promise<BaseAttempt> {
  const { run, on } = await firstWay(runner, async (one) => withoutSilentPackages(await runOnce(one)));
  // If no package gives results, the whole run does not, which is reported elsewhere.
  const silent = soundPackages(run).length > 0 ? silentNotes(run) : [];
  const notes = [...runner.notes, ...(run.notes ?? []), ...silent];
  return { run: notes.length > 0 ? { ...run, notes } : run, on };
}

/** Maximum number of packages named in a note. */
const MAX_NAMED_PACKAGES = 10;

/** Which packages of this base run are ignored, and why. */
export function silentNotes(run: TestRun): readonly string[] {
  const silent = silentPackages(run);
  const note = (found: typeof silent, how: string) => {
    const names = found.slice(0, MAX_NAMED_PACKAGES).map(({ folder }) => folder);
    const more = found.length - names.length;
    const all = `${names.join(', ')}${more > 0 ? ` and ${more} more packages` : ''}`;
    return found.length === 0 ? [] : [`The tests of ${all} ${how}, so they were left out.`];
  };
  const isStopped = ({ stopped }: { readonly stopped: TestRun['stopped'] }) => stopped !== null;
  return [
    ...note(silent.filter(isStopped), 'exceed a limit on the base commit'),
    ...note(
      silent.filter((one) => !isStopped(one)),
      'fail on the base commit without a report',
    ),
  ];
}

async function firstWay(
  runner: CheckRunner,
  runOnce: (runner: CheckRunner) => Promise<TestRun>,
): Promise<BaseAttempt> {
  const { attempt, notes } = await inOtherForms(runner, await runOnce(runner), runOnce);
  const whole = runner.plan.otherwise;
  const { hint } = runner.plan;
  const { source, stopped } = attempt.run;
  if (whole === null || source !== 'exit-code' || stopped !== null || succeeded(attempt.run))
    return noted(attempt, notes, hint);
  const on = { ...runner, plan: whole };
  return noted({ run: { ...(await runOnce(on)), unsplit: true }, on }, [], hint);
}

/** Without a report, what would bring one is said (`hint`), unless the notes say why there is none. */
function noted({ run, on }: BaseAttempt, notes: readonly string[], hint: string | undefined): BaseAttempt {
  const { unread: _unread, ...kept } = run;
  const all = run.source === 'exit-code' && notes.length === 0 && hint !== undefined ? [hint] : notes;
  return { run: all.length > 0 ? { ...kept, notes: all } : kept, on };
}

const FORMS = ['environment', 'plain'] as const;

/**
 * Commands without a test that passes, in their other forms: the options for a report may break them. The last form is
 * kept in any case where there is no report: what the repository's own command prints explains more. Not if it exceeds
 * a limit as well, since another run would take as long.
 */
async function inOtherForms(
  runner: CheckRunner,
  planned: TestRun,
  runOnce: (runner: CheckRunner) => Promise<TestRun>,
): Promise<{ readonly attempt: BaseAttempt; readonly notes: readonly string[] }> {
  const { plan } = runner;
  const forms = new Map<string, CommandForm>();
  const notes: string[] = [];
  let last: BaseAttempt = { run: planned, on: runner };
  for (const form of FORMS) {
    const tried = (planned.unread ?? []).flatMap((before) => {
      const command = plan.commands.find((one) => one.command === before.command);
      const other = command?.otherwise?.find((one) => one.form === form);
      const isPossible = form === 'plain' ? !succeeded(before) : before.stopped === null;
      const isLeft = command && !forms.has(command.command) && isPossible;
      return isLeft && other && !isSame(command, other) ? [{ before, other }] : [];
    });
    if (tried.length === 0) continue;
    const on = { ...runner, plan: { ...plan, commands: tried.map(({ other }) => other) } };
    const run = await runOnce(on);
    last = { run, on };
    for (const { before, other } of tried) {
      const still = run.unread?.find(({ command }) => command === other.command);
      if (still === undefined || (form === 'plain' && isKept(before, still))) forms.set(before.command, form);
      if (form === 'plain' && still && succeeded(still)) notes.push(plainNote(before, other.command));
    }
  }
  if (forms.size === 0) return { attempt: { run: planned, on: runner }, notes };
  const on = { ...runner, plan: inForms(plan, (command) => forms.get(command)) };
  const isAll = last.on.plan.commands.length === plan.commands.length && forms.size === plan.commands.length;
  const run = isAll ? last.run : await runOnce(on);
  return { attempt: { run: { ...run, forms: Object.fromEntries(forms) }, on }, notes };
}

/** Whether the repository's own command is kept although it leaves no report. */
const isKept = (before: UnreadTests, still: UnreadTests): boolean =>
  succeeded(still) || (!before.hasReport && still.stopped === null);

/** Maximum characters of a command in a note. */
const MAX_COMMAND = 80;

function plainNote({ exitCode, hasReport }: UnreadTests, command: string): string {
  const shown = command.replace(/^(?:export PATH="[^"]*"; )+/, '').slice(0, MAX_COMMAND);
  const code = exitCode === null ? 'without an exit code' : `with exit code ${exitCode}`;
  const how = hasReport ? 'no test passes' : 'writes no report';
  return `With the options that Runoff adds for a test report, \`${shown}\` ends ${code} and ${how}; without them it succeeds. It runs without these options, so only its exit code counts.`;
}

/**
 * The plan with some commands in another form. Which files they can be limited to is known of the planned form alone.
 */
const inForms = (plan: ReportPlan, formOf: (command: string) => CommandForm | undefined): ReportPlan => ({
  ...plan,
  commands: plan.commands.map((command) => {
    const form = formOf(command.command);
    return command.otherwise?.find((one) => form !== undefined && one.form === form) ?? command;
  }),
  focus: () => null,
});

/** Maximum tests named in a note. */
const MAX_NAMED_TESTS = 5;

/**
 * Tests that fail only because of the options that are added for a report: the command without them succeeds. It is
 * run only if it fails with them, once, and not by packages. `run`: several runs, so that no flaky test is named.
 */
export async function optionNotes(
  { run, on }: BaseAttempt,
  runOnce: (runner: CheckRunner) => Promise<TestRun>,
): Promise<readonly string[]> {
  const steps = new Set(run.steps ?? []);
  const failing = Object.keys(run.tests).filter((id) => !steps.has(id) && outcomeIn(run, id) === 'failed');
  const isUnread = failing.length === 0 && run.source !== 'report';
  if (isUnread || succeeded(run) || run.packages || run.belowCoverage) return [];
  if (!succeeded(await runOnce({ ...on, plan: inForms(on.plan, () => 'plain') }))) return [];
  if (failing.length === 0)
    return [
      'With the options that Runoff adds for a test report, no test of the base commit fails, but the command does, and without them it passes. Runoff keeps the options, because the report shows the tests; what the command checks besides them is not compared.',
    ];
  const named = failing.slice(0, MAX_NAMED_TESTS).join('; ');
  const more = failing.length - MAX_NAMED_TESTS;
  return [
    `With the options that Runoff adds for a test report, ${counted(failing.length, 'test')} of the base commit fail${failing.length === 1 ? 's' : ''}, and without them the command passes: ${named}${more > 0 ? `; and ${more} more` : ''}. Runoff keeps the options, because the report shows all other tests, and sets aside what fails.`,
  ];
}

const isSame = (one: TestCommand, other: TestCommand): boolean =>
  JSON.stringify(whatRuns(one)) === JSON.stringify(whatRuns(other));

const whatRuns = ({ command, args, env }: TestCommand) => [command, args, env];

/**
 * The base run that candidates are compared with: without non-test steps that fail there, such as a linter, which are
 * noted.
 */
export function withoutFailingSteps(run: TestRun): TestRun {
  const { steps = [], notes = [] } = run;
  const failing = steps.filter((id) => outcomeIn(run, id) === 'failed');
  if (failing.length === 0) return run;
  const leftOutNotes = failing.map((id) => `“${id}” fails on the base commit, so it was left out.`);
  const left = steps.filter((id) => !failing.includes(id));
  return { ...withoutTests(run, failing), steps: left, notes: [...notes, ...leftOutNotes] };
}

/**
 * Configures the runner for candidates so that they are held to no more than the base achieves: with the same variant
 * of the plan, only services that start there, packages whose tests give results there, modules to which its run was
 * restricted, and non-test steps that pass there. Runs nothing if the command cannot run on the base.
 */
export function asOnBase(given: CheckRunner, onBase: TestRun): CheckRunner {
  const runner = { ...withoutServices(given, onBase.refusedServices), baseTests: namesOfBase(onBase) };
  if (!canRun(onBase)) return { ...runner, plan: NO_COMMAND };
  const plan = planUsedOnBase(runner, onBase);
  const { modules } = onBase;
  if (modules && plan.modules)
    return { ...runner, plan: { ...plan, commands: [plan.modules.only(modules)] } };
  const tested = new Set(soundPackages(onBase));
  const counts = ({ check, package: folder }: TestCommand) =>
    (folder === undefined || tested.has(folder)) &&
    (check === undefined || outcomeIn(onBase, check) === 'passed');
  return { ...runner, plan: { ...plan, commands: plan.commands.filter(counts) } };
}

/** The plan with which the base was tested. */
export function planUsedOnBase({ plan }: CheckRunner, { unsplit, forms }: TestRun): ReportPlan {
  if (unsplit) return plan.otherwise ?? plan;
  return forms
    ? inForms(plan, (command) => (Object.hasOwn(forms, command) ? forms[command] : undefined))
    : plan;
}

const NO_COMMAND: ReportPlan = {
  commands: [plainCommand('')],
  otherwise: null,
  focus: () => null,
};

/** The plan restricted to these packages, keeping commands of no package; never falls back to the whole command. */
export function planForPackages(plan: ReportPlan, folders: readonly string[]): ReportPlan {
  const wanted = new Set(folders);
  return planWith(plan, (folder) => folder === undefined || wanted.has(folder));
}

function planWith(plan: ReportPlan, holds: (folder: string | undefined) => boolean): ReportPlan {
  return { ...plan, commands: plan.commands.filter((command) => holds(command.package)), otherwise: null };
}

/** The plan for the packages named in `checks.packages`; absent: for all. */
export function planOfNamedPackages(
  plan: ReportPlan,
  named: readonly string[] | undefined,
): { readonly plan: ReportPlan; readonly notes: readonly string[] } {
  const own = plan.notes ?? [];
  if (named === undefined) return { plan, notes: own };
  const wanted = new Set(named.map((folder) => folder.replace(/^\.\//, '').replace(/\/+$/, '')));
  const found = new Set([
    ...plan.commands.flatMap((command) => command.package ?? []),
    ...(plan.modules?.folders ?? []),
  ]);
  const unknown = [...wanted].filter((folder) => !found.has(folder));
  const known = [...wanted].filter((folder) => found.has(folder));
  const missing =
    unknown.length === 0
      ? []
      : [`\`checks.packages\` names ${unknown.join(', ')}, whose tests Runoff cannot run separately.`];
  if (known.length === 0) return { plan, notes: [...own, ...missing, 'All tests were run instead.'] };
  return {
    plan: plan.modules
      ? { ...withoutModules(plan), commands: [plan.modules.only(known)], otherwise: null }
      : planWith(plan, (folder) => folder !== undefined && wanted.has(folder)),
    notes: [
      ...own,
      ...missing,
      `Only the tests of the packages in \`checks.packages\` were run: ${known.join(', ')}.`,
    ],
  };
}

function withoutModules({ modules: _modules, ...plan }: ReportPlan): ReportPlan {
  return plan;
}

/** Restricts a runner to tests, for questions about other candidates' tests, on which a linter has no bearing. */
export const withoutSteps = (runner: CheckRunner): CheckRunner => ({
  ...runner,
  plan: { ...runner.plan, commands: runner.plan.commands.filter(({ check }) => check === undefined) },
});
