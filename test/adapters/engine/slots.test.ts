import { Semaphore } from 'async-mutex';
import { expect, test } from 'vitest';
import { inSlot } from '../../../src/adapters/engine/run-queue.ts';

const never = new AbortController().signal;

test('a candidate that is cancelled while it waits for a slot never begins, and the one behind it does', async () => {
  const slots = new Semaphore(1);
  const first = Promise.withResolvers<string>();
  const cancelling = new AbortController();
  const begun: string[] = [];
  const code = (alias: string, work = Promise.resolve(alias)) => {
    begun.push(alias);
    return work;
  };
  const a = inSlot(slots, never, () => code('A', first.promise));
  const b = inSlot(slots, cancelling.signal, () => code('B'));
  const c = inSlot(slots, never, () => code('C'));
  cancelling.abort(new Error('The run was cancelled.'));
  await expect(b).rejects.toThrow('The run was cancelled.');
  first.resolve('A');
  expect(await Promise.all([a, c])).toEqual(['A', 'C']);
  expect(begun).toEqual(['A', 'C']);
});

test('a candidate that is cancelled at work keeps its slot until its work has ended', async () => {
  const slots = new Semaphore(1);
  const cancelling = new AbortController();
  const ending = Promise.withResolvers<void>();
  const first = inSlot(slots, cancelling.signal, () => ending.promise);
  let begun = false;
  const second = inSlot(slots, never, async () => {
    begun = true;
  });
  await Promise.resolve();
  cancelling.abort(new Error('The run was cancelled.'));
  await new Promise(setImmediate);
  expect(begun).toBe(false);
  ending.resolve();
  await Promise.all([first, second]);
  expect(begun).toBe(true);
});
