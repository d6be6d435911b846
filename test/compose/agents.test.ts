import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentFindings, agentsOf, modelFindings } from '../../src/compose/agents.ts';
import { readOperator } from '../../src/compose/operator-settings.ts';
import { json, startProvider } from '../adapters/gateway/rig.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'agents-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const operatorWith = (commands: object) =>
  readOperator({
    env: { RUNOFF_DATA: join(home, 'data'), AGENT_COMMANDS: JSON.stringify(commands) },
    cwd: home,
    installation: home,
  });
const listed = async (commands: object, name: string) =>
  (await agentsOf(() => operatorWith(commands)).list()).find((row) => row.name === name);
const found = async (commands: object, name: string) =>
  (await agentFindings(await operatorWith(commands), null)).filter((finding) => finding.name === name);

test("an operator's program with a missing folder is reported with that folder", async () => {
  const folder = join(home, 'aider');
  const commands = { aider: { argv: ['/opt/aider/bin/aider'], folder } };
  expect(await listed(commands, 'aider')).toMatchObject({ installed: null, missingFolder: folder });
  expect(await found(commands, 'coder aider')).toEqual([
    expect.objectContaining({ state: 'warning', detail: `its folder ${folder} is missing` }),
  ]);
  const [others] = await found(commands, 'other coders');
  expect(others?.detail).not.toContain('aider');

  await mkdir(folder);
  expect(await listed(commands, 'aider')).toMatchObject({
    from: 'operator',
    installed: expect.stringMatching(/^argv /),
    missingFolder: null,
  });
  expect(await found(commands, 'coder aider')).toEqual([expect.objectContaining({ state: 'ok' })]);
});

test("an operator's name that replaces a built-in one is noted", async () => {
  const commands = { codex: { argv: ['/usr/bin/env'] }, aider: { argv: ['/usr/bin/env'] } };
  expect(await listed(commands, 'codex')).toMatchObject({ from: 'operator', tested: null });
  expect(await found(commands, 'coder codex')).toContainEqual(
    expect.objectContaining({ state: 'warning', detail: expect.stringContaining('takes the place of') }),
  );
  expect(await found(commands, 'coder aider')).toEqual([expect.objectContaining({ state: 'ok' })]);
  expect(await listed({}, 'codex')).toMatchObject({
    from: 'npm',
    installed: null,
    tested: expect.stringMatching(/^\d/),
    missingFolder: null,
  });
});

test('a provider without a model of known price is reported, since no run could use it', async () => {
  const provider = await startProvider((_, response) => json(response, 200, { data: [{ id: 'small-1' }] }));
  const key = { OPENAI_API_KEY: 'sk-test-key-of-nobody', OPENAI_BASE_URL: `${provider.url}/v1` };
  const findings = async (env: Readonly<Record<string, string>>) =>
    modelFindings(
      await readOperator({
        env: { RUNOFF_DATA: join(home, 'data'), LOG_LEVEL: 'silent', ...env },
        cwd: home,
        installation: home,
      }),
    );
  try {
    expect(await findings(key)).toEqual([
      expect.objectContaining({
        name: 'provider openai',
        state: 'warning',
        detail: 'OPENAI_API_KEY (own address): 1 model, none with a known price, so no run can use them',
        remedy: expect.stringContaining('MODEL_PRICES'),
      }),
    ]);
    const prices = JSON.stringify({ 'openai/small-1': { input: 1, output: 1 } });
    for (const enough of [{ MODEL_PRICES: prices }, { MAX_TOKENS_CANDIDATE: '1000' }])
      expect(await findings({ ...key, ...enough })).toEqual([expect.objectContaining({ state: 'ok' })]);
  } finally {
    await provider.close();
  }
  expect(await findings({})).toEqual([
    expect.objectContaining({ detail: expect.stringContaining('`select`') }),
  ]);
});

test('names and versions are checked without a folder, an operator or the network', () => {
  const agents = agentsOf(() => Promise.reject(new Error('must not be asked')));
  expect(() => agents.check({ name: 'claud-code' })).toThrow('Did you mean claude-code?');
  expect(() => agents.check({ name: 'codex', version: 'latest' })).toThrow('not an exact version of codex');
  expect(() => agents.check({ name: 'codex', version: '1.2.3' })).not.toThrow();
});
