import type { TestRun } from '../../core/evidence/index.ts';
import { familyOf, identitiesOf, judgeModels } from '../../core/judging/index.ts';
import type { ArtifactRef, Candidate, RunId } from '../../core/model/index.ts';
import { writersInOrder } from '../../core/neutral/index.ts';
import { orderOf } from '../../core/ranking/index.ts';
import { ifSound } from '../if-sound.ts';
import { rememberAnswers } from '../remember-answers.ts';
import { loadRun, loadTask } from '../task.ts';
import type { World } from '../world.ts';
import { testBase } from './base.ts';
import { type Bench, openBench } from './execute.ts';
import { type Gathered, gatherEvidence } from './gather.ts';
import type { Entry } from './one.ts';
import type { Writing } from './written.ts';

export { testBase } from './base.ts';
export { type Bench, benchOver, openBench, type Tools } from './execute.ts';
export { gatherEvidence } from './gather.ts';
export { collectText } from './given.ts';
export type { Entry } from './one.ts';
export { type Reviewer, reviewCandidate } from './winner.ts';

/**
 * Builds and tests the base commit itself, so that a failure is the candidate's own. Returns the test run, stored.
 * Faults with BASE_BROKEN before anything is spent on coders.
 */
export async function checkBase(world: World, runId: RunId, signal: AbortSignal): Promise<ArtifactRef> {
  const bench = await openBench(world, runId, signal);
  return world.artifacts.put(JSON.stringify(await testBase(bench)));
}

/** What `checkBase` stored; a test run that is damaged since is made again. */
export async function readBaseRun(bench: Bench, stored: ArtifactRef): Promise<TestRun> {
  const text = await ifSound(bench.world.artifacts.get(stored));
  return text === null ? testBase(bench) : (JSON.parse(text) as TestRun);
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
  // A further round adds candidates: then everybody is executed again, new survivors against old ones.
  const known = new Set((run.evidence ?? []).map(({ alias }) => alias));
  const candidates = await world.store.candidates(runId);
  if (!run.evidence || candidates.some(({ alias }) => !known.has(alias))) {
    const gathered = await gatherForRun(world, runId, baseRun, signal);
    await world.store.updateRun(runId, gathered, world.clock.now());
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
): Promise<Gathered> {
  const bench = await openBench(world, runId, signal);
  const onBase = await readBaseRun(bench, baseRun);
  const candidates = await world.store.candidates(runId);
  const byAlias = new Map(candidates.map((candidate) => [candidate.alias, candidate]));
  const marked = async ({ alias }: Entry, state: 'examining' | 'examined') => {
    const candidate = byAlias.get(alias);
    if (candidate) await mark(world, candidate, state);
  };
  try {
    const entries = candidates.map((one) => ({ ...one, family: familyOf(one.contestant.model) }));
    const writing = await writingFor(world, runId, candidates, signal);
    const begins = (entry: Entry) => marked(entry, 'examining');
    return await gatherEvidence(bench, entries, onBase, { begins, ...(writing ? { writing } : {}) });
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

/** Models that may write tests for this run, or review; null where the settings want none to choose. */
async function writingFor(
  world: World,
  runId: RunId,
  candidates: readonly Candidate[],
  signal: AbortSignal,
): Promise<Writing | null> {
  const { brief, neutral } = await loadRun(world, runId);
  const task = await loadTask(world, runId);
  const order = orderOf(task.settings);
  const may = {
    write: order.strategies.includes('judges'),
    review: task.settings.evaluator.includes('reviewer'),
  };
  if (!brief || !(may.write || may.review)) return null;
  const authors = candidates.map(({ contestant }) => contestant);
  const models = judgeModels(task.settings, world.defaults.models);
  const wrote = authors.map(({ model }) => model);
  return {
    desk: {
      gateway: world.gateway,
      model: world.model,
      random: world.random,
      models: writersInOrder(models, wrote, familyOf),
      task,
      brief,
      remember: rememberAnswers(world, runId),
      signal,
    },
    instructions: world.prompts,
    may,
    again: neutral !== undefined,
    order,
    identities: identitiesOf(authors),
  };
}
