import { expect, test } from 'vitest';
import { openKeyedQueue } from '../../../src/adapters/git/locks.ts';

test('installs with the same inputs are made one after the other, others beside them', async () => {
  const queued = openKeyedQueue();
  const steps: string[] = [];
  const first = Promise.withResolvers<void>();
  const install = (name: string, until?: Promise<void>) => async () => {
    steps.push(`${name} begins`);
    await until;
    steps.push(`${name} ends`);
  };
  const all = [
    queued('npm', install('one', first.promise)),
    queued('npm', install('two')),
    queued('pip', install('other')),
  ];
  await all[2];
  expect(steps).toEqual(['one begins', 'other begins', 'other ends']);
  first.resolve();
  await Promise.all(all);
  expect(steps.slice(3)).toEqual(['one ends', 'two begins', 'two ends']);
});

test('an install that is cancelled while it waits is left out; one at work keeps the others waiting until it ends', async () => {
  const queued = openKeyedQueue();
  const cancelling = new AbortController();
  const first = Promise.withResolvers<void>();
  const begun: string[] = [];
  const work = (name: string, until?: Promise<void>) => () => {
    begun.push(name);
    return until ?? Promise.resolve();
  };
  const one = queued('npm', work('one', first.promise), cancelling.signal);
  const two = queued('npm', work('two'), cancelling.signal);
  const three = queued('npm', work('three'));
  await Promise.resolve();
  cancelling.abort();
  await expect(two).rejects.toMatchObject({ name: 'AbortError' });
  await new Promise(setImmediate);
  expect(begun).toEqual(['one']);
  first.reject(new Error('The install failed.'));
  await expect(one).rejects.toThrow('The install failed.');
  await three;
  expect(begun).toEqual(['one', 'three']);
});
