import type { Evidence, TestRun } from '../../core/evidence/index.ts';
import { type ArtifactRef, type Candidate, Fault, type RunId } from '../../core/model/index.ts';
import { loadRun } from '../task.ts';
import type { World } from '../world.ts';
import { areaId, type Bench, build, inArea, openBench, runTests } from './execute.ts';
import { gatherEvidence } from './gather.ts';
import type { Entry } from './one.ts';

export { type Bench, benchOver, type Tools } from './execute.ts';
export { gatherEvidence } from './gather.ts';

/**
 * Builds and tests the base commit itself, so that a failure is the candidate's own. Returns the test run, stored.
 * Faults with BASE_BROKEN before anything is spent on coders.
 */
export async function checkBase(world: World, runId: RunId, signal: AbortSignal): Promise<ArtifactRef> {
  const bench = await openBench(world, runId, signal);
  return world.artifacts.put(JSON.stringify(await testBase(bench)));
}

/** Builds and tests the base commit itself. Faults with BASE_BROKEN where that tells nothing about candidates. */
export async function testBase(bench: Bench): Promise<TestRun> {
  return inArea(bench, areaId(bench.task.runId, 'base'), async (area) => {
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
    return run;
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
    const evidence = await gatherForRun(world, runId, baseRun, signal);
    await world.store.updateRun(runId, { evidence }, world.clock.now());
  }
  await world.store.markStage(runId, 'examine', 'end', world.clock.now());
  await world.store.transition(runId, 'examined', 'every candidate was built and tested', world.clock.now());
  world.announcer.soon(runId);
  return 'examined';
}

async function gatherForRun(
  world: World,
  runId: RunId,
  baseRun: ArtifactRef,
  signal: AbortSignal,
): Promise<readonly Evidence[]> {
  const bench = await openBench(world, runId, signal);
  const onBase = JSON.parse(await world.artifacts.get(baseRun)) as TestRun;
  const candidates = await world.store.candidates(runId);
  const byAlias = new Map(candidates.map((candidate) => [candidate.alias, candidate]));
  const marked = async ({ alias }: Entry, state: 'examining' | 'examined') => {
    const candidate = byAlias.get(alias);
    if (candidate) await mark(world, candidate, state);
  };
  try {
    return await gatherEvidence(bench, candidates, onBase, (entry) => marked(entry, 'examining'));
  } finally {
    for (const candidate of candidates) await marked(candidate, 'examined');
  }
}

/** A crash may have left a candidate in either state: both stand for a patch that is to be examined. */
async function mark(world: World, candidate: Candidate, state: 'examining' | 'examined'): Promise<void> {
  if (candidate.state === 'coded' || candidate.state === 'examining') {
    await world.store.putCandidate({ ...candidate, state });
  }
}
