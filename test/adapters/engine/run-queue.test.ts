import { expect, test, vi } from 'vitest';
import { openRunQueue } from '../../../src/adapters/engine/run-queue.ts';
import type { WaitingRun } from '../../../src/core/model/index.ts';

const who = (id: string, returning = false): WaitingRun => ({
  id,
  share: 's',
  priority: 1,
  since: 0,
  returning,
});
const never = new AbortController().signal;

test('runs that had a slot before return even while new runs may not begin', async () => {
  vi.useFakeTimers();
  try {
    let may = false;
    const line = openRunQueue({ slots: 2, mayBegin: () => may, retryMs: 1_000 });
    const began: string[] = [];
    void line.acquire(who('new'), never).then(() => began.push('new'));
    void line.acquire(who('back', true), never).then(() => began.push('back'));
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

test('a run that is cancelled in the queue rejects with the reason and takes no slot', async () => {
  const line = openRunQueue({ slots: 1 });
  await line.acquire(who('r1'), never);
  const cancelling = new AbortController();
  const second = line.acquire(who('r2'), cancelling.signal);
  const third = line.acquire(who('r3'), never);
  cancelling.abort(new Error('cancelled'));
  await expect(second).rejects.toThrow('cancelled');
  line.release('r1');
  await third;
  await expect(line.acquire(who('r4'), AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});
