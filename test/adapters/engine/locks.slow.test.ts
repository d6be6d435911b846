import { expect, test } from 'vitest';
import { lockExecutor, lockedExecutors } from '../../../src/adapters/engine/locks.ts';
import { freshDatabase } from '../../world/database.ts';
import { silent } from '../../world/silent-log.ts';

test('whether a process works under a name can be seen without taking its lock', async () => {
  const { url, drop } = await freshDatabase();
  const there = async (name: string) => (await lockedExecutors(url, ['nobody', name])).has(name);
  expect(await there('cli-r1')).toBe(false);
  const lock = await lockExecutor(url, 'cli-r1', silent);
  expect([await there('cli-r1'), await there('cli-r2')]).toEqual([true, false]);
  // To look takes no lock: the process that has it keeps it, and another one is still refused.
  await expect(lockExecutor(url, 'cli-r1', silent)).rejects.toMatchObject({ code: 'ALREADY_RUNNING' });
  await lock.release();
  expect(await there('cli-r1')).toBe(false);
  await drop();
});
