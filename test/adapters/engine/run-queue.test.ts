import { expect, test, vi } from 'vitest';
import { openLine } from '../../../src/adapters/engine/run-queue.ts';
import type { Waiting } from '../../../src/core/queue/index.ts';

const who = (id: string, returning = false): Waiting => ({
  id,
  share: 's',
  priority: 1,
  since: 0,
  returning,
});
const never = new AbortController().signal;

test('while nobody may begin, those that had a place before still come back; the others begin when they may', async () => {
  vi.useFakeTimers();
  try {
    let may = false;
    const line = openLine({ places: 2, mayBegin: () => may, askEveryMs: 1_000 });
    const began: string[] = [];
    void line.take(who('new'), never).then(() => began.push('new'));
    void line.take(who('back', true), never).then(() => began.push('back'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(began).toEqual(['back']);
    may = true;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(began).toEqual(['back', 'new']);
    line.close();
  } finally {
    vi.useRealTimers();
  }
});

test('whoever is cancelled in line rejects with the reason and takes no place', async () => {
  const line = openLine({ places: 1 });
  await line.take(who('r1'), never);
  const cancelling = new AbortController();
  const second = line.take(who('r2'), cancelling.signal);
  const third = line.take(who('r3'), never);
  cancelling.abort(new Error('cancelled'));
  await expect(second).rejects.toThrow('cancelled');
  line.give('r1');
  await third;
  await expect(line.take(who('r4'), AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});
