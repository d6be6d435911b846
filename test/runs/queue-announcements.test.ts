import { expect, test } from 'vitest';
import type { RunId } from '../../src/core/model/index.ts';
import { announceQueue } from '../../src/runs/index.ts';
import { memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';

const MINUTE = 60_000;

/** A line of so many runs, and whom a look tells where they stand. */
async function lineOf(count: number) {
  const store = memoryStore();
  const told = new Map<RunId, number>();
  let now = 0;
  const ids = Array.from({ length: count }, (_, i) => `r${String(i).padStart(10, '0')}`);
  for (const [i, id] of ids.entries()) {
    await store.createRun({ id, origin: githubOrigin({ issue: i }), title: id, request: null, at: i });
    await store.updateRun(id, { queueEntry: { share: 'repository 42', priority: 1, since: i } }, i);
  }
  const look = async (at: number): Promise<readonly number[]> => {
    now = at;
    const said: RunId[] = [];
    const announcer = {
      soon: (id: RunId) => void said.push(id),
      finish: async () => {},
      idle: async () => {},
    };
    const clock = { now: () => now, elapsed: () => now, sleep: async () => {} };
    await announceQueue({ store, announcer, clock }, told);
    return said.map((id) => ids.indexOf(id));
  };
  return { store, ids, look };
}

test('the first forty queued runs show their position, and the first ten are updated after 5 minutes', async () => {
  const { look } = await lineOf(50);
  expect(await look(0)).toEqual(Array.from({ length: 40 }, (_, i) => i));
  expect(await look(4 * MINUTE)).toEqual([]);
  expect(await look(5 * MINUTE)).toEqual(Array.from({ length: 10 }, (_, i) => i));
});

test('a queued run that moves up is updated in turn, and one that left the queue is not', async () => {
  const { store, ids, look } = await lineOf(42);
  await look(0);
  for (const id of ids.slice(0, 2)) await store.transition(id, 'cancelled', 'asked', 1);
  expect(await look(MINUTE)).toEqual([40, 41]);
  expect(await look(5 * MINUTE)).toEqual(Array.from({ length: 10 }, (_, i) => i + 2));
});
