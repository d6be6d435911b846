import { roundWords } from '../../core/adaptive/index.ts';
import { type Candidate, NO_USAGE, type RunId, type Task } from '../../core/model/index.ts';
import { assignAliases } from '../../core/policy/index.ts';
import type { BaseCheckout, ChildInput } from '../../ports/index.ts';
import type { World } from '../world.ts';
import { lineUp, type Place } from './line-up.ts';

/**
 * One contestant of an earlier run once more, beside what the others of that run wrote on the same base commit: their
 * patches are taken over as they are and paid for no more. All get new aliases, so that nothing tells old from new.
 */
export async function lineUpAgain(
  world: World,
  task: Task,
  base: BaseCheckout,
  { run, again }: { readonly run: RunId; readonly again: string },
): Promise<readonly ChildInput[]> {
  const earlier = await world.store.candidates(run);
  const field: Candidate[] = [];
  for (const candidate of earlier) {
    const { alias, patch } = candidate;
    // One whose tree was removed since could be judged, but not published.
    if (alias === again || (patch && (await world.workspaces.holds(base, patch.tree)))) field.push(candidate);
  }
  const aliases = assignAliases(task.runId, field.length);
  const known = new Set((await world.store.candidates(task.runId)).map(({ alias }) => alias));
  const anew: Place[] = [];
  for (const [ordinal, candidate] of field.entries()) {
    const alias = aliases[ordinal] as string;
    const { round: _, ...contestant } = candidate.contestant;
    if (candidate.alias === again) anew.push({ alias, ordinal, contestant });
    else if (!known.has(alias)) {
      const { tree } = candidate.patch ?? {};
      if (tree) await world.workspaces.keep(base, `${task.runId}-${alias}`, tree);
      await world.store.putCandidate(takenOver(candidate, { runId: task.runId, alias, ordinal }));
    }
  }
  return lineUp(world, task, anew);
}

/** How it came about there names candidates of that run, which are others here. */
function takenOver(
  { contestant: { round, ...contestant }, ...candidate }: Candidate,
  here: Pick<Candidate, 'runId' | 'alias' | 'ordinal'>,
): Candidate {
  const how = round ? ` (${roundWords(round)} there)` : '';
  return {
    ...candidate,
    contestant,
    ...here,
    state: 'coded',
    usage: NO_USAGE,
    note: `taken over from run ${candidate.runId}, where it was ${candidate.alias}${how}`,
  };
}
