import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openModel } from '../../src/adapters/models/index.ts';
import { Brief } from '../../src/core/model/index.ts';
import { copySample, ISSUE, SAMPLE_MODELS, SCRIPTED_PRICES, SCRIPTS } from '../../src/demo/sample/index.ts';
import { NODE, openBench } from '../adapters/coders/workbench.ts';
import { ANTHROPIC_KEY, OPENAI_KEY } from '../adapters/gateway/rig.ts';

type Name = 'heron' | 'otter' | 'mole' | 'wren';
let bench: Awaited<ReturnType<typeof openBench>>;
let base: string;
/** Each contestant's repository after its work. */
const repos = new Map<Name, string>();
const repo = (name: Name) => repos.get(name) ?? '';

beforeAll(async () => {
  bench = await openBench();
  base = join(bench.home, 'base');
  await copySample(base);
  await git('init', '--quiet');
  await git('add', '--all');
  await git(
    '-c',
    'user.name=Alice',
    '-c',
    'user.email=alice@example.com',
    'commit',
    '--quiet',
    '--message',
    'Base',
  );
  for (const model of SAMPLE_MODELS) {
    const cwd = join(bench.home, model.replace('/', '-'));
    await cp(base, cwd, { recursive: true });
    const lease = await bench.rig.open({ spender: model, models: [model] });
    const work = await bench.work(cwd, lease, bench.rig.gateway.route(model));
    expect(work.events.at(-1)).toMatchObject({ kind: 'end', ok: true });
    repos.set(model.replace(/.*-/, '') as Name, cwd);
  }
});
afterAll(() => bench?.[Symbol.asyncDispose]());

async function run(cwd: string, ...argv: readonly string[]): Promise<{ ok: boolean; output: string }> {
  const [file = '', ...args] = argv;
  try {
    const { stdout, stderr } = await promisify(execFile)(file, args, {
      cwd,
      env: { PATH: process.env.PATH },
    });
    return { ok: true, output: stdout + stderr };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { ok: false, output: stdout + stderr };
  }
}
const git = (...argv: readonly string[]) => run(base, 'git', ...argv);
const suite = (cwd: string, ...files: readonly string[]) => run(cwd, NODE, '--test', ...files);
const build = (cwd: string) => run(cwd, NODE, 'scripts/build.mjs');
const changed = async (cwd: string) =>
  (await run(cwd, 'git', 'status', '--porcelain')).output.trim().split('\n');

/** Runs a test file of one contestant on the code of another. */
async function crossed(test: string, of: Name, on: Name): Promise<{ ok: boolean; output: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'cross-'));
  try {
    await cp(repo(on), dir, { recursive: true });
    await cp(join(repo(of), test), join(dir, test));
    return await suite(dir, test);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

describe('the sample project', () => {
  test('passes its tests and builds, with the problem of the issue in it', async () => {
    expect(await suite(base)).toMatchObject({ ok: true });
    expect(await build(base)).toMatchObject({ ok: true });
    expect(await changed(base)).toEqual(['']);
    const [, csv = ''] = /```\n(date[\s\S]*?)```/.exec(ISSUE.body) ?? [];
    const program = `import { readExpenses } from './src/expenses.js'; readExpenses(${JSON.stringify(csv)});`;
    const read = (cwd: string) => run(cwd, NODE, '--input-type=module', '--eval', program);
    expect((await read(base)).output).toContain('row 2 has 5 cells, expected 4');
    expect(await read(repo('heron'))).toMatchObject({ ok: true });
  });
});

describe('the scripted contestants, working through the gateway', () => {
  test('heron fixes it: all tests pass, the old ones unchanged', async () => {
    expect(await suite(repo('heron'))).toMatchObject({ ok: true });
    expect(await build(repo('heron'))).toMatchObject({ ok: true });
    expect(await changed(repo('heron'))).toEqual([
      'M README.md',
      ' M src/csv.js',
      '?? test/csv-quoted.test.js',
    ]);
  });

  test('otter looks right by its own test, which also passes on heron', async () => {
    expect(await suite(repo('otter'))).toMatchObject({ ok: true });
    expect(await build(repo('otter'))).toMatchObject({ ok: true });
    expect(await crossed('test/csv.test.js', 'otter', 'heron')).toMatchObject({ ok: true });
  });

  test('but heron’s tests show that doubled quotes and line breaks are still wrong', async () => {
    const { ok, output } = await crossed('test/csv-quoted.test.js', 'heron', 'otter');
    expect(ok).toBe(false);
    expect(output).toMatch(/(not ok|✖).*reads two quotes inside quotes as one/);
    expect(output).toMatch(/(not ok|✖).*keeps a line break inside quotes/);
    expect(output).toMatch(/(\nok|✔).*keeps a comma inside quotes/);
  });

  test('mole passes only because it removed assertions', async () => {
    expect(await suite(repo('mole'))).toMatchObject({ ok: true });
    const { output: diff } = await run(repo('mole'), 'git', 'diff', '--', 'test');
    expect(diff).toMatch(/^-.*assert\.throws/m);
    await cp(join(base, 'test'), join(repo('mole'), 'test'), { recursive: true });
    expect(await suite(repo('mole'))).toMatchObject({ ok: false });
  });

  test('wren leaves a broken build', async () => {
    const { ok, output } = await build(repo('wren'));
    expect(ok).toBe(false);
    expect(output).toContain('SyntaxError');
  });

  test('are paid for by the ledger, and only the gateway knew the keys', async () => {
    const spenders = new Set(bench.rig.ledger.rows.map((row) => row.spender));
    expect([...spenders]).toEqual([...SAMPLE_MODELS]);
    expect(bench.rig.ledger.rows.every((row) => row.exact && row.usd > 0)).toBe(true);
    for (const { headers, path } of bench.models.requests) {
      const key = path === '/v1/messages' ? headers['x-api-key'] : headers.authorization;
      expect(key).toBe(path === '/v1/messages' ? ANTHROPIC_KEY : `Bearer ${OPENAI_KEY}`);
      expect(JSON.stringify(headers)).not.toContain('gw-');
    }
    for (const cwd of repos.values()) {
      const { output } = await run(cwd, 'grep', '-rlE', 'canary|gw-', '.');
      expect(output).toBe('');
    }
  });
});

test('every script can be the planner, and has a price at both providers', async () => {
  for (const name of Object.keys(SCRIPTS)) {
    expect(SCRIPTED_PRICES).toHaveProperty([`anthropic/${name}`]);
    for (const model of [`anthropic/${name}`, `openai/${name}`]) {
      const lease = await bench.rig.open({ spender: 'brief', models: [model] });
      const route = bench.rig.gateway.route(model);
      const question = { route, lease, instructions: 'Plan.', prompt: ISSUE.body, schema: Brief };
      const answer = await openModel().ask(question);
      expect(answer).toMatchObject({
        kind: 'answer',
        value: { questions: [], files: ['src/csv.js', 'test/csv.test.js'] },
      });
      await lease.close();
    }
  }
});
