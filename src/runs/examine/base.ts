import { affordable, BASE_RUNS, steady, type TestRun } from '../../core/evidence/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { inParallel } from '../parallel.ts';
import { areaId, type Bench, build, byExitCode, over, runTests } from './execute.ts';
import { inArea } from './in-area.ts';

/**
 * Builds and tests the base commit itself: three times where there is time for it, so that tests which do not always give
 * the same answer are known before they are held against anyone, and one run that went wrong does not end the task. Faults with BASE_BROKEN where that tells nothing about
 * candidates, unless a base that fails is what candidates are to mend.
 */
export async function testBase(
  bench: Bench,
  whenBroken: 'fault' | 'take it as it is' = 'fault',
): Promise<TestRun> {
  const { checks } = bench.task.settings;
  return inArea(bench, areaId(bench.task.runId, 'base'), async (built) => {
    const broken = await build(bench, built);
    if (broken) {
      throw new Fault(
        'BASE_BROKEN',
        `The build \`${checks.build}\` fails on the base commit (exit code ${broken.exitCode ?? 'none'}):\n${broken.tail}`,
      );
    }
    const run = await repeatedly(over(bench, built));
    const unusable = whyUnusable(run);
    if (unusable && whenBroken === 'fault')
      throw new Fault(
        'BASE_BROKEN',
        `The tests \`${checks.test}\` ${unusable} on the base commit:\n${run.tail}`,
      );
    return run;
  });
}

async function repeatedly(bench: Bench): Promise<TestRun> {
  const planned = await once(bench, 1);
  // Without a report, candidates are run by the command alone; so it is what the base must pass.
  const plain = byExitCode(bench);
  const first = planned.source === 'report' || isPlain(bench) ? planned : await once(plain, 1);
  if (first.stopped || !affordable(first, BASE_RUNS)) return first;
  const on = planned.source === 'report' ? bench : plain;
  const runs: TestRun[] = [first];
  const more = Array.from({ length: BASE_RUNS - 1 }, (_, index) => index + 2);
  await inParallel(bench.world.parallelChecks, more, async (time) => {
    runs.push(await once(on, time));
  });
  // A run in which nothing passes, beside others, was disturbed; it would make every test look flaky.
  const sound = runs.filter((run) => run.source !== 'report' || whyUnusable(run) === null);
  return steady(sound.length > 0 ? sound : runs);
}

const isPlain = ({ plan, task }: Bench): boolean =>
  plan.command === task.settings.checks.test && Object.keys(plan.env).length === 0;

const once = (bench: Bench, time: number): Promise<TestRun> =>
  inArea(bench, areaId(bench.task.runId, 'base', String(time)), (area: WorkArea) => runTests(bench, area));

/** A base run that cannot tell a regression from what was broken before. */
function whyUnusable(run: TestRun): string | null {
  if (run.stopped) return `were stopped (${run.stopped})`;
  if (run.source === 'exit-code')
    return run.exitCode === 0 ? null : `end with exit code ${run.exitCode ?? 'none'} and give no report`;
  const outcomes = Object.values(run.tests);
  return outcomes.length > 0 && !outcomes.includes('passed') ? 'have none that passes' : null;
}
