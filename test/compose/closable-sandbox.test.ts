import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closableSandbox } from '../../src/compose/sandbox.ts';
import { openWorkbench, shell, type Workbench } from '../adapters/sandbox/workbench.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

/** Command lines of this machine that contain a mark. */
const linesWith = (mark: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes(mark));

test('no command runs once the sandbox is closed, whoever still waits for it, and none starts', async () => {
  const { sandbox, close } = closableSandbox(bench.sandbox);
  const mark = `8${randomBytes(4).readUInt32LE()}`;
  const starting = Promise.withResolvers<void>();
  const line = `(setsid sh -c 'trap "" TERM; sleep ${mark}' &); echo up; sleep ${mark}`;
  const running = sandbox.exec(shell(bench.area(), line, { onLine: () => starting.resolve() }));
  const own = new AbortController();
  const other = sandbox.exec(shell(bench.area(), `sleep ${mark}`, { signal: own.signal }));
  await starting.promise;
  own.abort();
  expect(await other).toMatchObject({ stopped: 'cancelled' });
  expect(linesWith(mark)).not.toEqual([]);
  await close();
  expect(linesWith(mark)).toEqual([]);
  expect(await running).toMatchObject({ stopped: 'cancelled', stdout: 'up\n' });
  expect(await sandbox.exec(shell(bench.area(), 'echo late'))).toMatchObject({
    stopped: 'cancelled',
    stdout: '',
  });
});
