import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  capContest,
  changedAfterVotes,
  contestDigest,
  contestTemplate,
  isContestName,
  type RepoTask,
  type ResolvedContest,
  readContest,
  readTasks,
  sampleId,
  taskLine,
} from '../../../src/core/arena/index.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const GOOD = `
version: 1
name: first
prompts:
  short: Answer in one sentence.
  careful: { file: prompts/careful.md }
contestants:
  prompts: [short, careful]
  models: [openai/gpt-6, anthropic/claude-sonnet-5]
tasks:
  - { id: greeting, kind: text, prompt: Say hello. }
`;

const told = (text: string): readonly string[] => {
  const read = readContest(text);
  return read.kind === 'invalid' ? read.problems : [];
};

function contestOf(text: string) {
  const read = readContest(text);
  if (read.kind === 'invalid') throw new Error(read.problems.join('\n'));
  return read.contest;
}

describe('contest.yml', () => {
  test('prompts × models are contestants, with defaults for all that is not said', () => {
    const contest = contestOf(GOOD);
    expect(contest.contestants.map(({ id, agent }) => [id, agent])).toEqual([
      ['short/openai/gpt-6', 'none'],
      ['careful/openai/gpt-6', 'none'],
      ['short/anthropic/claude-sonnet-5', 'none'],
      ['careful/anthropic/claude-sonnet-5', 'none'],
    ]);
    expect(contest).toMatchObject({
      rounds: 1,
      temperature: 0,
      repair: false,
      budget: 5,
      limits: { parallel: 4, time: 600 },
      votes: { results: 'after' },
      judges: [],
    });
  });

  test('contestants can be listed one by one, agents among them', () => {
    const contest = contestOf(
      GOOD.replace(
        /contestants:[\s\S]*tasks:/,
        'contestants:\n  - { agent: codex, model: openai/gpt-6, prompt: plain }\n  - { id: mine, model: a/b, prompt: short }\ntasks:',
      ),
    );
    expect(contest.contestants).toEqual([
      { id: 'plain/openai/gpt-6/codex', agent: 'codex', model: 'openai/gpt-6', prompt: 'plain' },
      { id: 'mine', agent: 'none', model: 'a/b', prompt: 'short' },
    ]);
  });

  test.each([
    ['an unknown field', GOOD.replace('name:', 'nmae:'), 'There is no field `nmae`. Did you mean `name`?'],
    [
      'an unknown field of the product',
      GOOD.replace('  models:', '  model:'),
      'There is no field `contestants.model`. Did you mean `models`?',
    ],
    [
      'an unknown field of a task',
      GOOD.replace('prompt: Say', 'promt: Say'),
      'There is no field `promt`. Did you mean `prompt`?',
    ],
    [
      'an empty contest',
      GOOD.replace(/contestants:[\s\S]*tasks:/, 'contestants: []\ntasks:'),
      'The contest is empty',
    ],
    ['no tasks', GOOD.replace(/tasks:[\s\S]*/, 'tasks: []'), 'The contest has no tasks'],
    [
      'a prompt without a text',
      GOOD.replace('[short, careful]', '[short, missing]'),
      'The prompt `missing` is not in `prompts`.',
    ],
    [
      'two contestants with one id',
      GOOD.replace('[short, careful]', '[short, short]'),
      'Two contestants have the id `short/openai/gpt-6`',
    ],
    [
      'two tasks with one id',
      `${GOOD}  - { id: greeting, kind: text, prompt: Again. }\n`,
      'Two tasks have the id `greeting`.',
    ],
    ['a task without a kind', GOOD.replace('kind: text, ', ''), 'A task needs `kind: text` or `kind: repo`.'],
    ['a model without a provider', GOOD.replace('openai/gpt-6', 'gpt-6'), 'write provider/model'],
    ['another version', GOOD.replace('version: 1', 'version: 2'), 'version:'],
  ])('%s is one sentence with its line', (_, text, sentence) => {
    const problems = told(text);
    expect(problems.join('\n')).toContain(sentence);
    for (const problem of problems) expect(problem).toMatch(/^contest\.yml:\d+:\d+: .*[.?]$/);
  });

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(GOOD.length), (junk, at) => {
        for (const text of [junk, GOOD.slice(0, at) + junk + GOOD.slice(at)]) {
          const read = readContest(text);
          if (read.kind === 'invalid') expect(read.problems.length).toBeGreaterThan(0);
        }
      }),
    );
  });
});

const REPO: RepoTask = {
  id: 'bug-1',
  kind: 'repo',
  base: { repository: '.', commit: 'a'.repeat(40) },
  statement: 'Fix it.',
  verify: ['npm test'],
  hiddenTests: 'hidden/bug-1',
};

test.each(['first', '2026', '1.5', '1e3', '0x10', 'true', 'null', 'no'])(
  'a new contest named %s can be read',
  (name) => {
    expect(isContestName(name)).toBe(true);
    expect(readContest(contestTemplate(name, ['a/one']))).toMatchObject({
      kind: 'contest',
      contest: { name },
    });
  },
);

describe('datasets', () => {
  test('what is written as a line is read as the same task', () => {
    const text = fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' });
    const id = fc.stringMatching(/^[\w@][\w.:/@+-]{0,40}$/);
    const task = fc.oneof(
      fc.record({ id, kind: fc.constant('text' as const), prompt: text }),
      fc.record({
        id,
        kind: fc.constant('repo' as const),
        base: fc.record({ repository: fc.constant('.'), commit: fc.constant('b'.repeat(40)) }),
        statement: text,
        verify: fc.array(text, { minLength: 1, maxLength: 3 }),
      }),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(task, { selector: (one) => one.id, minLength: 1, maxLength: 8 }),
        (tasks) => {
          const lines = tasks.map(taskLine).join('');
          expect(readTasks(lines, 'tasks.jsonl')).toEqual({ tasks, problems: [] });
          expect(readTasks(lines.replaceAll('\n', '\r\n'), 'tasks.jsonl').tasks).toEqual(tasks);
        },
      ),
    );
  });

  test('YAML and JSONL say the same', () => {
    const yaml = `version: 1\ntasks:\n  - ${JSON.stringify(REPO)}\n`;
    expect(readTasks(yaml, 'tasks.yml')).toEqual(readTasks(taskLine(REPO), 'tasks.jsonl'));
  });

  test('each wrong line is named, and the right ones are still read', () => {
    const text = [
      taskLine(REPO),
      '{ not json\n',
      '<<<<<<< HEAD\n',
      JSON.stringify({ ...REPO, id: 'b', hidenTests: 'x' }),
      '\n',
      JSON.stringify({ ...REPO }),
      '\n',
    ].join('');
    const { problems } = readTasks(text, 'tasks.jsonl');
    expect(problems).toEqual([
      'tasks.jsonl:2: This line is not valid JSON; each line must be one record.',
      'tasks.jsonl:3: There is an unresolved merge conflict. Keep the lines of both sides.',
      'tasks.jsonl:4: There is no field `hidenTests`. Did you mean `hiddenTests`?',
      'tasks.jsonl:5: Two tasks have the id `bug-1`.',
    ]);
    expect(readTasks('\n', 'tasks.jsonl').problems).toEqual(['tasks.jsonl: The dataset has no tasks.']);
  });
});

describe('versions', () => {
  const resolved = (): ResolvedContest => {
    const { prompts: _, ...contest } = contestOf(GOOD);
    return {
      ...contest,
      contestants: contest.contestants.map((one) => ({ ...one, instructions: one.prompt })),
      tasks: [
        { id: 'greeting', kind: 'text', prompt: 'Say hello.' },
        { ...REPO, verify: ['npm test'], start: 'c'.repeat(40), hidden: null },
      ],
    };
  };
  const digest = contestDigest(resolved(), sha256);

  test('a long prompt fits into contest.yml, and a file that is too large says what to do', () => {
    const file = (prompt: string, tasks: number) =>
      `version: 1\nname: a\nprompts: { p: ${JSON.stringify(prompt)} }\ncontestants: { prompts: [p], models: [a/b] }\ntasks:\n${Array.from({ length: tasks }, (_, n) => `  - { id: t${n}, kind: text, prompt: Hi. }\n`).join('')}`;
    expect(readContest(file('[{"x": '.repeat(10) + 'x'.repeat(99_000), 600)).kind).toBe('contest');
    expect(readContest(file('x', 3_000))).toEqual({
      kind: 'invalid',
      problems: [expect.stringContaining('put the tasks into a `.jsonl` file')],
    });
    expect(readContest(file('x'.repeat(4 * 2 ** 20), 1))).toMatchObject({
      problems: [expect.stringContaining('bigger than 4096 KiB')],
    });
  });

  test('a model whose name makes no id of a contestant is refused before anybody is asked', () => {
    const text =
      'version: 1\nname: a\nprompts: { p: x }\ncontestants: { prompts: [p], models: ["a/b~c"] }\ntasks: [{ id: t, kind: text, prompt: Hi. }]\n';
    expect(readContest(text)).toMatchObject({
      problems: [expect.stringContaining('`a/b~c` makes no usable id')],
    });
  });

  test('order, name, budget, rounds, seed and judges change no version', () => {
    const same = resolved();
    expect(
      contestDigest(
        {
          ...same,
          name: 'other',
          budget: 1,
          rounds: 9,
          seed: 2,
          judges: ['a/b'],
          contestants: same.contestants.toReversed(),
          tasks: same.tasks.toReversed(),
        },
        sha256,
      ),
    ).toBe(digest);
  });

  test.each<[string, (contest: ResolvedContest) => ResolvedContest]>([
    ['a temperature', (one) => ({ ...one, temperature: 1 })],
    ['a contestant less', (one) => ({ ...one, contestants: one.contestants.slice(1) })],
    [
      'the text of a prompt',
      (one) => ({ ...one, contestants: one.contestants.map((all) => ({ ...all, instructions: 'new' })) }),
    ],
    ['a task less', (one) => ({ ...one, tasks: one.tasks.slice(1) })],
    [
      'hidden tests',
      (one) => ({
        ...one,
        tasks: one.tasks.map((task) => (task.kind === 'repo' ? { ...task, hidden: 'd'.repeat(64) } : task)),
      }),
    ],
  ])('%s makes another version, and a changed contest does not go on with old votes', (_, change) => {
    const changed = contestDigest(change(resolved()), sha256);
    expect(changed).not.toBe(digest);
    const vote = {
      version: 1,
      kind: 'vote',
      id: 'v0123456789abcdef',
      contest: digest,
      task: 'greeting',
      left: 's0123456789abcdef',
      right: 's1123456789abcdef',
      verdict: 'left',
      by: { kind: 'person', name: 'ann' },
      resultsShown: false,
      at: '2026-01-01T00:00:00Z',
    } as const;
    expect(changedAfterVotes(digest, [vote], [])).toBeNull();
    expect(changedAfterVotes(changed, [], [])).toBeNull();
    expect(changedAfterVotes(changed, [vote], [{ contest: digest }])).toContain('after 1 vote was cast');
    // Whoever agreed to the new version is not asked again.
    expect(changedAfterVotes(changed, [vote], [{ contest: changed }])).toBeNull();
  });

  test('the id of a sample depends on what it is a sample of', () => {
    const one = { contest: digest, task: 'a', contestant: 'b', round: 1 };
    expect(sampleId(one, sha256)).toMatch(/^s[0-9a-f]{16}$/);
    expect(sampleId({ ...one }, sha256)).toBe(sampleId(one, sha256));
    const others = [{ round: 2 }, { task: 'b' }, { contestant: 'a' }, { contest: sha256('') }];
    expect(new Set(others.map((other) => sampleId({ ...one, ...other }, sha256))).size).toBe(others.length);
  });
});

test('what a contest asks for is lowered to what the operator allows, with a sentence for each', () => {
  const ceilings = { budgetRun: 10, budgetCandidate: 5, candidates: 6, timeoutCandidateSeconds: 60 };
  const limits = { parallel: 64, time: 360_000, tokens: 100, dollars: 700 };
  const { contest, lowered } = capContest({ budget: 100_000, limits }, ceilings);
  expect(contest).toEqual({ budget: 10, limits: { parallel: 6, time: 60, tokens: 100, dollars: 5 } });
  expect(lowered).toEqual([
    'budget was lowered from $100000 to $10, which MAX_BUDGET_RUN allows.',
    'limits.dollars was lowered from $700 to $5, which MAX_BUDGET_CANDIDATE allows.',
    'limits.time was lowered from 360000 s to 60 s, which MAX_TIMEOUT allows.',
    'limits.parallel was lowered from 64 to 6, which MAX_CANDIDATES allows.',
  ]);
  const modest = capContest({ budget: 2, limits: { parallel: 4, time: 60, tokens: 100 } }, ceilings);
  expect(modest).toEqual({
    contest: { budget: 2, limits: { parallel: 4, time: 60, tokens: 100, dollars: 2 } },
    lowered: [],
  });
});
