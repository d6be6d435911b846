import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentFindings, agentsOf } from '../../src/compose/agents.ts';
import { readOperator } from '../../src/compose/operator-settings.ts';

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

test('names and versions are checked without a folder, an operator or the network', () => {
  const agents = agentsOf(() => Promise.reject(new Error('must not be asked')));
  expect(() => agents.check({ name: 'claud-code' })).toThrow('Did you mean claude-code?');
  expect(() => agents.check({ name: 'codex', version: 'latest' })).toThrow('not an exact version of codex');
  expect(() => agents.check({ name: 'codex', version: '1.2.3' })).not.toThrow();
});
