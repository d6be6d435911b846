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

test('a .env file is read with its comments, quotes and multi-line values', async () => {
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

test.each([
  ['a line without a sign of equality', 'A=1\nOOPS\nB=2\n', 2],
  ['such a line at the end', 'A="x\ny"\nOOPS', 3],
  ['a line without a name', 'A=1\r\n\r\n  =sk-secret\r\n', 3],
  ['a colon', 'ANTHROPIC_API_KEY: sk-secret\n', 1],
])('%s is a fault that names the line and shows nothing of it', async (_name, text, line) => {
  const path = await file('malformed.env', text);
  const fault = await readEnvFile(path).catch((thrown: Error) => thrown);
  expect(fault).toMatchObject({
    code: 'ENVIRONMENT_INVALID',
    message: `Line ${line} of ${path} is neither NAME=value nor a # comment.`,
  });
});

test('blank lines, lines in quotes and quotes that nothing closes are no malformed lines', async () => {
  const text = '\n \t\nA=\'1\n2\'\nB=`x\n=y\n`\nC=it"s\nD="open\nE=5';
  expect(await readEnvFile(await file('odd.env', text))).toMatchObject({ A: '1\n2', C: 'it"s', E: '5' });
});

test('a missing file, or a folder in its place, is a fault', async () => {
  await expect(readEnvFile(join(dir, 'nowhere', '.env'))).rejects.toMatchObject({
    code: 'ENVIRONMENT_INVALID',
    message: expect.stringContaining('There is no settings file'),
  });
  await expect(readEnvFile(dir)).rejects.toMatchObject({ code: 'ENVIRONMENT_INVALID' });
});

test('the real environment takes precedence', () => {
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
