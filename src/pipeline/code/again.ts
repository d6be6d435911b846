import { type Candidate, NO_USAGE, type RunId, type Task } from '../../core/model/index.ts';
import { assignAliases } from '../../core/policy/index.ts';
import type { ChildInput } from '../../ports/index.ts';
import type { World } from '../world.ts';
import { lineUp, type Place } from './line-up.ts';

/**
 * One contestant of an earlier run once more, beside what the others of that run wrote on the same base commit: their
 * patches are taken over as they are and paid for no more. All get new aliases, so that nothing tells old from new.
 */
export async function lineUpAgain(
  world: World,
  task: Task,
  { run, again }: { readonly run: RunId; readonly again: string },
): Promise<readonly ChildInput[]> {
  const earlier = await world.store.candidates(run);
  const field = earlier.filter(({ alias, patch }) => alias === again || patch !== undefined);
  const aliases = assignAliases(task.runId, field.length);
  const known = new Set((await world.store.candidates(task.runId)).map(({ alias }) => alias));
  const anew: Place[] = [];
  for (const [ordinal, candidate] of field.entries()) {
    const alias = aliases[ordinal] as string;
    const { round: _, ...contestant } = candidate.contestant;
    if (candidate.alias === again) anew.push({ alias, ordinal, contestant });
    else if (!known.has(alias))
      await world.store.putCandidate(takenOver(candidate, { runId: task.runId, alias, ordinal }));
  }
  return lineUp(world, task, anew);
}

const takenOver = (
  candidate: Candidate,
  here: Pick<Candidate, 'runId' | 'alias' | 'ordinal'>,
): Candidate => ({
  ...candidate,
  ...here,
  state: 'coded',
  usage: NO_USAGE,
  note: `taken over from run ${candidate.runId}, where it was ${candidate.alias}`,
});
