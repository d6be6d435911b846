import type { Evidence, TestRun } from '../../core/evidence/index.ts';
import { type ArtifactRef, type Candidate, Fault, type RunId } from '../../core/model/index.ts';
import { loadRun } from '../task.ts';
import type { World } from '../world.ts';
import { crossExecute } from './cross.ts';
import { areaId, build, inArea, openBench, runTests } from './execute.ts';
import { type Examined, examineOne } from './one.ts';
import { inParallel } from './parallel.ts';

/**
 * Builds and tests the base commit itself, so that a failure is the candidate's own. Returns the test run, stored.
 * Faults with BASE_BROKEN before anything is spent on coders.
 */
export async function checkBase(world: World, runId: RunId, signal: AbortSignal): Promise<ArtifactRef> {
  const bench = await openBench(world, runId, signal);
  return inArea(bench, areaId(runId, 'base'), async (area) => {
    const broken = await build(bench, area);
    const { checks } = bench.task.settings;
    if (broken) {
      throw new Fault(
        'BASE_BROKEN',
        `The build \`${checks.build}\` fails on the base commit (exit code ${broken.exitCode ?? 'none'}):\n${broken.tail}`,
      );
    }
    const run = await runTests(bench, area);
    const unusable = whyUnusable(run);
    if (unusable)
      throw new Fault(
        'BASE_BROKEN',
        `The tests \`${checks.test}\` ${unusable} on the base commit:\n${run.tail}`,
      );
    return world.artifacts.put(JSON.stringify(run));
  });
}

/** A base run that cannot tell a regression from what was broken before. */
function whyUnusable(run: TestRun): string | null {
  if (run.stopped) return `were stopped (${run.stopped})`;
  if (run.source === 'exit-code')
    return run.exitCode === 0 ? null : `end with exit code ${run.exitCode ?? 'none'} and give no report`;
  const outcomes = Object.values(run.tests);
  return outcomes.length > 0 && !outcomes.includes('passed') ? 'have none that passes' : null;
}

/** Builds and tests every candidate on the pinned base, then every survivor against the other survivors' tests. */
export async function examine(
  world: World,
  runId: RunId,
  baseRun: ArtifactRef,
  signal: AbortSignal,
): Promise<'examined'> {
  await world.store.markStage(runId, 'examine', 'start', world.clock.now());
  const run = await loadRun(world, runId);
  if (!run.evidence) {
    const evidence = await gatherEvidence(world, runId, baseRun, signal);
    await world.store.updateRun(runId, { evidence }, world.clock.now());
  }
  await world.store.markStage(runId, 'examine', 'end', world.clock.now());
  await world.store.transition(runId, 'examined', 'every candidate was built and tested', world.clock.now());
  world.announcer.soon(runId);
  return 'examined';
}

async function gatherEvidence(
  world: World,
  runId: RunId,
  baseRun: ArtifactRef,
  signal: AbortSignal,
): Promise<readonly Evidence[]> {
  const bench = await openBench(world, runId, signal);
  const onBase = JSON.parse(await world.artifacts.get(baseRun)) as TestRun;
  const candidates = await world.store.candidates(runId);
  const examined: Examined[] = [];
  try {
    await inParallel(world.parallelChecks, candidates, async (candidate) => {
      await mark(world, candidate, 'examining');
      examined.push(await examineOne(bench, candidate, onBase));
    });
    examined.sort((a, b) => a.candidate.ordinal - b.candidate.ordinal);
    return await crossExecute(bench, examined);
  } finally {
    for (const one of examined) if (one.built) await world.workspaces.remove(one.built);
    for (const candidate of candidates) await mark(world, candidate, 'examined');
  }
}

/** A crash may have left a candidate in either state: both stand for a patch that is to be examined. */
async function mark(world: World, candidate: Candidate, state: 'examining' | 'examined'): Promise<void> {
  if (candidate.state === 'coded' || candidate.state === 'examining') {
    await world.store.putCandidate({ ...candidate, state });
  }
}
