import { expect, test } from 'vitest';
import { openPollSchedule } from '../../../src/adapters/engine/dbos-internals.ts';

/** Polls a queue every 100 ms for so long; returns how many of the polls ask the database. */
function asked(schedule: ReturnType<typeof openPollSchedule>, time: { ms: number }, forMs: number): number {
  let count = 0;
  for (const until = time.ms + forMs; time.ms < until; time.ms += 100)
    if (schedule.isDue('coders')) count += 1;
  return count;
}

test('an idle process asks for work of others once a second, and each time for a second after it has changed something', () => {
  const time = { ms: 0 };
  const schedule = openPollSchedule(() => time.ms);
  expect(asked(schedule, time, 1_000)).toBe(10);
  expect(asked(schedule, time, 60_000)).toBeLessThanOrEqual(61);

  schedule.expectWork();
  expect(asked(schedule, time, 1_000)).toBe(10);
  // Each queue has turns of its own.
  time.ms += 30_000;
  expect([schedule.isDue('runs'), schedule.isDue('coders')]).toEqual([true, true]);
  expect([schedule.isDue('runs'), schedule.isDue('coders')]).toEqual([false, false]);
});
