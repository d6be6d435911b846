import {
  canRun,
  outcomeIn,
  silentPackages,
  soundPackages,
  succeeded,
  type TestRun,
  withoutSilentPackages,
  withoutTests,
} from '../../core/evidence/index.ts';
import { plainCommand, type ReportPlan, type TestCommand } from '../../core/settings/index.ts';
import type { CheckRunner } from './areas.ts';

/** The first run of the suite on the base, and the runner that made it: further runs and candidates use the same. */
export interface BaseAttempt {
  readonly run: TestRun;
  readonly on: CheckRunner;
}

/**
 * Runs the suite on the base as planned and, where that leaves no report, without the options for it, then as the
 * repository gives the command: until the tests pass, else in the last of these ways.
 */
export async function firstBaseRun(
  runner: CheckRunner,
  runOnce: (runner: CheckRunner) => Promise<TestRun>,
): Promise<BaseAttempt> {
  const { run, on } = await firstWay(runner, async (one) => withoutSilentPackages(await runOnce(one)));
  // Where no package tells anything, the whole run does not, and that is said elsewhere.
  const silent = soundPackages(run).length > 0 ? silentNotes(run) : [];
  const notes = [...runner.notes, ...(run.notes ?? []), ...silent];
  return { run: notes.length > 0 ? { ...run, notes } : run, on };
}

/** Packages that a note names. */
const MAX_NAMED_PACKAGES = 10;

/** Which packages of this run of the base count for nothing, and why. */
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
  const planned: BaseAttempt = { run: await runOnce(runner), on: runner };
  if (planned.run.source !== 'exit-code') return planned;
  let last = planned;
  for (let plan = runner.plan.otherwise; plan; plan = plan.otherwise) {
    const on = { ...runner, plan };
    const run = isSame(plan.commands, last.on.plan.commands) ? last.run : await runOnce(on);
    last = { run, on };
    if (succeeded(run) || run.stopped) break;
  }
  const notes = unreadNotes(runner.plan, planned.run, last.run);
  const bySteps = last.on.plan.kind === 'steps' ? { bySteps: true as const } : {};
  return { ...last, run: { ...last.run, ...bySteps, ...(notes.length > 0 ? { notes } : {}) } };
}

const isSame = (some: readonly TestCommand[], others: readonly TestCommand[]): boolean =>
  JSON.stringify(some.map(whatRuns)) === JSON.stringify(others.map(whatRuns));

const whatRuns = ({ command, args, env, check }: TestCommand) => [command, args, env, check];

/** Why the tests of this base have no report: a runner that takes no options of ours, or one that is not known. */
function unreadNotes(plan: ReportPlan, planned: TestRun, used: TestRun): readonly string[] {
  if (!succeeded(planned) && succeeded(used)) {
    const code = planned.exitCode === null ? 'without an exit code' : `with exit code ${planned.exitCode}`;
    return [
      `With the options that Runoff adds for a test report, the tests end ${code} and write no report; without them they pass. They run without these options, so only their exit code counts.`,
    ];
  }
  return plan.hint === undefined ? [] : [plan.hint];
}

/**
 * The run of the base that candidates are compared with: a step beside the tests that fails there, as a linter, is set
 * aside and named.
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
 * How candidates are tested, so that they are asked for no more than the base gives: in the same of the plan's ways, with
 * the packages whose tests tell something there and the steps beside the tests that pass there; nothing is run where the
 * command cannot run on the base.
 */
export function asOnBase(runner: CheckRunner, onBase: TestRun): CheckRunner {
  if (!canRun(onBase)) return { ...runner, plan: NO_COMMAND };
  const plan = planUsedOnBase(runner, onBase);
  const tested = new Set(soundPackages(onBase));
  const counts = ({ check, package: folder }: TestCommand) =>
    (folder === undefined || tested.has(folder)) &&
    (check === undefined || outcomeIn(onBase, check) === 'passed');
  return { ...runner, plan: { ...plan, commands: plan.commands.filter(counts) } };
}

/** The way of the plan in which the base was tested. */
export function planUsedOnBase(runner: CheckRunner, { source, packages, bySteps }: TestRun): ReportPlan {
  // A command that is not taken apart has no packages.
  const kind = bySteps ? 'steps' : source === 'report' || packages ? 'reports' : 'command';
  let { plan } = runner;
  while (plan.kind !== kind && plan.otherwise) plan = plan.otherwise;
  return plan;
}

const NO_COMMAND: ReportPlan = {
  kind: 'command',
  commands: [plainCommand('')],
  otherwise: null,
  focus: () => null,
};

/** The plan with these packages only, beside commands of none; in none of its ways the whole command. */
export function planForPackages(plan: ReportPlan, folders: readonly string[]): ReportPlan {
  const wanted = new Set(folders);
  return planWith(plan, (folder) => folder === undefined || wanted.has(folder));
}

function planWith(plan: ReportPlan, holds: (folder: string | undefined) => boolean): ReportPlan {
  const { otherwise } = plan;
  return {
    ...plan,
    commands: plan.commands.filter((command) => holds(command.package)),
    otherwise: otherwise && otherwise.kind !== 'command' ? planWith(otherwise, holds) : null,
  };
}

/** The plan for the packages that `checks.packages` names; absent: for all. */
export function planOfNamedPackages(
  plan: ReportPlan,
  named: readonly string[] | undefined,
): { readonly plan: ReportPlan; readonly notes: readonly string[] } {
  if (named === undefined) return { plan, notes: [] };
  const wanted = new Set(named.map((folder) => folder.replace(/^\.\//, '').replace(/\/+$/, '')));
  const found = new Set(plan.commands.flatMap((command) => command.package ?? []));
  const unknown = [...wanted].filter((folder) => !found.has(folder));
  const known = [...wanted].filter((folder) => found.has(folder));
  const missing =
    unknown.length === 0
      ? []
      : [`\`checks.packages\` names ${unknown.join(', ')}, whose tests Runoff cannot run separately.`];
  if (known.length === 0) return { plan, notes: [...missing, 'All tests were run instead.'] };
  return {
    plan: planWith(plan, (folder) => folder !== undefined && wanted.has(folder)),
    notes: [
      ...missing,
      `Only the tests of the packages in \`checks.packages\` were run: ${known.join(', ')}.`,
    ],
  };
}

/** The tests alone, for what asks about tests of others: a linter has no say there. */
export const withoutSteps = (runner: CheckRunner): CheckRunner => ({
  ...runner,
  plan: { ...runner.plan, commands: runner.plan.commands.filter(({ check }) => check === undefined) },
});
