import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { overFile, readEnvFile, withPrivateKey } from '../../../src/adapters/config/index.ts';
import { parseEnvironment } from '../../../src/core/settings/index.ts';

const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----\n';
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'runoff-env-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(dir, name), text);
  return join(dir, name);
};

test('a .env file, with comments, quotes and lines in quotes', async () => {
  const path = await file(
    '.env',
    `# ours\nPORT=4000\nexport LOG_LEVEL="debug"\nPRIVATE_KEY="${PEM.trim()}"\nEMPTY=\n`,
  );
  expect(await readEnvFile(path)).toEqual({
    PORT: '4000',
    LOG_LEVEL: 'debug',
    PRIVATE_KEY: PEM.trim(),
    EMPTY: '',
  });
});

test('no file, or a folder in its place, is a fault', async () => {
  await expect(readEnvFile(join(dir, 'nowhere', '.env'))).rejects.toMatchObject({
    code: 'ENVIRONMENT_INVALID',
    message: expect.stringContaining('There is no settings file'),
  });
  await expect(readEnvFile(dir)).rejects.toMatchObject({ code: 'ENVIRONMENT_INVALID' });
});

test('the real environment wins', () => {
  expect(overFile({ PORT: '4000', HOST: '::1' }, { PORT: '5000', LOG_LEVEL: undefined })).toEqual({
    PORT: '5000',
    HOST: '::1',
  });
  expect(overFile({ LOG_LEVEL: 'debug' }, { LOG_LEVEL: undefined })).toEqual({ LOG_LEVEL: 'debug' });
});

test('the private key is read from its file, unless it is given', async () => {
  const path = await file('key.pem', PEM);
  const env = {
    APP_ID: '7',
    WEBHOOK_SECRET: '0123456789abcdef',
    RUNOFF_DATA: '/data',
    PRIVATE_KEY_PATH: path,
  };
  expect(parseEnvironment(await withPrivateKey(env))).toMatchObject({
    operator: { app: { privateKey: PEM.trim() } },
  });
  expect(await withPrivateKey({ ...env, PRIVATE_KEY: 'given' })).toMatchObject({ PRIVATE_KEY: 'given' });
  expect(await withPrivateKey({ PORT: '1' })).toEqual({ PORT: '1' });
  await expect(withPrivateKey({ PRIVATE_KEY_PATH: join(dir, 'nowhere') })).rejects.toMatchObject({
    code: 'ENVIRONMENT_INVALID',
    message: expect.stringContaining('there is no file'),
  });
});
