import {
  canRun,
  namesOfBase,
  outcomeIn,
  silentPackages,
  soundPackages,
  succeeded,
  type TestRun,
  withKnownRules,
  withoutSilentPackages,
  withoutTests,
} from '../../core/evidence/index.ts';
import { counted } from '../../core/model/index.ts';
import { NO_REPORT, plainCommand, type ReportPlan, type TestCommand } from '../../core/settings/index.ts';
import { type CheckRunner, withoutServices } from './areas.ts';
import { type BaseAttempt, inForms, inOtherForms } from './command-forms.ts';

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

/** Without a report, what would bring one is said (`hint`, or of a command that passes), unless the notes say why. */
function noted({ run, on }: BaseAttempt, notes: readonly string[], hint: string | undefined): BaseAttempt {
  const { commands: _commands, ...kept } = run;
  const said = hint ?? (succeeded(run) ? NO_REPORT : undefined);
  const all = run.source === 'exit-code' && notes.length === 0 && said !== undefined ? [said] : notes;
  return { run: all.length > 0 ? { ...kept, notes: all } : kept, on };
}

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
  // Without the option that ends it, it would hang again.
  const wouldHang = Object.values(run.forms ?? {}).includes('exit');
  if (isUnread || wouldHang || succeeded(run) || run.packages || run.belowCoverage) return [];
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

/**
 * The base run that candidates are compared with: without non-test steps that fail there, which are noted. Linters
 * whose rules are known stay.
 */
export function withoutFailingSteps(whole: TestRun): TestRun {
  const { run, notes: ofRules } = withKnownRules(whole);
  const { steps = [], notes = [] } = run;
  const failing = steps.filter((id) => outcomeIn(run, id) === 'failed');
  if (failing.length + ofRules.length === 0) return run;
  const leftOutNotes = failing.map((id) => `“${id}” fails on the base commit, so it was left out.`);
  const left = steps.filter((id) => !failing.includes(id));
  return { ...withoutTests(run, failing), steps: left, notes: [...notes, ...ofRules, ...leftOutNotes] };
}

/**
 * Configures the runner for candidates so that they are held to no more than the base achieves: with the same variant
 * of the plan, only services that start there, packages whose tests give results there, modules to which its run was
 * restricted, and non-test steps that pass there. Runs nothing if the command cannot run on the base.
 */
export function asOnBase(given: CheckRunner, onBase: TestRun): CheckRunner {
  const { refusedServices, brokenRules } = onBase;
  const baseTests = { ...namesOfBase(onBase), ...(brokenRules && { brokenRules }) };
  const runner = { ...withoutServices(given, refusedServices), baseTests };
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
