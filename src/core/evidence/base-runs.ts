import { uniqueSorted } from '../model/index.ts';
import { withNamesOf } from './changing-names.ts';
import type { TestOutcome, TestRun } from './evidence.ts';
import { joinedRules } from './lint-comparison.ts';
import { EXIT_CODE, joinedRewrites, outcomeIn, succeeded, withoutTests } from './test-runs.ts';

/**
 * Merges several runs of one suite on one tree. Tests with inconsistent results, including those missing in some
 * runs, are removed and listed as flaky; but not if they are missing only in a run that was cut off. A run without a
 * report is ignored if others have one. With exit codes only, the majority counts, and a disagreement is listed as
 * `exit code`; with reports it is if no flaky test explains it. Needs at least one run.
 */
export function mergeBaseRuns(runs: readonly TestRun[]): TestRun {
  const first = runs[0];
  if (!first) throw new RangeError('mergeBaseRuns needs at least one run.');
  if (runs.length === 1) return first;
  const reported = namedAlike(runs.filter((run) => run.source === 'report'));
  const rewrites = joinedRewrites(runs);
  const rules = joinedRules(runs);
  if (reported.length === 0) return { ...mergeExitCodes(first, runs), ...rewrites, ...rules };
  // In the order of the first report, by which tests with changing names are paired.
  const ids = [...new Set(reported.flatMap((run) => Object.keys(run.tests)))];
  const cutOff = new Set(reported.filter((run, at) => isCutOff(run, reported.toSpliced(at, 1))));
  const flakyTests = uniqueSorted(ids.filter((id) => isFlaky(reported, id, cutOff)));
  const left = new Set(flakyTests);
  const steady = ids.filter((id) => !left.has(id));
  const isWhole = (run: TestRun, of: readonly string[] = steady) =>
    of.every((id) => outcomeIn(run, id) !== undefined);
  const isUnexplained = (run: TestRun) =>
    !succeeded(run) &&
    !run.belowCoverage &&
    isWhole(run, ids) &&
    !Object.values(run.tests).includes('failed');
  const isExitFlaky = reported.some(succeeded) && reported.some(isUnexplained);
  const flaky = isExitFlaky ? uniqueSorted([EXIT_CODE, ...flakyTests]) : flakyTests;
  const calm = reported.find(succeeded) ?? reported.find((run) => isWhole(run)) ?? (reported[0] as TestRun);
  const tests = steady.flatMap((id) => {
    const outcome = reported.map((run) => outcomeIn(run, id)).find((one) => one !== undefined);
    return outcome === undefined ? [] : [[id, outcome] as const];
  });
  return {
    ...calm,
    tests: Object.fromEntries(tests),
    ...rewrites,
    ...rules,
    runs: runs.length,
    ...(flaky.length > 0 ? { flaky } : {}),
  };
}

/** The runs with the names of the first one, where names change from run to run. */
const namedAlike = ([first, ...others]: readonly TestRun[]): readonly TestRun[] =>
  first ? [first, ...others.map((run) => withNamesOf(first, run))] : [];

/** Whether a test has different results, or is missing in a run that was not cut off. */
function isFlaky(runs: readonly TestRun[], id: string, cutOff: ReadonlySet<TestRun>): boolean {
  const having = runs.filter((run) => outcomeIn(run, id) !== undefined);
  const lacking = runs.filter((run) => !having.includes(run));
  const isAbsent = having.length > 1 && lacking.length === 1 && lacking.every((run) => cutOff.has(run));
  const counted = isAbsent ? having : runs;
  return new Set(counted.map((run) => outcomeIn(run, id))).size > 1;
}

/**
 * Whether a run seems to have ended early, by a panic or for lack of memory, which would take all later tests out of
 * the comparison. It failed in another way than the others: where a test always fails, failing says nothing. And no
 * test passed or was skipped in it alone, as where names contain a port or a date.
 */
function isCutOff(run: TestRun, others: readonly TestRun[]): boolean {
  if (succeeded(run)) return false;
  const tests = Object.entries(run.tests);
  const isOwn = (id: string) => others.every((other) => outcomeIn(other, id) === undefined);
  if (tests.some(([id, outcome]) => outcome !== 'failed' && isOwn(id))) return false;
  const endsLike = (other: TestRun) => other.exitCode === run.exitCode && other.stopped === run.stopped;
  const failsAlone = ([id, outcome]: readonly [string, TestOutcome]) =>
    outcome === 'failed' && others.every((other) => outcomeIn(other, id) !== 'failed');
  return !others.some(endsLike) || tests.some(failsAlone);
}

function mergeExitCodes(first: TestRun, runs: readonly TestRun[]): TestRun {
  const good = runs.filter(succeeded);
  const most =
    good.length * 2 > runs.length ? (good[0] as TestRun) : (runs.find((run) => !succeeded(run)) ?? first);
  const agree = good.length === 0 || good.length === runs.length;
  const steps = uniqueSorted(runs.flatMap((run) => Object.keys(run.tests)));
  const flakySteps = steps.filter((id) => new Set(runs.map((run) => outcomeIn(run, id))).size > 1);
  const flaky = [...(agree ? [] : [EXIT_CODE]), ...flakySteps];
  return { ...withoutTests(most, flakySteps), runs: runs.length, ...(flaky.length > 0 ? { flaky } : {}) };
}
