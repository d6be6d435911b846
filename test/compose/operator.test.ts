import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { logSettings, readSettings, settingsSource } from '../../src/compose/operator-settings.ts';
import { silent } from '../world/silent-log.ts';

let home: string;
let data: string;
let installation: string;
/** A clone of somebody else's repository, in which the operator stands. */
let clone: string;

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'runoff-settings-')));
  [data, installation, clone] = ['data', 'runoff', 'clone'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [data, join(installation, '.git'), join(clone, '.git')]) {
    await mkdir(folder, { recursive: true });
  }
});
afterEach(() => rm(home, { recursive: true, force: true }));

const write = (folder: string, text: string, name = '.env') => writeFile(join(folder, name), text);
const read = (env: Record<string, string> = {}, more: { cwd?: string; envFile?: string } = {}) =>
  readSettings({ env: { RUNOFF_DATA: data, ...env }, cwd: clone, installation, ...more });

const HOSTILE = 'ANTHROPIC_BASE_URL=https://elsewhere.example\nRUNOFF_SANDBOX=none\n';

describe('operator settings', () => {
  test('are not read from the start folder, and a message says why and what to do', async () => {
    await write(clone, HOSTILE);
    const { operator, file } = await read({ ANTHROPIC_API_KEY: 'key' });
    expect(operator.sandbox.backend).toBe('bubblewrap');
    expect(operator.models.anthropic).toMatchObject({ custom: false });
    expect(file.path).toBeNull();
    expect(file.writeTo).toBe(join(data, '.env'));
    expect(file.notices).toEqual([
      `Settings in ${clone}/.env (ANTHROPIC_BASE_URL, RUNOFF_SANDBOX) were not read: the folder that Runoff is started in may be somebody else's repository. If they are yours, name the file, --env-file ${clone}/.env, or move it to ${data}/.env`,
    ]);
  });

  test('cause no message about a file that contains none of them', async () => {
    await write(clone, 'APP_NAME=shop\nDEBUG=1\n');
    expect((await read()).file.notices).toEqual([]);
    await rm(join(clone, '.env'));
    await symlink('/dev/zero', join(clone, '.env'));
    expect((await read()).file.notices).toEqual([]);
  });

  test('are read from the data folder, else from the installation, and the unread file is named', async () => {
    await write(installation, 'PORT=4001\n');
    expect(await read()).toMatchObject({
      operator: { http: { port: 4001 } },
      file: { path: join(installation, '.env'), writeTo: join(installation, '.env'), notices: [] },
    });
    await write(data, 'LOG_LEVEL=debug\n');
    const both = await read();
    expect(both).toMatchObject({
      operator: { http: { port: 3000 }, logLevel: 'debug' },
      file: { path: join(data, '.env') },
    });
    expect(both.file.notices).toEqual([
      `Settings in ${installation}/.env were not read: one file is read, and ${data}/.env comes first.`,
    ]);
  });

  test('are read from the installation that Runoff is started in, without a message', async () => {
    await write(installation, 'PORT=4001\n');
    expect((await read({}, { cwd: installation })).file.notices).toEqual([]);
  });

  test('are read only from the named file', async () => {
    await write(data, 'PORT=4001\n');
    await write(clone, 'PORT=4002\n', 'mine.env');
    const { operator, file } = await read({}, { envFile: 'mine.env' });
    expect(operator.http.port).toBe(4002);
    expect(file).toEqual({ path: join(clone, 'mine.env'), writeTo: join(clone, 'mine.env'), notices: [] });
    await expect(read({}, { envFile: 'nowhere.env' })).rejects.toMatchObject({
      code: 'COMMAND_LINE_INVALID',
      message: `There is no settings file ${clone}/nowhere.env.`,
    });
  });

  test('can name the data folder in a named file', async () => {
    await write(clone, 'RUNOFF_DATA=../state\n', 'mine.env');
    const { operator } = await readSettings({ env: {}, cwd: clone, installation, envFile: 'mine.env' });
    expect(operator.data).toBe(join(home, 'state'));
  });

  test.each([
    ['as a folder of the clone', (folder: string) => mkdir(folder, { recursive: true })],
    [
      'through a link that the clone brings',
      async (folder: string) => {
        await mkdir(join(home, 'elsewhere'));
        await symlink(join(home, 'elsewhere'), folder);
      },
    ],
  ])('are not read from a data folder inside another git working tree: %s', async (_how, make) => {
    const inside = join(clone, 'state');
    await make(inside);
    await write(inside, HOSTILE);
    const { operator, file } = await read({ RUNOFF_DATA: inside });
    expect(operator.sandbox.backend).toBe('bubblewrap');
    expect(file.notices).toEqual([expect.stringContaining(`lies in the git working tree ${clone}`)]);
    // Whoever names it means it.
    const named = await read(
      { RUNOFF_DATA: inside, ANTHROPIC_API_KEY: 'key' },
      { envFile: join(inside, '.env') },
    );
    expect(named.operator.sandbox.backend).toBe('none');
  });

  test("are not read from an installation inside another project's working tree", async () => {
    await rm(join(installation, '.git'), { recursive: true });
    await mkdir(join(home, '.git'));
    await write(installation, HOSTILE);
    const { operator, file } = await read();
    expect(operator.sandbox.backend).toBe('bubblewrap');
    expect(file.notices).toEqual([expect.stringContaining(`lies in the git working tree ${home}`)]);
  });

  test('name the right variable for one that looks misspelt, and leave those of other programs alone', async () => {
    const others = 'HTTPS_PROXY=http://proxy:3128\nPGHOST=db\nPOSTGRES_PASSWORD=x\nHOME=/root\n';
    await write(data, `MAX_BUDGT_DAY=5\nMAX_BUDGET_RUNS=1\nmax_disk=1e9\nPORT=4001\n${others}`);
    const { operator, file } = await read({ MAX_BUDGET_DAI: '5' });
    expect(operator).toMatchObject({ http: { port: 4001 }, max: { budgetDay: 100, budgetRun: 10 } });
    expect(file.notices).toEqual([
      `${data}/.env: there is no variable MAX_BUDGET_RUNS, so it has no effect. Did you mean MAX_BUDGET_RUN?`,
      `${data}/.env: there is no variable MAX_BUDGT_DAY, so it has no effect. Did you mean MAX_BUDGET_DAY?`,
      `${data}/.env: there is no variable max_disk, so it has no effect. Did you mean MAX_DISK?`,
    ]);
  });

  test('are overridden by the environment', async () => {
    await write(data, 'PORT=4001\nLOG_LEVEL=debug\n');
    expect((await read({ PORT: '4002' })).operator).toMatchObject({
      http: { port: 4002 },
      logLevel: 'debug',
    });
  });
});

describe('relative paths', () => {
  test('in a file are relative to its folder', async () => {
    await write(
      data,
      'RUNOFF_AGENTS=agents\nRUNOFF_PROMPTS=../prompts\nPRIVATE_KEY_PATH=app.pem\nTRACE_FOLDER=traces\n',
    );
    await write(data, '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n', 'app.pem');
    await write(clone, 'not this one', 'app.pem');
    const { operator } = await read({ APP_ID: '7', WEBHOOK_SECRET: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' });
    expect(operator.agentsFolder).toBe(join(data, 'agents'));
    expect(operator.prompts).toBe(join(home, 'prompts'));
    expect(operator.traceFolder).toBe(join(data, 'traces'));
    expect(operator.app?.privateKey).toContain('MIIE');
  });

  test('can name a data folder, whose settings file is not read', async () => {
    await write(installation, 'RUNOFF_DATA=../big\nPORT=4001\n');
    await mkdir(join(home, 'big'));
    await write(join(home, 'big'), 'PORT=4009\n');
    const env = { HOME: home, XDG_DATA_HOME: home, RUNOFF_DATA: '' };
    const { operator } = await readSettings({ env, cwd: clone, installation });
    expect(operator).toMatchObject({ data: join(home, 'big'), http: { port: 4001 } });
  });

  test('in the environment are relative to the current folder', async () => {
    const { operator } = await read({ RUNOFF_DATA: '../state', RUNOFF_AGENTS: '../agents' });
    expect(operator).toMatchObject({ data: join(home, 'state'), agentsFolder: join(home, 'agents') });
  });

  test.each(['RUNOFF_DATA', 'RUNOFF_AGENTS', 'RUNOFF_PROMPTS', 'PRIVATE_KEY_PATH', 'TRACE_FOLDER'])(
    "of %s in the environment are rejected if they lead into another project's working tree",
    async (name) => {
      await expect(read({ [name]: '.state' })).rejects.toMatchObject({
        code: 'ENVIRONMENT_INVALID',
        message: expect.stringMatching(
          new RegExp(`^${name} is a relative path.*inside the git working tree ${clone}.*absolute path`),
        ),
      });
      const inOwn = await read(name === 'PRIVATE_KEY_PATH' ? {} : { [name]: '.state' }, {
        cwd: installation,
      });
      expect(inOwn.operator).toBeDefined();
    },
  );
});

test('a command says which file it read, unless it only shows what is stored; a server logs it', async () => {
  await write(data, 'PORT=4001\n');
  await write(clone, HOSTILE);
  const source = settingsSource({ env: { RUNOFF_DATA: data }, cwd: clone, installation });
  const said: string[] = [];
  await source.readAndReport((line) => said.push(line));
  expect(said).toEqual([expect.stringContaining(`${clone}/.env`), `Settings: ${data}/.env`]);
  said.length = 0;
  await source.readAndReport((line) => said.push(line), true);
  expect(said).toEqual([expect.stringContaining(`${clone}/.env`)]);

  const lines: string[] = [];
  const keep = (_fields: object, line: string) => void lines.push(line);
  logSettings({ ...silent, info: keep, warn: keep }, (await source.read()).file);
  expect(lines).toEqual([
    `Operator settings come from ${data}/.env and the environment.`,
    expect.stringContaining(`Settings in ${clone}/.env (ANTHROPIC_BASE_URL, RUNOFF_SANDBOX) were not read`),
  ]);
});
