import { describe, expect, test } from 'vitest';
import { openFence } from '../../../src/adapters/engine/index.ts';
import { Fault } from '../../../src/core/model/index.ts';
import type { Executors } from '../../../src/ports/index.ts';
import { partial } from '../../world/partial.ts';
import { silent } from '../../world/silent-log.ts';

/** A fence with clocks that a test sets, over a database that answers what it is told to. */
function aFence() {
  const clock = { wall: 1_000_000, monotonic: 500 };
  const seen = { beats: 0, ended: 0 };
  let answer: () => Promise<'alive' | 'expired'> = async () => 'alive';
  const executors = partial<Executors>({
    beat: () => {
      seen.beats += 1;
      return answer();
    },
  });
  const fence = openFence({
    executors,
    clock: { now: () => clock.wall, elapsed: () => clock.monotonic },
    log: silent,
    heartbeat: { everyMs: 10_000, staleMs: 60_000 },
    onExpired: () => {
      seen.ended += 1;
    },
  });
  return {
    fence,
    clock,
    seen,
    answers: (next: typeof answer) => {
      answer = next;
    },
  };
}

describe('the fence of a process', () => {
  test('does not query the database while the last heartbeat is fresh', async () => {
    const { fence, clock, seen } = aFence();
    await fence.beat();
    clock.wall += 44_000;
    clock.monotonic += 44_000;
    await fence.check();
    expect(seen.beats).toBe(1);
  });

  const late = [
    ['the machine slept, and its monotonic clock with it', { wall: 46_000, monotonic: 0 }],
    ['somebody set the wall clock back while it was frozen', { wall: -3_600_000, monotonic: 46_000 }],
  ] as const;
  test.each(late)('asks the database %s', async (_how, { wall, monotonic }) => {
    const { fence, clock, seen, answers } = aFence();
    await fence.beat();
    clock.wall += wall;
    clock.monotonic += monotonic;
    expect(fence.isFresh()).toBe(false);
    await fence.check();
    expect(seen).toEqual({ beats: 2, ended: 0 });

    clock.monotonic += 46_000;
    answers(async () => 'expired');
    await expect(fence.check()).rejects.toMatchObject({ code: 'EXECUTOR_EXPIRED' });
    await expect(fence.check()).rejects.toMatchObject({ code: 'EXECUTOR_EXPIRED' });
    expect(seen).toEqual({ beats: 3, ended: 1 });
  });

  test('blocks everything and expires nobody while the database is away', async () => {
    const { fence, answers, seen } = aFence();
    answers(() => Promise.reject(new Fault('DATABASE_UNAVAILABLE', 'away')));
    await expect(fence.check()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    answers(async () => 'alive');
    await fence.check();
    expect(seen.ended).toBe(0);
  });
});
