import { expect, test } from 'vitest';
import { closing, disposedOnFailure } from '../../src/compose/index.ts';

test('all resources are closed in reverse order, and the first failure is reported', async () => {
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

test('failed work closes its resources and reports its own failure', async () => {
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

test('successful work keeps its resources open', async () => {
  const cleanups = new AsyncDisposableStack();
  let closed = false;
  await disposedOnFailure(cleanups, async () => {
    cleanups.defer(async () => {
      closed = true;
    });
  });
  expect(closed).toBe(false);
});
