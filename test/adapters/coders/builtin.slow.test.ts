import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { BUILTIN_PATH, builtinCoder, bundleBuiltinCoder } from '../../../src/adapters/coders/index.ts';
import type { Script, Scripts, Turn } from '../../../src/demo/scripted-models/index.ts';
import type { ModelRoute } from '../../../src/ports/index.ts';
import { coderContract } from '../../contracts/coder.suite.ts';
import { NODE, openBench } from './workbench.ts';

coderContract('builtin', () => ({
  coder: builtinCoder(),
  steps: [JSON.stringify({ type: 'command', text: 'bash: npm test' })],
  end: { line: JSON.stringify({ type: 'end', ok: true, text: 'Done.' }), ok: true },
}));

test('it is started with the sandbox’s own node, and nothing but protocol, model, time and seed', () => {
  const { argv, env } = builtinCoder().launch({
    model: 'm',
    protocol: 'openai-chat',
    prompt: 'x',
    wallSeconds: 60,
    seed: 2,
    gateway: { url: 'http://127.0.0.1:8123', key: 'gw-canary' },
  });
  const own = ['--protocol=openai-chat', '--model=m', '--wall-seconds=60', '--seed=2'];
  expect(argv).toEqual(['/opt/toolchain/bin/node', BUILTIN_PATH, ...own]);
  expect(env).toEqual({});
});

const call = (tool: string, input: Readonly<Record<string, unknown>>): Turn => ({
  kind: 'call',
  text: '',
  tool,
  input,
});
const CAREFUL: Script = {
  turns: [
    call('bash', { command: 'echo "key: $GW_KEY$GW_URL"' }),
    call('write', { path: 'a.txt', content: 'one' }),
    call('edit', { path: 'a.txt', old: 'one', new: 'two' }),
    call('edit', { path: '../a.txt', old: 'one', new: 'two' }),
    call('juggle', { balls: 3 }),
    call('write', { path: 7 }),
    { kind: 'text', text: 'All is done.' },
  ],
};
const WORKER: Scripts = {
  'scripted-heron': CAREFUL,
  'claude-sonnet-5': CAREFUL,
  'gpt-6-sol': CAREFUL,
  'gemini-2.5-pro': CAREFUL,
  'scripted-stork': { turns: [{ kind: 'hang' }], afterwards: 'repeat' },
  'scripted-mole': { turns: [call('bash', { command: 'echo again' })], afterwards: 'repeat' },
};

const ROUTES: readonly ModelRoute[] = [
  { protocol: 'anthropic', model: 'scripted-heron' },
  { protocol: 'openai-chat', model: 'scripted-heron' },
  { protocol: 'openai-responses', model: 'scripted-heron' },
  { protocol: 'gemini', model: 'gemini-2.5-pro' },
  // The vendors' own names make the SDK use what is special about these models.
  { protocol: 'anthropic', model: 'claude-sonnet-5' },
  { protocol: 'openai-responses', model: 'gpt-6-sol' },
];
const HERON = [
  'anthropic/scripted-heron',
  'openai/scripted-heron',
  'anthropic/claude-sonnet-5',
  'openai/gpt-6-sol',
  'google/gemini-2.5-pro',
];

describe('the builtin coder', () => {
  test.each(ROUTES)(
    'works with its tools over $protocol ($model), and goes on after mistakes',
    async (route) => {
      await using bench = await openBench(WORKER);
      const cwd = join(bench.home, 'repo');
      await mkdir(cwd);
      const lease = await bench.rig.open({ models: HERON });
      const done = await bench.work(cwd, lease, route);
      expect(done).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Error') });
      expect(await readFile(join(cwd, 'a.txt'), 'utf8')).toBe('two');
      expect(await readdir(cwd)).toEqual(['a.txt']);
      expect(done.events.map((event) => event.text)).toEqual(
        expect.arrayContaining(['bash: echo "key: $GW_KEY$GW_URL"', 'write: a.txt', 'edit: a.txt']),
      );
      expect(done.events.at(-1)).toEqual({ kind: 'end', ok: true, text: 'All is done.' });

      const last = bench.models.requests.at(-1)?.body ?? '';
      for (const said of ['key: \\n', 'edited a.txt', 'outside of the repository', 'juggle'])
        expect(last).toContain(said);
      expect(bench.models.requests).toHaveLength(7);
      expect(bench.rig.ledger.rows.every((row) => row.exact)).toBe(true);
      expect(done.stdout + last).not.toContain(lease.key);
    },
  );

  test('is told how to work, and what the task is', async () => {
    await using bench = await openBench(WORKER);
    await bench.work(bench.home, await bench.rig.open({ models: HERON }), ROUTES[0] as ModelRoute);
    const [first] = bench.models.requests;
    expect(first?.body).toContain('You are a software engineer');
    expect(first?.body).toContain('Mend what the issue says.');
  });

  test.each([
    ['openai-chat', 1],
    ['anthropic', 0],
  ] as const)('gives a repetition its seed where the protocol has one (%s)', async (protocol, seeded) => {
    await using bench = await openBench(WORKER);
    const route: ModelRoute = { protocol, model: 'scripted-heron' };
    const seeds = [];
    for (const seed of [0, 7]) {
      const before = bench.models.requests.length;
      await bench.work(bench.home, await bench.rig.open({ models: HERON }), route, { seed });
      seeds.push(
        bench.models.requests.slice(before).filter(({ body }) => /"seed":7\b/.test(body)).length > 0,
      );
    }
    expect(seeds).toEqual([false, seeded === 1]);
  });

  test('says its version and does nothing else when it is tried', async () => {
    await using bench = await openBench({});
    const { stdout } = await promisify(execFile)(NODE, [bench.program, '--version'], { env: {} });
    expect(stdout.trim()).toBe(await builtinCoder().version());
  });

  test('stops by itself before its time is over', async () => {
    await using bench = await openBench(WORKER);
    const lease = await bench.rig.open({ models: ['anthropic/scripted-stork'] });
    const stork: ModelRoute = { protocol: 'anthropic', model: 'scripted-stork' };
    const done = await bench.work(bench.home, lease, stork, { wallSeconds: 2 });
    expect(done.code).toBe(124);
    expect(done.events.at(-1)).toMatchObject({
      kind: 'end',
      ok: false,
      text: expect.stringContaining('limit of 2 s'),
    });
    await lease.close();
    expect(bench.rig.ledger.rows).toMatchObject([{ exact: false, status: 499 }]);
  });

  test.each(['anthropic', 'openai-chat'] as const)(
    'ends at once when its budget is used up (%s)',
    async (protocol) => {
      await using bench = await openBench(WORKER);
      const models = ['anthropic/scripted-mole', 'openai/scripted-mole'];
      const lease = await bench.rig.open({ models, capUsd: 0.02 });
      const done = await bench.work(bench.home, lease, { protocol, model: 'scripted-mole' });
      expect(done.events.at(-1)).toEqual({
        kind: 'end',
        ok: false,
        text: 'The budget for this work is used up.',
      });
      expect(lease.usage().usd).toBeLessThanOrEqual(0.02);
      expect(lease.usage().calls).toBeGreaterThan(1);
      expect(lease.refusal()).toContain('of A');
    },
  );

  test('reports what is wrong when its model does not exist', async () => {
    await using bench = await openBench({});
    const done = await bench.work(
      bench.home,
      await bench.rig.open({ models: HERON }),
      ROUTES[0] as ModelRoute,
    );
    expect(done.events).toEqual([{ kind: 'end', ok: false, text: 'The model answered with HTTP 404.' }]);
  });
});

describe('the bundle', () => {
  test('is one file that all may read, written only when the sources changed', async () => {
    await using bench = await openBench({});
    const { program } = bench;
    expect((await stat(program)).mode & 0o444).toBe(0o444);
    const past = new Date(0);
    await utimes(program, past, past);
    await bundleBuiltinCoder(program);
    expect((await stat(program)).mtimeMs).toBe(0);

    const whole = await readFile(program, 'utf8');
    await writeFile(program, whole.replace(/^\/\/ .*\n/, '// of another version\n'));
    await bundleBuiltinCoder(program);
    expect(await readFile(program, 'utf8')).toBe(whole);
    expect(await readdir(join(program, '..'))).toEqual(['builtin.mjs']);
  });

  test('holds no trace of where it was made', async () => {
    await using bench = await openBench({});
    expect(await readFile(bench.program, 'utf8')).not.toContain(process.cwd());
  });
});
