import { type Decision, decide } from '../../core/decision/index.ts';
import type { Evidence } from '../../core/evidence/index.ts';
import { type Judgement, strengthsOf } from '../../core/judging/index.ts';
import type { RunId } from '../../core/model/index.ts';
import { orderOf, type Ranked, type Ranking, rank, undecided } from '../../core/ranking/index.ts';
import { loadRun, loadTask } from '../task.ts';
import type { World } from '../world.ts';
import { hearJudges } from './hear.ts';

export { competitorOf } from './hear.ts';
export { type JudgeParts, judgePool } from './panel.ts';

/**
 * The decision falls: from executed evidence, and where that leaves several undecided from what the settings name next.
 * The same for the same evidence in any order.
 */
export async function judge(world: World, runId: RunId, signal: AbortSignal): Promise<'judged'> {
  await world.store.markStage(runId, 'judge', 'start', world.clock.now());
  const { evidence = [], brief } = await loadRun(world, runId);
  const task = await loadTask(world, runId);
  const order = orderOf(task.settings);
  const near = undecided(rank(evidence, order), evidence);
  const asked = order.strategies.includes('judges') && near.length > 1;
  const matter = { task, evidence, undecided: near, ...(brief ? { brief } : {}) };
  const judgement = asked ? await hearJudges(world, runId, matter, signal) : undefined;
  const askPerson = task.settings.evaluator.includes('human');
  const { ranking, decision } = settle(evidence, order, judgement, { askPerson });
  await world.store.updateRun(
    runId,
    { ranking, decision, ...(judgement ? { judgement } : {}) },
    world.clock.now(),
  );
  await world.store.markStage(runId, 'judge', 'end', world.clock.now());
  await world.store.transition(runId, 'judged', decision.because, world.clock.now());
  return 'judged';
}

/** Judges who are not sure themselves put nobody before another. */
export function settle(
  evidence: readonly Evidence[],
  order: Ranking,
  judgement: Judgement | undefined,
  { askPerson }: { readonly askPerson: boolean },
): { readonly ranking: readonly Ranked[]; readonly decision: Decision } {
  const sure = judgement && judgement.kind === 'judged' && judgement.confidence !== 'toss-up';
  const strengths = sure ? { strengths: strengthsOf(judgement) } : {};
  const ranking = rank(evidence, { ...order, ...strengths });
  return { ranking, decision: decide(ranking, evidence, { askPerson }) };
}
