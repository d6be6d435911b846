import { expect, test } from 'vitest';
import { closing, disposedOnFailure } from '../../src/compose/index.ts';

test('all are closed, the last first, and the first failure is told', async () => {
  const cleanups = new AsyncDisposableStack();
  const close = closing(cleanups);
  const closed: string[] = [];
  for (const name of ['database', 'store', 'engine']) {
    cleanups.defer(async () => {
      closed.push(name);
      if (name !== 'database') throw new Error(`the ${name} does not close`);
    });
  }
  await expect(close()).rejects.toThrow('the engine does not close');
  await expect(close()).rejects.toThrow('the engine does not close');
  expect(closed).toEqual(['engine', 'store', 'database']);
});

test('work that fails is closed, and its own failure is told', async () => {
  const cleanups = new AsyncDisposableStack();
  let closed = false;
  const work = disposedOnFailure(cleanups, async () => {
    cleanups.defer(async () => {
      closed = true;
      throw new Error('it does not close either');
    });
    throw new Error('the port is busy');
  });
  await expect(work).rejects.toThrow('the port is busy');
  expect(closed).toBe(true);
});

test('work that succeeds stays open', async () => {
  const cleanups = new AsyncDisposableStack();
  let closed = false;
  await disposedOnFailure(cleanups, async () => {
    cleanups.defer(async () => {
      closed = true;
    });
  });
  expect(closed).toBe(false);
});
