import type { ChildProcess } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { BaseResult, Sample } from '../../src/core/arena/index.ts';
import type { Scripts, Turn } from '../../src/demo/scripted-models/index.ts';
import { ask } from '../chaos/embedded-database.ts';
import { atTerminal, type Terminal } from '../world/terminal.ts';

const LIST = `export function list(items) {
  return items.join(', ');
}
`;
const TESTED = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { list } from '../list.js';

test('items are joined', () => assert.equal(list(['a', 'b']), 'a, b'));
`;
const HIDDEN = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { list } from '../list.js';

test('an empty list says so', () => assert.equal(list([]), 'nothing to do'));
`;

const diffTo = (line: string, context = "  return items.join(', ');"): string => `Here is the change:

\`\`\`diff
--- a/list.js
+++ b/list.js
@@ -1,9 +1,7 @@
 export function list(items) {
-${context}
+${line}
 }
\`\`\`
`;
const RIGHT = diffTo("  return items.length === 0 ? 'nothing to do' : items.join(', ');");
const WRONG = diffTo("  return items.join('; ');");
const UNFIT = diffTo("  return '';", '  return items.map(String);');
const PROSE = 'I would compare the length with zero and return the sentence.';

const text = (said: string): readonly [Turn] => [{ kind: 'text', text: said }];
const GREETING = 'Write a greeting';

/** Heron solves it with one prompt and talks with the other; otter is wrong with one and corrects itself with the other. */
const scripts = (hangs: () => boolean): Scripts => ({
  'scripted-heron': {
    turns: text(RIGHT),
    cases: [
      { holds: GREETING, turns: text('Hello from heron.') },
      { holds: 'Take your time', turns: text(PROSE) },
    ],
  },
  'scripted-otter': {
    turns: text(WRONG),
    cases: [
      { holds: GREETING, turns: text('Hello from otter.') },
      { holds: 'could not be used', turns: text(RIGHT) },
      {
        holds: 'Take your time',
        get turns(): readonly Turn[] {
          return hangs() ? [{ kind: 'hang' }] : text(UNFIT);
        },
      },
    ],
  },
});

const MODELS = ['anthropic/scripted-heron', 'openai/scripted-otter'] as const;

async function writeContest(me: Terminal, more = ''): Promise<string> {
  const folder = join(me.repository, 'evals', 'first');
  const made = await me.runoff(
    'arena',
    'init',
    'first',
    '--dir',
    'evals/first',
    '--models',
    MODELS.join(','),
  );
  expect(made).toMatchObject({
    code: 0,
    out: expect.stringContaining('runoff arena gen first --dir evals/first'),
  });
  for (const path of ['templates/list/test', 'hidden/empty/test', 'prompts'])
    await mkdir(join(folder, path), { recursive: true });
  await writeFile(join(folder, 'templates/list/package.json'), '{ "type": "module" }\n');
  await writeFile(join(folder, 'templates/list/list.js'), LIST);
  await writeFile(join(folder, 'templates/list/test/list.test.js'), TESTED);
  await writeFile(join(folder, 'hidden/empty/test/empty.test.js'), HIDDEN);
  await writeFile(join(folder, 'prompts/careful.md'), 'Take your time.\n');
  await writeFile(
    join(folder, 'contest.yml'),
    `version: 1
name: first
prompts:
  short: Be brief.
  careful: { file: prompts/careful.md }
contestants:
  prompts: [short, careful]
  models: [${MODELS.join(', ')}]
tasks: tasks.yml
repair: true
limits: { parallel: 2 }
${more}`,
  );
  await writeFile(
    join(folder, 'tasks.yml'),
    `version: 1
tasks:
  - { id: greeting, kind: text, prompt: "${GREETING} for the home page." }
  - id: empty-list
    kind: repo
    base: { template: templates/list }
    statement: list([]) must say "nothing to do".
    verify: node --test
    hiddenTests: hidden/empty
  - id: tells-nothing
    kind: repo
    base: { template: templates/list }
    statement: Keep everything as it is.
    verify: node --test
`,
  );
  return folder;
}

async function linesOf<T>(folder: string, file: string): Promise<readonly T[]> {
  const found = await readFile(join(folder, file), 'utf8').catch(() => '');
  return found
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** Stops a process, and waits until none of its threads runs. */
async function stop(child: ChildProcess): Promise<void> {
  expect(child.kill('SIGSTOP')).toBe(true);
  const threads = `/proc/${child.pid}/task`;
  await expect
    .poll(
      async () => {
        const states = (await readdir(threads)).map((one) => readFile(join(threads, one, 'stat'), 'utf8'));
        return (await Promise.all(states)).every((stat) => /\) [TZX] /.test(stat));
      },
      { interval: 5 },
    )
    .toBe(true);
}

/**
 * What is durable of the calls of models: how many were booked, and the spender of each answer that would be given again.
 * `isIdle`: no statement is on its way.
 */
async function paidCalls({ home }: Pick<Terminal, 'home'>) {
  const data = join(home, 'data');
  const [busy] = await ask(
    data,
    "select count(*)::int as count from pg_stat_activity where state <> 'idle' and pid <> pg_backend_pid()",
  );
  const [calls] = await ask(data, 'select count(*)::int as count from runoff.gateway_call');
  const answers = await ask(data, 'select spender from runoff.model_answer');
  return {
    isIdle: busy?.count === 0,
    booked: Number(calls?.count),
    kept: answers.map(({ spender }) => String(spender)),
  };
}

test('a contest over text and repository tasks goes on after a kill, and nothing is paid twice', async () => {
  let hangs = true;
  await atTerminal({ scripts: scripts(() => hangs) }, async (me) => {
    const folder = await writeContest(me);
    const gen = ['arena', 'gen', 'first', '--dir', 'evals/first'] as const;
    const answers = () => me.asked.filter(({ usage }) => usage !== null).length;
    const killedOnce = async (ready: (child: ChildProcess) => Promise<boolean>) => {
      const { child, ended } = me.start(...gen);
      try {
        for (let looks = 0; !(await ready(child)); looks += 1) {
          expect(looks).toBeLessThan(12_000);
          expect(child.exitCode).toBe(null);
          await sleep(50);
        }
      } finally {
        child.kill('SIGKILL');
        await ended;
      }
    };
    // Killed while an answer that was paid for is verified, and so before it is recorded. An answer that a model has sent
    // and the gateway has not kept yet would be paid for again (decision 40), so no call may be in between. The process is
    // stopped for the look: what is seen then is what the kill leaves.
    let unrecorded: readonly string[] = [];
    await killedOnce(async (child) => {
      if (answers() < 5) return false;
      await stop(child);
      const { isIdle, booked, kept } = await paidCalls(me);
      const samples = await linesOf<Sample>(folder, 'samples.jsonl');
      unrecorded = kept.filter((spender) => samples.every(({ id }) => id !== spender));
      const isReady =
        isIdle && booked === me.asked.length && kept.length === answers() && unrecorded.length > 0;
      if (!isReady) child.kill('SIGCONT');
      return isReady;
    });
    // Killed while both lanes wait for otter.
    const hanging = () => me.asked.filter(({ usage, left }) => usage === null && !left).length;
    await killedOnce(async () => hanging() === 2);
    const before = await linesOf<Sample>(folder, 'samples.jsonl');
    expect(before.length).toBeGreaterThan(0);
    expect(before.length).toBeLessThan(12);
    const answeredBefore = answers();
    // What a process writes when it is killed in the middle of a line.
    await writeFile(join(folder, 'samples.jsonl'), '{"version":1,"id":"s01', { flag: 'a' });

    hangs = false;
    const again = await me.runoff(...gen, '--json');
    expect(again).toMatchObject({ code: 0, err: expect.stringMatching(/12\/12 {2}\$0\.\d+ of \$5\.00/) });
    const samples = await linesOf<Sample>(folder, 'samples.jsonl');
    expect(samples.slice(0, before.length)).toEqual(before);
    expect(new Set(samples.map(({ id }) => id)).size).toBe(12);
    expect(samples.map(({ id }) => id)).toEqual(expect.arrayContaining([...unrecorded]));

    // One for each sample, and a repair turn of each model for both repository tasks.
    const answered = me.asked.filter(({ usage }) => usage !== null);
    expect(answered).toHaveLength(16);
    expect(answered.length).toBeGreaterThan(answeredBefore);
    // Those that hung were booked when the process was killed, and nobody knows what they cost.
    const calls = samples.reduce((sum, { usage }) => sum + usage.calls, 0);
    expect(calls).toBe(16 + me.asked.filter(({ usage }) => usage === null).length);
    const result = JSON.parse(again.out) as { usd: number; unrated: unknown };
    expect(samples.reduce((sum, { usage }) => sum + usage.usd, 0)).toBeCloseTo(result.usd, 6);

    const of = (contestant: string) =>
      samples.find((one) => one.task === 'empty-list' && one.contestant === contestant);
    expect(of(`short/${MODELS[0]}`)).toMatchObject({
      outcome: 'answered',
      form: 'diff',
      parameters: { temperature: 0 },
      verification: {
        applied: true,
        solved: true,
        tests: { ok: true, passed: 1, failed: 0 },
        hiddenTests: { ok: true, passed: 2, failed: 0 },
        change: { files: 1, additions: 1, deletions: 1 },
      },
    });
    expect(of(`careful/${MODELS[0]}`)).toMatchObject({
      outcome: 'not-a-diff',
      answer: PROSE,
      verification: null,
    });
    expect(of(`short/${MODELS[1]}`)).toMatchObject({
      outcome: 'answered',
      verification: { applied: true, solved: false, tests: { ok: false, failed: 1 } },
    });
    expect(of(`careful/${MODELS[1]}`)).toMatchObject({
      outcome: 'answered',
      repaired: true,
      verification: { solved: true },
    });

    const bases = await linesOf<BaseResult>(folder, 'bases.jsonl');
    expect(bases.map(({ task, rated, why }) => [task, rated, why])).toEqual([
      ['empty-list', true, null],
      ['tells-nothing', false, 'Its verify commands pass on the base without a change.'],
    ]);
    expect(result.unrated).toEqual([
      { task: 'tells-nothing', why: 'Its verify commands pass on the base without a change.' },
    ]);

    // Nobody is asked again, also not by a contest with one more task: at temperature 0 an answer stays.
    expect(await me.runoff(...gen)).toMatchObject({
      code: 0,
      out: expect.stringContaining('12 of 12 samples; 0 made now'),
    });
    await writeFile(
      join(folder, 'tasks.yml'),
      '  - { id: farewell, kind: text, prompt: "Write a greeting at the end." }\n',
      { flag: 'a' },
    );
    expect(await me.runoff(...gen)).toMatchObject({
      code: 0,
      out: expect.stringContaining(
        '16 of 16 samples; 16 made now, 12 of them with an answer that was paid before',
      ),
    });
    expect(me.asked.filter(({ usage }) => usage !== null)).toHaveLength(20);
  });
});

test('models are chosen from what providers offer, at a terminal; without one they are named', () =>
  atTerminal({ scripts: scripts(() => false) }, async (me) => {
    const { child, ended } = me.startAtTerminal('arena', 'init', 'chosen', '--dir', 'evals/chosen');
    let shown = '';
    child.stdout?.on('data', (data: Buffer) => {
      shown += data.toString();
    });
    const seen = async (what: RegExp) => {
      for (let waited = 0; waited < 600 && !what.test(shown); waited += 1) await sleep(50);
      expect(shown).toMatch(what);
    };
    const type = (keys: string) => child.stdin?.write(keys);
    await seen(/Which models compete/);
    type('anthropic/scripted-otter');
    await seen(/1 match/);
    type('\t');
    await seen(/anthropic\/scripted-otter/);
    await sleep(300);
    type('\r');
    expect(await ended).toMatchObject({ code: 0 });
    const contest = await readFile(join(me.repository, 'evals/chosen/contest.yml'), 'utf8');
    expect(contest).toMatch(/models:\n {4}- "anthropic\/scripted-otter"\n\n/);

    expect(await me.runoff('arena', 'init', 'second')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /name the models with `--models`: 4 are known, such as anthropic\/scripted-heron/,
      ),
    });
    expect(
      await me.runoff('arena', 'init', 'chosen', '--dir', 'evals/chosen', '--models', MODELS[0]),
    ).toMatchObject({
      code: 1,
      err: expect.stringContaining('There is a contest in'),
    });
    expect(await me.runoff('arena', 'init', 'second', '--models', 'gpt')).toMatchObject({
      code: 1,
      err: expect.stringContaining('write provider/model'),
    });
  }));

const SECRET = 'the-hidden-expectation';

test('a coding agent works on a commit as in a run, and cannot read the hidden tests', async () => {
  const look = 'grep -rhI THE-HIDDEN /repo /home /tmp /opt /run /var 2> /dev/null; echo looked';
  const turns: readonly Turn[] = [
    { kind: 'do', text: 'I look around.', action: { do: 'shell', command: look } },
    {
      kind: 'do',
      text: 'I write it.',
      action: { do: 'write', path: 'greet.js', content: `export const greet = () => '${SECRET}';\n` },
    },
    { kind: 'text', text: 'Done.' },
  ];
  await atTerminal(
    { scripts: { 'scripted-heron': { turns }, 'scripted-otter': { turns: [{ kind: 'hang' }] } } },
    async (me) => {
      const folder = join(me.repository, 'evals', 'agents');
      const commit = await me.git('rev-parse', 'HEAD');
      await mkdir(join(folder, 'hidden/test'), { recursive: true });
      await writeFile(
        join(folder, 'hidden/test/greet.test.js'),
        `import assert from 'node:assert/strict';
import { test } from 'node:test';
test('greets', async () => {
  const { greet } = await import('../greet.js');
  assert.equal(greet().length, ${SECRET.length}); // ${SECRET.toUpperCase()}
});
`,
      );
      const contest = (from: string, more = '') => `version: 1
name: agents
contestants:
  - { agent: builtin, model: anthropic/scripted-heron, prompt: plain }
tasks:
  - id: greet
    kind: repo
    base: { repository: ../.., commit: ${from} }
    statement: Add greet.js, which greets.
    setup: ""
    build: ""
    verify: node --test
    hiddenTests: hidden
${more}`;
      await writeFile(join(folder, 'contest.yml'), contest(commit));
      const gen = ['arena', 'gen', 'agents', '--dir', 'evals/agents'] as const;
      expect(await me.runoff(...gen)).toMatchObject({
        code: 0,
        out: expect.stringContaining('1 of 1 sample; 1 made now'),
      });
      const [sample] = await linesOf<Sample>(folder, 'samples.jsonl');
      expect(sample).toMatchObject({
        agent: 'builtin',
        outcome: 'answered',
        answer: expect.stringContaining('+export const greet'),
        parameters: { temperature: null, maxTokens: null },
        versions: { agent: expect.any(String) },
        usage: { calls: 3 },
        verification: { applied: true, solved: true, hiddenTests: { ok: true } },
      });
      const heard = me.asked.map(({ body }) => body).join('\n');
      expect(heard).toContain('looked');
      expect(heard).not.toContain(SECRET.toUpperCase());

      // The folder of a contest can lie in the repository, but not in the commit that contestants start from.
      await me.git('add', '-A');
      await me.git('-c', 'user.name=A', '-c', 'user.email=a@localhost', 'commit', '-qm', 'evals');
      await writeFile(join(folder, 'contest.yml'), contest(await me.git('rev-parse', 'HEAD')));
      expect(await me.runoff(...gen)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/contestants could read this file of the contest: evals\/agents\//),
      });
      await writeFile(join(folder, 'contest.yml'), contest('f'.repeat(40)));
      expect(await me.runoff(...gen)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/starts from f{40}, which \S+ does not have/),
      });

      // Two processes on one contest.
      await writeFile(
        join(folder, 'contest.yml'),
        contest(commit).replace('scripted-heron', 'scripted-otter').replace('anthropic/', 'openai/'),
      );
      const { child, ended } = me.start(...gen);
      for (
        let waited = 0;
        waited < 600 && !me.asked.some(({ model }) => model === 'scripted-otter');
        waited += 1
      )
        await sleep(50);
      expect(await me.runoff(...gen)).toMatchObject({
        code: 1,
        err: expect.stringContaining('Another process is working on the contest in'),
      });
      child.kill('SIGINT');
      expect(await ended).toMatchObject({ code: 130, err: expect.stringContaining('not paid for again') });
      expect(await linesOf<Sample>(folder, 'samples.jsonl')).toEqual([sample]);
    },
  );
});
