import { expect, test } from 'vitest';
import { openPollSchedule } from '../../../src/adapters/engine/dbos-internals.ts';

/** Polls a queue every 25 ms for so long; returns how many of the polls ask the database. */
function asked(schedule: ReturnType<typeof openPollSchedule>, time: { ms: number }, forMs: number): number {
  let count = 0;
  for (const until = time.ms + forMs; time.ms < until; time.ms += 25)
    if (schedule.isDue('coders')) count += 1;
  return count;
}

test('an idle process asks for work of others once a second', () => {
  const time = { ms: 0 };
  const schedule = openPollSchedule(() => time.ms);
  time.ms = 2_000;
  expect(asked(schedule, time, 60_000)).toBe(60);
});

test('after a change of its own it asks each time for a fifth of a second, then ten times a second for the rest of it', () => {
  const time = { ms: 0 };
  const schedule = openPollSchedule(() => time.ms);
  expect(asked(schedule, time, 200)).toBe(8);
  expect(asked(schedule, time, 800)).toBe(8);
  expect(asked(schedule, time, 60_000)).toBeLessThanOrEqual(61);

  schedule.expectWork();
  expect(asked(schedule, time, 200)).toBe(8);
  // Each queue has turns of its own.
  time.ms += 30_000;
  expect([schedule.isDue('runs'), schedule.isDue('coders')]).toEqual([true, true]);
  expect([schedule.isDue('runs'), schedule.isDue('coders')]).toEqual([false, false]);
});
