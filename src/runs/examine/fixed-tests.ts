import {
  compareBase,
  EXIT_CODE,
  outcomeIn,
  resolveSuspects,
  succeeded,
  type TestRun,
  withoutTests,
} from '../../core/evidence/index.ts';
import { inParallel, uniqueSorted } from '../../core/model/index.ts';
import { askingLanesOf } from './areas.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { areaId } from './execute.ts';
import { repeatedRuns, rerunSuspects } from './repeats.ts';

interface ConfirmedFixes {
  readonly examined: readonly ExaminedCandidate[];
  readonly onBase: TestRun;
}

/**
 * Tests that fail on the base and pass with a survivor precede all other evidence, so they run once more before they
 * count, as far as time allows: on the base, if its suite ran there only once, and on each survivor that fails one of
 * them. One that passes on the base is set aside as flaky (docs/decisions/0253).
 */
export async function confirmFixes(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
): Promise<ConfirmedFixes> {
  const { runner, time } = tools;
  const survivors = examined.filter(({ gates }) => gates.every(({ passed }) => passed));
  const fixed = [...new Set(survivors.flatMap(({ baseTests }) => baseTests?.fixed ?? []))].sort();
  if (fixed.length === 0) return { examined, onBase: tools.onBase };
  const { onBase, isRepeated } = await time.measured('fixed tests on the base', () =>
    onBaseAgain(tools, fixed),
  );
  const counting = fixed.filter((id) => !onBase.flaky?.includes(id));
  const suites = new Map<ExaminedCandidate, TestRun>();
  await inParallel(askingLanesOf(runner), survivors, async (one) => {
    const work = () => onSurvivorAgain(tools, one, counting);
    const suite = await time.measured(`fixed tests on ${one.candidate.alias}`, work);
    if (suite) suites.set(one, suite);
  });
  return {
    examined: examined.map((one) =>
      compared(one, { onBase, isRepeated, suite: suites.get(one) ?? one.suite }),
    ),
    onBase,
  };
}

/** The base's run without those of these tests that pass in another run, which are flaky. */
async function onBaseAgain(
  tools: ExaminationTools,
  fixed: readonly string[],
): Promise<{ readonly onBase: TestRun; readonly isRepeated: boolean }> {
  const { runner, trees, onBase } = tools;
  if (onBase.runs !== undefined) return { onBase, isRepeated: false };
  const options = { id: areaId(runner.task.runId, 'base', 'fixed') };
  const again = await repeatedRuns(tools, await trees.of('base', []), options, {
    run: onBase,
    suspects: fixed,
  });
  const { flaky = [] } = resolveSuspects(onBase, fixed, again);
  const isRepeated = again.length > 0;
  if (flaky.length === 0) return { onBase, isRepeated };
  const excluded = uniqueSorted([...(onBase.flaky ?? []), ...flaky]);
  return { onBase: { ...withoutTests(onBase, flaky), flaky: excluded }, isRepeated };
}

/** Its suite after those of these tests that failed ran once more; null if none did. */
async function onSurvivorAgain(
  tools: ExaminationTools,
  { candidate, tree, suite }: ExaminedCandidate,
  fixed: readonly string[],
): Promise<TestRun | null> {
  if (!tree || !suite) return null;
  const suspects = fixed.filter((id) =>
    id === EXIT_CODE ? !succeeded(suite) : outcomeIn(suite, id) === 'failed',
  );
  if (suspects.length === 0) return null;
  const options = { id: areaId(candidate.runId, candidate.alias, 'fixed') };
  return rerunSuspects(tools, tree, options, { run: suite, suspects });
}

function compared(
  one: ExaminedCandidate,
  {
    onBase,
    isRepeated,
    suite,
  }: { readonly onBase: TestRun; readonly isRepeated: boolean; readonly suite: TestRun | undefined },
): ExaminedCandidate {
  if (!one.baseTests || !suite) return one;
  const { regressions: _settled, ...counts } = compareBase(onBase, suite);
  const again = isRepeated ? { fixedAgain: true as const } : {};
  return { ...one, suite, baseTests: { ...one.baseTests, ...counts, ...again } };
}
