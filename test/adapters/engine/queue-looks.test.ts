import { expect, test } from 'vitest';
import { openQueueLooks } from '../../../src/adapters/engine/dbos-internals.ts';

/** Polls a queue every 100 ms for so long; returns how many of the polls ask the database. */
function asked(looks: ReturnType<typeof openQueueLooks>, time: { ms: number }, forMs: number): number {
  let count = 0;
  for (const until = time.ms + forMs; time.ms < until; time.ms += 100) if (looks.isDue('coders')) count += 1;
  return count;
}

test('an idle process asks for work of others once a second, and each time for a second after it has changed something', () => {
  const time = { ms: 0 };
  const looks = openQueueLooks(() => time.ms);
  expect(asked(looks, time, 1_000)).toBe(10);
  expect(asked(looks, time, 60_000)).toBeLessThanOrEqual(61);

  looks.wake();
  expect(asked(looks, time, 1_000)).toBe(10);
  // Each queue has turns of its own.
  time.ms += 30_000;
  expect([looks.isDue('runs'), looks.isDue('coders')]).toEqual([true, true]);
  expect([looks.isDue('runs'), looks.isDue('coders')]).toEqual([false, false]);
});
