import { EXIT_CODE, outcomeIn, sorted, succeeded } from './compare.ts';
import type { TestOutcome, TestRun } from './evidence.ts';

/**
 * Runs of the base suite on the base. A test that differs between three of them is quarantined; one that fails with
 * chance f still gets through with (1 - f)^3 + f^3 (notes on selection, S2).
 */
export const BASE_RUNS = 3;

/** Runs that decide about a test which passes on the base and fails on a candidate; the majority counts. */
export const SUSPECT_RUNS = 3;

/**
 * Wall time for the base runs together, milliseconds, and for running the whole suite again because of a suspect. A suite
 * that takes longer is run once. Our default: a flake that stays unknown costs less than an hour on every run.
 */
export const REPEAT_BUDGET_MS = 120_000;

/** Is there time to run this suite so many times, all in all? */
export const affordable = (run: Pick<TestRun, 'ms'>, times: number): boolean =>
  run.ms * times <= REPEAT_BUDGET_MS;

/**
 * Several runs of one suite on one tree as one: tests that do not agree in all of them, one that is missing in some
 * included, are taken out and named as flaky. A run without a report, among others with one, says nothing of tests
 * and is left out. With exit codes only, the majority's is the answer, and a disagreement is named `exit code`. Needs at
 * least one run.
 */
export function steady(runs: readonly TestRun[]): TestRun {
  const first = runs[0];
  if (!first) throw new RangeError('steady needs at least one run.');
  if (runs.length === 1) return first;
  const told = runs.filter((run) => run.source === 'report');
  if (told.length === 0) return steadyExit(first, runs);
  const ids = sorted(told.flatMap((run) => Object.keys(run.tests)));
  const flaky = ids.filter((id) => new Set(told.map((run) => outcomeIn(run, id))).size > 1);
  const unsteady = new Set(flaky);
  const calm = told.find(succeeded) ?? (told[0] as TestRun);
  const tests = Object.entries(calm.tests).filter(([id]) => !unsteady.has(id));
  return {
    ...calm,
    tests: Object.fromEntries(tests),
    runs: runs.length,
    ...(flaky.length > 0 ? { flaky } : {}),
  };
}

function steadyExit(first: TestRun, runs: readonly TestRun[]): TestRun {
  const good = runs.filter(succeeded);
  const most =
    good.length * 2 > runs.length ? (good[0] as TestRun) : (runs.find((run) => !succeeded(run)) ?? first);
  const agree = good.length === 0 || good.length === runs.length;
  return { ...most, runs: runs.length, ...(agree ? {} : { flaky: [EXIT_CODE] }) };
}

/**
 * A run in which some tests failed that should pass, and the runs that were made again because of them, as one run: a
 * suspect passes where it passes in most of `SUSPECT_RUNS`, runs that were not needed any more included. Those that
 * passed at least once are named as flaky.
 */
export function settleSuspects(
  run: TestRun,
  suspects: readonly string[],
  again: readonly TestRun[],
): TestRun {
  const passes = (id: string) => again.filter((one) => passesIn(one, id)).length;
  const flaky = suspects.filter((id) => passes(id) > 0);
  if (flaky.length === 0) return run;
  const cleared = flaky.filter((id) => passes(id) * 2 > SUSPECT_RUNS);
  const tests = new Map<string, TestOutcome>(Object.entries(run.tests));
  for (const id of cleared) if (id !== EXIT_CODE) tests.set(id, 'passed');
  const exit = cleared.includes(EXIT_CODE) ? { exitCode: 0, stopped: null } : {};
  return {
    ...run,
    ...exit,
    tests: Object.fromEntries(tests),
    flaky: sorted([...(run.flaky ?? []), ...flaky]),
    runs: 1 + again.length,
  };
}

/** Suspects about which the runs so far leave a doubt: the first run failed, so a second failure settles it. */
export const doubtful = (suspects: readonly string[], again: readonly TestRun[]): readonly string[] =>
  suspects.filter((id) => again.every((one) => passesIn(one, id)));

const passesIn = (run: TestRun, id: string): boolean =>
  id === EXIT_CODE ? succeeded(run) : outcomeIn(run, id) === 'passed';

/** A run without some tests. */
export function withoutTests(run: TestRun, ids: readonly string[]): TestRun {
  if (ids.length === 0) return run;
  const left = new Set(ids);
  return { ...run, tests: Object.fromEntries(Object.entries(run.tests).filter(([id]) => !left.has(id))) };
}

/** What fails in a run and does not on the base, by id; with exit codes only, the exit code. Sorted. */
export function newlyFailing(base: TestRun, run: TestRun): readonly string[] {
  if (base.source === 'exit-code') return succeeded(base) && !succeeded(run) ? [EXIT_CODE] : [];
  return sorted(
    Object.keys(run.tests).filter(
      (id) => outcomeIn(run, id) === 'failed' && outcomeIn(base, id) !== 'failed',
    ),
  );
}
