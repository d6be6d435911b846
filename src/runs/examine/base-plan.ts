import { canRun, outcomeIn, succeeded, type TestRun, withoutTests } from '../../core/evidence/index.ts';
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
      `With the options that Runoff adds for a report, the tests end ${code} and leave none; without them they pass. They run without them, so only their exit code counts.`,
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
  const told = failing.map((id) => `“${id}” fails on the base commit, so it was left out.`);
  const left = steps.filter((id) => !failing.includes(id));
  return { ...withoutTests(run, failing), steps: left, notes: [...notes, ...told] };
}

/**
 * How candidates are tested, so that they are asked for no more than the base gives: in the same of the plan's ways, with
 * the steps beside the tests that pass there; nothing is run where the command cannot run on the base.
 */
export function asOnBase(runner: CheckRunner, onBase: TestRun): CheckRunner {
  if (!canRun(onBase)) return { ...runner, plan: NO_COMMAND };
  const kind = onBase.source === 'report' ? 'reports' : onBase.bySteps ? 'steps' : 'command';
  let { plan } = runner;
  while (plan.kind !== kind && plan.otherwise) plan = plan.otherwise;
  const passes = ({ check }: TestCommand) => check === undefined || outcomeIn(onBase, check) === 'passed';
  return { ...runner, plan: { ...plan, commands: plan.commands.filter(passes) } };
}

const NO_COMMAND: ReportPlan = {
  kind: 'command',
  commands: [plainCommand('')],
  otherwise: null,
  focus: () => null,
};

/** The tests alone, for what asks about tests of others: a linter has no say there. */
export const withoutSteps = (runner: CheckRunner): CheckRunner => ({
  ...runner,
  plan: { ...runner.plan, commands: runner.plan.commands.filter(({ check }) => check === undefined) },
});
