import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath as node } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { lockExecutor, lockedExecutors, withLaunchLock } from '../../../src/adapters/engine/locks.ts';
import { freshDatabase } from '../../world/database.ts';
import { silent } from '../../world/silent-log.ts';
import { tried } from '../../world/tried.ts';

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

const FROZEN_MS = 900;

test('a process that launches an engine keeps others from it, however long it takes', async () => {
  const { url, drop } = await freshDatabase();
  const events: string[] = [];
  const launch = async (name: string, ms: number) =>
    withLaunchLock(
      url,
      async () => {
        events.push(`${name} begins`);
        await delay(ms);
        events.push(`${name} ends`);
      },
      FROZEN_MS,
    );
  const first = launch('a', 3 * FROZEN_MS);
  await expect.poll(() => events).toEqual(['a begins']);
  await Promise.all([first, launch('b', 0)]);
  expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  await drop();
});

const FROZEN_WHILE_LAUNCHING = `
  import { withLaunchLock } from ${JSON.stringify(import.meta.resolve('../../../src/adapters/engine/locks.ts'))};
  await withLaunchLock(process.argv[1], async () => {
    process.stdout.write('launching');
    setTimeout(() => process.kill(process.pid, 'SIGSTOP'), 100);
    await new Promise((settle) => setTimeout(settle, 600_000));
  }, ${FROZEN_MS});`;

test('a process that is frozen while it launches an engine does not keep others from it', async () => {
  tried({
    id: 'frozen-launch',
    part: 'Several processes',
    what: 'A process is frozen while it launches its engine.',
    held: 'Another one launches when the server has ended the session of the frozen one.',
  });
  const { url, drop } = await freshDatabase();
  const frozen = spawn(node, ['--input-type=module', '--eval', FROZEN_WHILE_LAUNCHING, url]);
  await once(frozen.stdout, 'data');
  expect(await withLaunchLock(url, async () => 'launched')).toBe('launched');
  frozen.kill('SIGKILL');
  await drop();
});
