import { lineOrder, type RunId } from '../core/model/index.ts';
import type { RunRecord, Store } from '../ports/index.ts';
import type { World } from './context.ts';

/** A run that may start and has no place yet. */
export const isQueued = (run: Pick<RunRecord, 'state' | 'line' | 'stages'>): boolean =>
  run.state === 'queued' && run.line !== undefined && run.stages.length === 0;

/** The runs in line, the next one first, as far as the store tells: with several machines each has a line of its own. */
export async function queuedRuns(store: Pick<Store, 'lined'>): Promise<readonly RunId[]> {
  const { waiting, placed } = await store.lined();
  return lineOrder(waiting, placed).map(({ id }) => id);
}

/**
 * How many of those in line are told where they stand, and how often; milliseconds. Our defaults: an edit is a write, of
 * which an installation has 400 an hour for everything. Whoever stands further behind is told once, up to the fortieth.
 */
const REFRESHED_POSITIONS = 10;
const REFRESH_AFTER_MS = 5 * 60_000;
const ANNOUNCED_POSITIONS = 40;

/** Says to runs in line where they stand. `told` remembers when each was told last, by the clock that never jumps. */
export async function announceQueue(
  world: Pick<World, 'store' | 'announcer' | 'clock'>,
  told: Map<RunId, number>,
): Promise<void> {
  const order = await queuedRuns(world.store);
  const now = world.clock.elapsed();
  for (const id of told.keys()) if (!order.includes(id)) told.delete(id);
  for (const [at, id] of order.slice(0, ANNOUNCED_POSITIONS).entries()) {
    const last = told.get(id);
    if (last !== undefined && (at >= REFRESHED_POSITIONS || now - last < REFRESH_AFTER_MS)) continue;
    told.set(id, now);
    world.announcer.soon(id);
  }
}
