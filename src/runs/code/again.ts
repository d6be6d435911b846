import { roundWords } from '../../core/adaptive/index.ts';
import { asFault, type Candidate, NO_USAGE, type RunId, type Task } from '../../core/model/index.ts';
import { assignAliases } from '../../core/policy/index.ts';
import type { BaseCheckout, ChildInput } from '../../ports/index.ts';
import { rebuild } from '../rebuild.ts';
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
  signal: AbortSignal,
): Promise<readonly ChildInput[]> {
  const earlier = await world.store.candidates(run);
  const field: Candidate[] = [];
  for (const candidate of earlier) {
    const { alias, patch } = candidate;
    if (alias === again || (patch && (await isThere(world, base, { ...candidate, patch }, signal))))
      field.push(candidate);
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

/** One whose tree and patch were removed since could be judged, but not published. */
async function isThere(
  world: World,
  base: BaseCheckout,
  candidate: Parameters<typeof rebuild>[2],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await rebuild(world, base, candidate, signal);
    return true;
  } catch (thrown) {
    const { code } = asFault(thrown);
    if ((code !== 'INTERNAL' && code !== 'STORED_DATA_DAMAGED') || signal.aborted) throw thrown;
    const { runId, alias } = candidate;
    world.log.warn({ run: runId, candidate: alias, err: thrown }, 'a candidate cannot be taken over');
    return false;
  }
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
