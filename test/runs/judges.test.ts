import { describe, expect, test } from 'vitest';
import { judgeModels, MAX_CALLS } from '../../src/core/judging/index.ts';
import { Fault } from '../../src/core/model/index.ts';
import { JUDGE_ANSWER_MS } from '../../src/runs/judge/judge-model.ts';
import { AUTHORS, adding, candidate, NOTHING_RAN } from '../core/judging/sample.ts';
import { rememberedIn } from '../world/remember.ts';
import {
  always,
  cite,
  DOWN,
  type JudgeAnswer,
  openJudging,
  poolOf,
  prefers,
  saying,
} from './judging-world.ts';

const RIGHT = candidate('A', ['if (input.length === 0) return 0;', 'return parse(input);'], AUTHORS.claude);
const WRONG = candidate('B', ['return parse(input) || 0;'], AUTHORS.gpt);
const OTHER = candidate('C', ['return Number(input);'], AUTHORS.gemini);
const JUDGES = {
  'deepseek/deepseek-v4': prefers(/length/),
  'x-ai/grok-5': prefers(/length/),
  'mistral/large-3': prefers(/length/),
};

test('three judges of other families see both orders and agree', async () => {
  const judging = openJudging(JUDGES);
  const judgement = await judging.judge(poolOf(RIGHT, WRONG));
  expect(judging.seen).toHaveLength(6);
  expect(judgement.standings).toMatchObject([
    { alias: 'A', wins: 3, ties: 0, losses: 0 },
    { alias: 'B', wins: 0, ties: 0, losses: 3 },
  ]);
  expect(judgement).toMatchObject({
    kind: 'judged',
    confidence: 'clear',
    quorum: { asked: 3, answered: 3 },
    notes: [],
    because: 'The judges clearly prefer A to B (3-0-0 against 0-0-3, won-tied-lost).',
  });
  expect(judging.open).toBe(0);
});

test('all questions of a judgement begin alike, so that providers have the beginning in their caches', async () => {
  const judging = openJudging(JUDGES);
  await judging.judge(poolOf(RIGHT, WRONG, OTHER));
  const beginnings = judging.seen.map(({ prompt }) => prompt.split('<<<FIRST RAN')[0]);
  expect(new Set(beginnings).size).toBe(1);
  expect(beginnings[0]).toContain('<<<TASK');
});

test('judges read the task, the results and both patches, and nothing about the authors', async () => {
  const judging = openJudging(JUDGES);
  const facts = {
    ...NOTHING_RAN,
    base: { passed: 11, total: 12, failing: ['list > sorts'] },
    inputs: [{ input: '[]', expected: '0', got: 'NaN' }],
  };
  await judging.judge(
    poolOf(RIGHT, {
      ...WRONG,
      facts,
      files: [...WRONG.files, adding('test/run.test.ts', 'expect(run("")).toBe(0);')],
    }),
  );
  const [one] = judging.seen;
  expect(one?.prompt.replaceAll(one.nonce, 'NONCE')).toMatchInlineSnapshot(`
    "<<<TASK NONCE
    Return 0 for an empty input.
    TASK NONCE>>>

    <<<FIRST RAN NONCE
    nothing was executed
    FIRST RAN NONCE>>>

    <<<FIRST NONCE
    file src/run.ts (modified)
    @@ line 9
      9: function run(input) {
    + 10: if (input.length === 0) return 0;
    + 11: return parse(input);
    FIRST NONCE>>>

    <<<SECOND RAN NONCE
    the repository's tests: 11 of 12 pass
      breaks: list > sorts
    input []: expected 0, got NaN
    SECOND RAN NONCE>>>

    <<<SECOND NONCE
    file src/run.ts (modified)
    @@ line 9
      9: function run(input) {
    + 10: return parse(input) || 0;
    SECOND NONCE>>>

    <<<SECOND TESTS NONCE
    file test/run.test.ts (modified)
    @@ line 9
      9: function run(input) {
    + 10: expect(run("")).toBe(0);
    SECOND TESTS NONCE>>>

    Compare the first candidate with the second."
  `);
});

test('half of the judges decide with a lower quorum if the others fail', async () => {
  const judging = openJudging({ ...JUDGES, 'x-ai/grok-5': DOWN });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG));
  expect(judgement.quorum).toEqual({ asked: 3, answered: 2 });
  expect(judgement.standings[0]).toMatchObject({ alias: 'A', wins: 2 });
  expect(judgement.confidence).toBe('likely');
  expect(judgement.judges.find(({ family }) => family === 'grok')).toMatchObject({
    answered: 0,
    problems: ['HTTP 529'],
  });
});

test('nothing is decided if all judges fail, with the reason', async () => {
  const judging = openJudging({ 'deepseek/deepseek-v4': DOWN, 'x-ai/grok-5': DOWN });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG, OTHER));
  expect(judgement).toMatchObject({
    kind: 'unanswered',
    standings: [],
    confidence: 'toss-up',
    quorum: { asked: 2, answered: 0 },
    because: 'No judge gave a usable answer. judge-1: HTTP 529',
  });
  // A model that is down is not asked to the end.
  expect(judging.seen.length).toBeLessThan(12);
  expect(judging.open).toBe(0);
});

test('a judge without a key is dropped, and the others are asked', async () => {
  const judging = openJudging(JUDGES, { models: ['qwen/qwen-4', ...Object.keys(JUDGES)] });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG));
  expect(judgement.judges[0]).toMatchObject({
    judge: 'judge-1',
    problems: ['There is no key for qwen/qwen-4.'],
  });
  // The fourth model took its place.
  expect(judgement.standings[0]).toMatchObject({ alias: 'A', wins: 3 });
});

test('a judge that gives no answer is replaced by the next model within the allowed calls', async () => {
  const judges = { ...JUDGES, 'x-ai/grok-5': DOWN, 'qwen/qwen-4': DOWN, 'z-ai/glm-6': prefers(/length/) };
  const judging = openJudging(judges);
  const judgement = await judging.judge(poolOf(RIGHT, WRONG));
  expect(judgement.judges.map(({ family, answered }) => [family, answered])).toEqual([
    ['deepseek', 2],
    ['grok', 0],
    ['mistral', 2],
    ['qwen', 0],
    ['glm', 2],
  ]);
  expect(judgement.standings[0]).toMatchObject({ alias: 'A', wins: 3 });

  const few = openJudging(judges, { maxCalls: 6 });
  expect((await few.judge(poolOf(RIGHT, WRONG))).standings[0]).toMatchObject({ alias: 'A', wins: 2 });
  expect(few.seen).toHaveLength(6);
});

test('a judge with unusable answers is not replaced', async () => {
  const citations = [{ candidate: 'first' as const, file: 'src/none.ts', line: 1, quote: 'is not there' }];
  const inventive: JudgeAnswer = (seen) => ({ ...saying(seen, 'first'), citations });
  const judging = openJudging({ ...JUDGES, 'x-ai/grok-5': inventive, 'qwen/qwen-4': prefers(/length/) });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG));
  expect(judgement.judges.map(({ family }) => family)).toEqual(['deepseek', 'grok', 'mistral']);
});

test('a fault unrelated to a model stops the run, and leaves no lease open', async () => {
  const broken = openJudging(JUDGES);
  const { open } = broken.parts.gateway;
  let opened = 0;
  const judging = openJudging(JUDGES, {
    gateway: {
      ...broken.parts.gateway,
      async open(grant) {
        if (++opened === 2) throw new Fault('DATABASE_UNAVAILABLE', 'The database is gone.');
        return open(grant);
      },
    },
  });
  await expect(judging.judge(poolOf(RIGHT, WRONG))).rejects.toThrow('The database is gone.');
  expect(broken.open).toBe(0);
});

test('a judge that prefers a position is excluded', async () => {
  const judging = openJudging({ ...JUDGES, 'x-ai/grok-5': always('first') });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG, OTHER));
  expect(judgement.judges.find(({ family }) => family === 'grok')?.discarded).toMatch(/chose the first/);
  expect(judgement.quorum).toEqual({ asked: 3, answered: 2 });
  expect(judgement.standings[0]).toMatchObject({ alias: 'A', losses: 0 });
});

test('judges that all depend on the order are all excluded', async () => {
  const bySize = (seen: Parameters<ReturnType<typeof prefers>>[0]) =>
    saying(seen, seen.first.length > seen.second.length ? 'first' : 'tie');
  const judging = openJudging({ 'deepseek/deepseek-v4': bySize, 'x-ai/grok-5': bySize });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG, OTHER));
  expect(judgement).toMatchObject({ kind: 'discarded', standings: [], confidence: 'toss-up' });
  expect(judgement.because).toMatch(/changed with the order/);
});

test('a family does not judge its own candidate if two others can', async () => {
  const judging = openJudging({ 'anthropic/claude-opus-5': always('first'), ...JUDGES });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG));
  expect(judgement.judges.map(({ family }) => family)).toEqual(['deepseek', 'grok', 'mistral']);
});

test("the authors' families judge if there are no others, which is reported", async () => {
  const judging = openJudging({
    'anthropic/claude-opus-5': prefers(/length/),
    'openai/gpt-6-sol': prefers(/length/),
  });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG));
  expect(judgement.judges.map(({ ownFamily }) => ownFamily)).toEqual([true, true]);
  expect(judgement.notes).toEqual([
    'Too few model families were available, so judges also saw patches of their own family.',
  ]);
});

test('one family alone is never clear', async () => {
  const judging = openJudging({
    'deepseek/deepseek-v4': prefers(/length/),
    'deepseek/deepseek-v4-mini': prefers(/length/),
    'deepseek/deepseek-r3': prefers(/length/),
  });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG, OTHER));
  expect(judgement.confidence).not.toBe('clear');
  expect(judgement.notes).toEqual(['All judges belong to one model family (deepseek).']);
});

test('identical patches are a tie without a judge', async () => {
  const judging = openJudging(JUDGES);
  const judgement = await judging.judge(poolOf(RIGHT, { ...RIGHT, alias: 'D', author: AUTHORS.gpt }));
  expect(judging.seen).toEqual([]);
  expect(judgement).toMatchObject({ kind: 'judged', confidence: 'toss-up', pairs: [{ alike: true }] });
  expect(judgement.standings.map(({ strength }) => strength)).toEqual([0, 0]);
});

test('neither the order nor the names of candidates change the winner', async () => {
  const pool = poolOf(RIGHT, WRONG, OTHER);
  const forwards = await openJudging(JUDGES).judge(pool);
  const backwards = await openJudging(JUDGES).judge({ ...pool, competitors: pool.competitors.toReversed() });
  expect(backwards.standings[0]).toEqual(forwards.standings[0]);
  expect(backwards.pairs).toEqual(forwards.pairs);
  const renamed = await openJudging(JUDGES).judge(
    poolOf({ ...RIGHT, alias: 'Z' }, { ...WRONG, alias: 'A' }, { ...OTHER, alias: 'B' }),
  );
  expect(renamed.standings[0]).toMatchObject({ ...forwards.standings[0], alias: 'Z' });
});

describe('the budget of judges', () => {
  test("is a share of the run's budget", async () => {
    const judging = openJudging(JUDGES);
    const judgement = await judging.judge(poolOf(RIGHT, WRONG));
    expect(judging.grants.map(({ spender }) => spender).sort()).toEqual(['judge-1', 'judge-2', 'judge-3']);
    expect(judging.grants.reduce((sum, { capUsd }) => sum + capUsd, 0)).toBeLessThanOrEqual(1);
    expect(judging.grants.every(({ runCapUsd, models }) => runCapUsd === 5 && models.length === 1)).toBe(
      true,
    );
    expect(judgement.spent).toMatchObject({ calls: 6, usd: expect.closeTo(0.06) });
  });

  test('is not spent again on paid answers after a crash', async () => {
    const kept = new Map<string, unknown>();
    const remember = rememberedIn(kept);
    const before = await openJudging(JUDGES, { remember }).judge(poolOf(RIGHT, WRONG, OTHER));
    expect([...kept.keys()].filter((key) => !key.startsWith('nonce:'))).toHaveLength(18);
    const resumed = openJudging(JUDGES, { remember });
    const after = await resumed.judge(poolOf(RIGHT, WRONG, OTHER));
    expect(resumed.seen).toEqual([]);
    expect({ ...after, spent: null }).toEqual({ ...before, spent: null });
  });

  test.each([3, 4, 5, 8, 12, 40])('allows a limited number of calls for %i candidates', async (n) => {
    const many = Array.from({ length: n }, (_, i) =>
      candidate(`C${i}`, [`return parse(input, ${i});`, ...(i === 1 ? ['if (input.length) return 0;'] : [])]),
    );
    const judging = openJudging(JUDGES);
    const judgement = await judging.judge(poolOf(...many));
    expect(judging.seen.length).toBeLessThanOrEqual(MAX_CALLS);
    expect(judgement.standings[0]?.alias).toBe('C1');
    expect(judgement.format).toBe(n > 4 ? 'knockout' : 'round-robin');
    if (n > 4) expect(judgement.notes.join(' ')).toMatch(/knockout/);
    if (n === 40) expect(judgement.notes.join(' ')).toMatch(/least evidence were not judged/);
  });
});

test('the budget of judges is one, also where more models are asked than judges compare a pair', async () => {
  const models = [
    'deepseek/v4',
    'x-ai/grok-5',
    'mistral/large-3',
    'qwen/qwen-5',
    'cohere/command-r',
    'moonshot/kimi',
  ];
  const judging = openJudging(Object.fromEntries(models.map((model) => [model, prefers(/length/)])), {
    share: 0.04,
  });
  const authors = models.map((model) => ({ agent: 'a-1', model, prompt: 'plain' }));
  const many = authors
    .slice(0, 4)
    .map((author, i) => candidate(`C${i}`, [`return parse(input, ${i});`], author));
  const judgement = await judging.judge(poolOf(...many));
  // What four questions at once cost may come on top.
  expect(judgement.spent.usd).toBeLessThanOrEqual(0.2 + 0.04);
});

test('substitutes leave the later rounds of a knockout their calls', async () => {
  const models = ['deepseek', 'x-ai', 'mistral', 'qwen', 'cohere', 'moonshot', 'zhipu', 'meta'];
  for (const every of [3, 4, 6]) {
    let asked = 0;
    const shaky: JudgeAnswer = (seen) => {
      if (++asked % every === 0) throw new Error('HTTP 529');
      return prefers(/length/)(seen);
    };
    const judging = openJudging(Object.fromEntries(models.map((name) => [`${name}/model-1`, shaky])));
    const many = Array.from({ length: 10 }, (_, i) => candidate(`C${i}`, [`return parse(input, ${i});`]));
    await judging.judge(poolOf(...many));
    expect(judging.seen.length).toBeLessThanOrEqual(MAX_CALLS);
  }
});

test('no more than four questions are asked in parallel', async () => {
  const under = { way: 0, most: 0 };
  const judging = openJudging(JUDGES);
  const { model } = judging.parts;
  const watched = openJudging(JUDGES, {
    model: {
      async ask(question) {
        under.most = Math.max(under.most, ++under.way);
        await Promise.resolve();
        const answer = await model.ask(question);
        under.way -= 1;
        return answer;
      },
    },
  });
  await watched.judge(poolOf(RIGHT, WRONG, OTHER));
  expect(under.most).toBe(4);
});

test('a run that is cancelled asks nothing more, closes its leases and rejects', async () => {
  const stop = new AbortController();
  const judging = openJudging(
    {
      'deepseek/deepseek-v4': (seen) => {
        stop.abort(new Error('cancelled by a person'));
        return saying(seen, 'first');
      },
      'x-ai/grok-5': prefers(/length/),
    },
    { signal: stop.signal },
  );
  await expect(judging.judge(poolOf(RIGHT, WRONG, OTHER))).rejects.toThrow('cancelled by a person');
  expect(judging.seen.length).toBeLessThanOrEqual(4);
  expect(judging.open).toBe(0);
});

test('a run that was already cancelled asks nothing', async () => {
  const judging = openJudging(JUDGES, { signal: AbortSignal.abort(new Error('cancelled before')) });
  await expect(judging.judge(poolOf(RIGHT, WRONG))).rejects.toThrow('cancelled before');
  expect(judging.seen).toEqual([]);
  expect(judging.open).toBe(0);
});

test('a judge that never ends is dropped after its time limit', async () => {
  const slept: number[] = [];
  const stopped: boolean[] = [];
  const judging = openJudging(JUDGES, {
    model: {
      ask: ({ signal }) => new Promise(() => signal?.addEventListener('abort', () => stopped.push(true))),
    },
    clock: {
      async sleep(ms) {
        slept.push(ms);
      },
    },
  });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG));
  expect(judgement.kind).toBe('unanswered');
  expect(judgement.judges[0]?.problems).toContain('It gave no answer within 5 minutes.');
  expect(stopped.length).toBe(slept.length);
  expect(new Set(slept)).toEqual(new Set([JUDGE_ANSWER_MS]));
});

test('claimed failures of judges are kept for execution', async () => {
  const claiming = (seen: Parameters<ReturnType<typeof prefers>>[0]) => {
    const worse = /length/.test(seen.first) ? 'second' : 'first';
    const failures = [{ candidate: worse, input: '""', expected: '0', got: 'NaN' }];
    return { ...saying(seen, worse === 'first' ? 'second' : 'first'), failures };
  };
  const judging = openJudging({ 'deepseek/deepseek-v4': claiming, 'x-ai/grok-5': claiming });
  const judgement = await judging.judge(poolOf(RIGHT, WRONG));
  expect(judgement.claims).toEqual([
    { alias: 'B', judge: expect.stringMatching(/^judge-/), input: '""', expected: '0', got: 'NaN' },
  ]);
});

test('neither a single survivor is judged, nor anything without a model', async () => {
  expect(await openJudging(JUDGES).judge(poolOf(RIGHT))).toMatchObject({
    kind: 'unanswered',
    quorum: { asked: 0 },
  });
  const judgement = await openJudging({}).judge(poolOf(RIGHT, WRONG));
  expect(judgement.because).toBe('No model is available as a judge.');
});

test('the models of the coders judge, then those with a key', () => {
  const coders = [{ agent: 'codex', model: 'openai/gpt-6-sol' }, { agent: 'builtin' }];
  expect(judgeModels({ coders }, ['anthropic/claude-sonnet-5', 'openai/gpt-6-sol'])).toEqual([
    'openai/gpt-6-sol',
    'anthropic/claude-sonnet-5',
  ]);
});

test('a citation that is off by one line counts, one of another file does not', async () => {
  const citing = (change: Partial<ReturnType<typeof cite>>) =>
    openJudging({
      'deepseek/deepseek-v4': (seen) => ({
        ...saying(seen, 'tie'),
        citations: [{ ...cite(seen, 'first'), ...change }],
      }),
    }).judge(poolOf(RIGHT, WRONG));
  expect((await citing({ line: 11 })).kind).toBe('judged');
  expect((await citing({ line: 40 })).kind).toBe('unanswered');
  expect((await citing({ file: 'src/other.ts' })).kind).toBe('unanswered');
});

test('a pair is not compared while what judges would see reveals an author, and the judgement says so', async () => {
  // The name of this prompt is a word of the sentence that tells about an input.
  const right = { ...RIGHT, author: { ...AUTHORS.claude, prompt: 'expected' } };
  const wrong = {
    ...WRONG,
    facts: { ...NOTHING_RAN, inputs: [{ input: 'prompt', expected: '0', got: 'NaN' }] },
  };
  const judging = openJudging(JUDGES);
  const judgement = await judging.judge(poolOf(right, wrong));
  expect(judging.seen).toEqual([]);
  expect(judgement.notes).toEqual([
    'A and B were not compared: what judges would see still reveals an author (expected).',
  ]);
});
