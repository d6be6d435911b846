import { fits, type NewReply, openInquiry } from '../core/dialogue/index.ts';
import { isOver } from '../core/lifecycle/index.ts';
import type { RunId } from '../core/model/index.ts';
import type { RunRecord } from '../ports/index.ts';
import { REPLY } from './agree.ts';
import { loadRun } from './task.ts';
import type { World } from './world.ts';

export type Said =
  | { readonly kind: 'taken' }
  /** A sentence for whoever said it. */
  | { readonly kind: 'not-waiting'; readonly why: string }
  | { readonly kind: 'unfit'; readonly why: string };

/**
 * Says something to a run that waits. Stored before the run is woken: a crash in between is mended by `reconcile`. The
 * same key again changes nothing and wakes nobody twice. Whether the speaker may is the caller's business. `to`: the number
 * of the inquiry that it replies to; absent: whichever is open.
 */
export async function reply(
  world: World,
  runId: RunId,
  key: string,
  said: NewReply,
  to?: number,
): Promise<Said> {
  const run = await loadRun(world, runId);
  const open = waitsFor(run);
  if (!open) return { kind: 'not-waiting', why: `Run ${runId} is ${run.state} and waits for nobody.` };
  if (to !== undefined && open.number !== to)
    return { kind: 'unfit', why: 'Something else is asked by now.' };
  const fit = fits(open, said);
  if (fit.kind === 'unfit') return fit;
  await world.store.addReply(runId, key, said);
  await world.engine.signal(runId, REPLY, key);
  return { kind: 'taken' };
}

/** The inquiry that a reply would settle now. */
export const waitsFor = (run: RunRecord) =>
  isWaiting(run) && run.dialogue ? openInquiry(run.dialogue) : null;

export const isWaiting = ({ state }: Pick<RunRecord, 'state'>): boolean =>
  !isOver(state) && (state === 'awaiting_answer' || state === 'awaiting_approval');

/** Wakes a run that has replies which it did not look at: whoever stored them could not tell it. */
export async function wakeIfUnheard(world: World, run: RunRecord): Promise<void> {
  if (!isWaiting(run) || !run.dialogue) return;
  const last = (await world.store.replies(run.id)).at(-1);
  if (last && last.number > run.dialogue.taken) {
    await world.engine.signal(run.id, REPLY, `unheard:${last.number}`);
  }
}
