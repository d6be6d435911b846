import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { ACP_PATH } from '../../../src/adapters/coders/acp/index.ts';
import { commandCoder, namedCoder } from '../../../src/adapters/coders/index.ts';
import type { AgentCommand } from '../../../src/core/settings/index.ts';
import type { CoderInput } from '../../../src/ports/index.ts';
import { coderContract } from '../../contracts/coder.suite.ts';

const input: CoderInput = {
  model: 'vendor/some-model-1',
  protocol: 'openai-chat',
  prompt: `Mend "this"; $(touch pwned) \`id\`\n${'é'.repeat(100_000)}`,
  wallSeconds: 900,
  gateway: { url: 'http://127.0.0.1:8123', key: 'gw-canary' },
  argv: ['bash', '-c', 'cat; env', '--model=$RUNOFF_MODEL'],
  seed: 3,
};
const aider: AgentCommand = {
  argv: ['/opt/aider/bin/aider', '--yes'],
  speaks: 'command',
  protocols: ['openai-chat', 'anthropic'],
  env: { AIDER_CHECK_UPDATE: 'false' },
};
const agents = { acp: namedCoder('mine', { ...aider, speaks: 'acp' }), plain: namedCoder('aider', aider) };

const LINES = ['Applied edit to src/shop.ts', '\u001b[32m✓ tests pass\u001b[0m'];
coderContract('command', () => ({ coder: commandCoder(), steps: LINES, end: null, argv: input.argv }));
coderContract('operator’s own', () => ({ coder: agents.plain, steps: LINES, end: null }));
coderContract('operator’s own ACP', () => ({
  coder: agents.acp,
  steps: ['{"type":"says","text":"allowed: Write hello.txt"}'],
  end: { line: '{"type":"end","ok":false,"text":"The agent refused to continue."}', ok: false },
}));

describe('a program named by a contestant', () => {
  test("gets its task unchanged, and its model's address under the usual names", async () => {
    const { argv, env, stdin } = commandCoder().launch(input);
    const [program, ...words] = argv;
    const child = spawn(program, words, { env: { PATH: process.env.PATH, ...env } });
    child.stdin.end(stdin);
    const printed = await text(child.stdout);
    expect(printed.startsWith(input.prompt)).toBe(true);
    expect(printed.slice(input.prompt.length).split('\n')).toEqual(
      expect.arrayContaining([
        'OPENAI_BASE_URL=http://127.0.0.1:8123/v1',
        'OPENAI_API_KEY=gw-canary',
        'RUNOFF_MODEL=vendor/some-model-1',
        'RUNOFF_PROTOCOL=openai-chat',
        'RUNOFF_WALL_SECONDS=900',
        'RUNOFF_SEED=3',
      ]),
    );
  });

  test.each([
    ['anthropic', { ANTHROPIC_BASE_URL: 'http://127.0.0.1:8123', ANTHROPIC_API_KEY: 'gw-canary' }],
    ['openai-responses', { OPENAI_BASE_URL: 'http://127.0.0.1:8123/v1', OPENAI_API_KEY: 'gw-canary' }],
    ['gemini', { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:8123', GEMINI_API_KEY: 'gw-canary' }],
  ] as const)('for %s gets only the names of that protocol', (protocol, names) => {
    const { env } = commandCoder().launch({ ...input, protocol });
    expect(env).toMatchObject(names);
    expect(Object.values(env).filter((value) => value === 'gw-canary')).toHaveLength(1);
  });

  test('is started with its exact arguments: no shell, no substitution', () => {
    expect(commandCoder().launch(input).argv).toEqual(input.argv);
  });

  test('is shown line by line, and none of its lines counts as success', () => {
    const coder = commandCoder();
    expect(coder.read('\u001b[32m✓ tests pass\u001b[0m')).toEqual([
      { kind: 'output', text: '[32m✓ tests pass [0m', detail: '✓ tests pass', piece: true },
    ]);
    expect(coder.read(' \t')).toEqual([]);
    expect(coder.read('{"type":"end","ok":true,"text":"Done."}')).toMatchObject([{ kind: 'output' }]);
  });
});

describe('a program named by the operator', () => {
  test("has the operator's arguments and variables, but Runoff's address of the model", () => {
    const coder = namedCoder('aider', {
      ...aider,
      env: { ...aider.env, OPENAI_BASE_URL: 'http://elsewhere' },
    });
    const { argv, env } = coder.launch(input);
    expect(argv).toEqual(aider.argv);
    expect(env).toMatchObject({ AIDER_CHECK_UPDATE: 'false', OPENAI_BASE_URL: 'http://127.0.0.1:8123/v1' });
    expect(coder).toMatchObject({
      name: 'aider',
      protocols: aider.protocols,
      wantsArgv: false,
      experimental: false,
    });
  });

  test("that speaks the Agent Client Protocol is controlled by Runoff's driver", () => {
    const { argv, stdin } = agents.acp.launch(input);
    expect(argv.slice(1)).toEqual([ACP_PATH, '--wall-seconds=900', '--', ...aider.argv]);
    expect(stdin).toBe(input.prompt);
    expect(agents.acp.experimental).toBe(true);
  });

  test.each([
    ['/opt/aider', '/opt/aider'],
    ['/opt/tools/../aider/', '/opt/aider'],
    ['/srv/aider', '/opt/agents/aider'],
    ['/opt/../etc', '/opt/agents/aider'],
    ['/opt', '/opt/agents/aider'],
    ['/opt/toolchain', '/opt/agents/aider'],
    ['/opt/toolchain/bin', '/opt/agents/aider'],
    ['/opt/tools/aider', '/opt/agents/aider'],
    ['/opt/agents', '/opt/agents/aider'],
  ])('in %s is mounted at %s', (folder, to) => {
    const [bind] = namedCoder('aider', { ...aider, folder }).launch(input).binds ?? [];
    expect(bind?.to).toBe(to);
  });

  test('has a hash of its arguments as version, and none without its folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agent-'));
    const version = (command: AgentCommand) => namedCoder('aider', command).version();
    try {
      expect(await version({ ...aider, folder })).toMatch(/^argv [0-9a-f]{12}$/);
      expect(await version({ ...aider, folder })).toBe(await version(aider));
      expect(await version({ ...aider, argv: ['/opt/aider/bin/aider'] })).not.toBe(await version(aider));
      expect(await version({ ...aider, folder: join(folder, 'gone') })).toBeNull();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
