import { expect, test } from 'vitest';
import type { ExecutorRecord } from '../../src/ports/index.ts';
import { shellOver } from './shell.ts';

const APP: ExecutorRecord = {
  id: 'app-box',
  role: 'app',
  host: 'box',
  version: '0.1.0',
  coders: 0,
  examinations: 0,
  startedAt: 1_000,
  silentMs: 2_400,
};
const LEFT: ExecutorRecord = { ...APP, id: 'worker-big', role: 'worker', coders: 12, silentMs: null };

async function printed(...args: readonly string[]): Promise<string> {
  const { type, out } = shellOver({ store: { executors: async () => [APP, LEFT] } });
  expect(await type(...args)).toBe(0);
  return out();
}

test('`runoff workers` lists who shares the work, what each takes and its last heartbeat', async () => {
  const [head, app, left] = (await printed('workers')).split('\n');
  expect(head).toMatch(/^NAME +ROLE +HOST +VERSION +CODERS +EXAMINATIONS +LAST HEARTBEAT$/);
  expect(app).toMatch(/^app-box +app +box +0\.1\.0 +0 +0 +2 s ago$/);
  expect(left).toMatch(/^worker-big +worker +box +0\.1\.0 +12 +0 +stopped$/);
});

test('`runoff workers --json` prints the same as JSON', async () => {
  expect(JSON.parse(await printed('workers', '--json'))).toEqual([APP, LEFT]);
});
