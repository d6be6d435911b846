import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openWorker } from '../../src/compose/worker.ts';
import { parseEnvironment } from '../../src/core/settings/index.ts';
import { furnish } from '../world/data-folder.ts';
import { freshDatabase } from '../world/database.ts';

const TOKEN = 'a-token-for-prometheus';
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

async function folderFor(name: string): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'runoff-worker-'));
  undo.push(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  await chmod(home, 0o711);
  return join(home, name);
}

async function operatorOf(env: Readonly<Record<string, string>>) {
  const data = await folderFor('data');
  const app = { APP_ID: '7', PRIVATE_KEY: privateKey, WEBHOOK_SECRET: '0123456789abcdef' };
  const parsed = parseEnvironment({ RUNOFF_DATA: data, LOG_LEVEL: 'silent', ...app, ...env });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return parsed.operator;
}

test('a worker with a port shows its health to everybody, and its metrics only with the token', async () => {
  const database = await freshDatabase();
  undo.push(() => database.drop());
  const operator = await operatorOf({
    DATABASE_URL: database.url,
    ARTIFACTS_URL: await folderFor('artifacts'),
    PORT: '0',
    METRICS_TOKEN: TOKEN,
  });
  await furnish(operator.data);
  const worker = await openWorker(operator);
  undo.push(() => worker.close());

  expect((await fetch(`${worker.url}/healthz`)).status).toBe(200);
  const figures = await fetch(`${worker.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(await figures.text()).toContain('runoff_executors{role="worker"} 1');
  expect((await fetch(`${worker.url}/metrics`)).status).toBe(404);
  const webhook = await fetch(`${worker.url}/api/github/webhooks`, { method: 'POST', body: '{}' });
  expect(webhook.status).toBe(503);
});

test('without a database or artifacts that are shared, or an App, a worker does not start and says what to set', async () => {
  await expect(openWorker(await operatorOf({}))).rejects.toMatchObject({
    code: 'ENVIRONMENT_INVALID',
    message: expect.stringContaining('DATABASE_URL is not set'),
  });
  const own = { DATABASE_URL: 'postgres://127.0.0.1/none' };
  await expect(openWorker(await operatorOf(own))).rejects.toMatchObject({
    code: 'ENVIRONMENT_INVALID',
    message: expect.stringContaining('ARTIFACTS_URL is not set'),
  });
  const half = await operatorOf({ ...own, ARTIFACTS_URL: '/mnt/artifacts', WEBHOOK_SECRET: '' });
  await expect(openWorker(half)).rejects.toThrow('WEBHOOK_SECRET missing');
});
