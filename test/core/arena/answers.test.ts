import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BaseResult,
  checkScripts,
  countsOfRun,
  diffIn,
  type ExpectedTests,
  hiddenFile,
  notStarted,
  pathsByInterest,
  planSamples,
  type ResolvedContest,
  repositoryPrompt,
  verificationOf,
  whyBroken,
  whyIncomplete,
  whyUnrated,
} from '../../../src/core/arena/index.ts';
import type { TestRun } from '../../../src/core/evidence/index.ts';

const line = fc.stringMatching(/^[ a-z+@#-]{0,12}$/);
const lines = fc.array(line, { minLength: 1, maxLength: 20 }).map((all) => `${all.join('\n')}\n`);
const gitDiff = (before: string, after: string): string =>
  createTwoFilesPatch('a/src/x.js', 'b/src/x.js', before, after, '', '', { context: 3 })
    .split('\n')
    .slice(1)
    .join('\n')
    .replaceAll('\t\n', '\n')
    .replaceAll('\t', '');

describe('the diff in an answer', () => {
  const changes = fc
    .tuple(lines, lines)
    .filter(([before, after]) => before !== after)
    .map(([before, after]) => gitDiff(before, after));

  test('is found as it is, in a fence, and between prose', () => {
    fc.assert(
      fc.property(changes, (diff) => {
        const whole = diffIn(diff);
        expect(whole).not.toBeNull();
        for (const said of [
          `Here is it:\n\n\`\`\`diff\n${diff}\`\`\`\n\nThat should do.`,
          diff.replaceAll('\n', '\r\n'),
        ])
          expect(diffIn(said)).toBe(whole);
        // Once counted, nothing changes any more.
        expect(diffIn(whole ?? '')).toBe(whole);
      }),
    );
  });

  test('has its lines counted again: what a model wrote in a hunk header does not matter', () => {
    fc.assert(
      fc.property(changes, fc.nat(99), fc.nat(99), (diff, old, fresh) => {
        const wrong = diff.replaceAll(/^(@@ -\d+),\d+ (\+\d+),\d+ @@/gm, `$1,${old} $2,${fresh} @@`);
        expect(diffIn(wrong)).toBe(diffIn(diff));
      }),
    );
  });

  test('keeps an empty line that is context at the end of a hunk: git takes none for the end of the file', () => {
    const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n one\n+two\n \n';
    expect(diffIn(`${diff}\n\nThat is all.`)).toBe(diff);
    expect(diffIn(diff.replace(' one\n', ' one\n\n'))).toContain('@@ -1,3 +1,4 @@\n one\n \n+two\n \n');
  });

  test('may change several files, create and delete some', () => {
    const said = [
      'First:',
      '```diff',
      'diff --git a/old.js b/old.js',
      'deleted file mode 100644',
      '--- a/old.js',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-gone',
      '```',
      'and',
      '```',
      '--- /dev/null',
      '+++ b/new.js',
      '@@ -0,0 +1,7 @@',
      '+one',
      '+two',
      '```',
      'Done.',
    ].join('\n');
    expect(diffIn(said)).toBe(
      [
        'diff --git a/old.js b/old.js',
        'deleted file mode 100644',
        '--- a/old.js',
        '+++ /dev/null',
        '@@ -1,1 +0,0 @@',
        '-gone',
        '--- /dev/null',
        '+++ b/new.js',
        '@@ -0,0 +1,2 @@',
        '+one',
        '+two',
        '',
      ].join('\n'),
    );
  });

  test('may name files without the prefixes that git writes', () => {
    const bare = '--- lib/list.js\t2026-01-01\n+++ lib/list.js\n@@ -1 +1 @@\n-one\n+two\n';
    expect(diffIn(`Here:\n${bare}`)).toBe(
      '--- a/lib/list.js\t2026-01-01\n+++ b/lib/list.js\n@@ -1,1 +1,1 @@\n-one\n+two\n',
    );
    const fresh = '--- /dev/null\n+++ new.js\n@@ -0,0 +1 @@\n+one\n';
    expect(diffIn(fresh)).toBe('--- /dev/null\n+++ b/new.js\n@@ -0,0 +1,1 @@\n+one\n');
    expect(diffIn(`${bare}${bare.replaceAll('list', 'other')}`)?.match(/^---/gm)).toHaveLength(2);
  });

  test('ends before a list of bullets that follows it, if its hunk is complete', () => {
    const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n';
    expect(diffIn(`${diff}\n- \`x\` says three\n- nothing else changed\n`)).toBe(diff);
    expect(diffIn(`${diff}${'\n'.repeat(200_000)}- a\n`)).toBe(diff);
    // Its header announces more lines, so that these are removed ones.
    const longer = diff.replace('-1,2', '-1,4');
    expect(diffIn(`${longer}\n- a\n- b\n`)).toContain('@@ -1,5 +1,3 @@');
  });

  test.each([
    '',
    '--- \n+++ x\n',
    'A rule:\n\n--- title\n+++ more\n\ntext',
    'I cannot help with that.',
    '```js\nexport const a = 1;\n```',
    '--- a/x\n+++ b/x\n',
    '- a list\n+ a plus',
  ])('prose and code are none: %j', (said) => expect(diffIn(said)).toBeNull());

  test('no answer makes it throw or hang', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(line, fc.constantFrom('--- a/x', '+++ b/x', '@@ -1 +1 @@', 'diff --git a/x b/x', '```')),
        ),
        (all) => {
          const found = diffIn(all.join('\n'));
          expect(found === null || found.endsWith('\n')).toBe(true);
        },
      ),
    );
  });
});

const contest = (more: Partial<ResolvedContest> = {}): ResolvedContest => ({
  name: 'first',
  contestants: ['a', 'b'].map((id) => ({
    id,
    agent: 'none',
    model: `m/${id}`,
    prompt: 'p',
    instructions: 'p',
  })),
  tasks: [
    { id: 'text', kind: 'text', prompt: 'x' },
    {
      id: 'repo',
      kind: 'repo',
      base: { template: 't' },
      statement: 'x',
      verify: ['true'],
      start: 'f',
      hidden: null,
    },
  ],
  rounds: 2,
  seed: 7,
  temperature: 1,
  repair: false,
  budget: 5,
  limits: { parallel: 1, time: 1, tokens: 1 },
  votes: { results: 'after' },
  judges: [],
  ...more,
});
const NONE = { samples: [], bases: [] };
const named = (plan: ReturnType<typeof planSamples>) =>
  plan.missing.map(({ task, contestant, round, seed }) => `${task.id} ${contestant.id} ${round} ${seed}`);
const short = (text: string): string => text.length.toString(16).padStart(16, '0') + text;

describe('which samples are made', () => {
  test('every contestant answers every task in every round, round by round', () => {
    expect(named(planSamples(contest(), 'v', NONE, short))).toEqual([
      ...['text a 1 7', 'text b 1 7', 'repo a 1 7', 'repo b 1 7'],
      ...['text a 2 8', 'text b 2 8', 'repo a 2 8', 'repo b 2 8'],
    ]);
  });

  test('at temperature 0 a plain call is made once, and it is said', () => {
    const plan = planSamples(contest({ temperature: 0 }), 'v', NONE, short);
    expect(named(plan)).toEqual(['text a 1 7', 'text b 1 7', 'repo a 1 7', 'repo b 1 7']);
    expect(plan.notes).toEqual([expect.stringContaining('At temperature 0')]);
  });

  test('agents answer repository tasks only, in every round', () => {
    const agents = contest().contestants.map((one) => ({ ...one, agent: 'builtin' }));
    const plan = planSamples(contest({ temperature: 0, contestants: agents }), 'v', NONE, short);
    expect(named(plan)).toEqual(['repo a 1 7', 'repo b 1 7', 'repo a 2 8', 'repo b 2 8']);
    expect(plan.notes).toEqual([
      '2 contestants are agents and do not answer the 1 text task: agents work on repositories.',
    ]);
  });

  test('nobody is asked for a broken task: what is wrong with it can be corrected', () => {
    const asked = (found: Pick<BaseResult, 'built' | 'rated' | 'tests'>) => {
      const base = { contest: 'v', task: 'repo', hiddenTests: null, ...found } as BaseResult;
      return named(planSamples(contest({ rounds: 1 }), 'v', { samples: [], bases: [base] }, short));
    };
    const failed = countsOfRun(run({ source: 'exit-code', tests: {}, exitCode: 127 }), null);
    const passed = countsOfRun(run(), null);
    const nobody = ['text a 1 7', 'text b 1 7'];
    const everybody = [...nobody, 'repo a 1 7', 'repo b 1 7'];
    expect(asked({ built: false, rated: false, tests: null })).toEqual(nobody);
    expect(asked({ built: null, rated: false, tests: failed })).toEqual(nobody);
    expect(asked({ built: null, rated: true, tests: failed })).toEqual(everybody);
    // People can vote on a refactoring, although execution tells nothing about it.
    expect(asked({ built: null, rated: false, tests: passed })).toEqual(everybody);
  });
});

const run = (more: Partial<TestRun> = {}): TestRun => ({
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: 1500,
  tests: { 'a > one': 'passed', 'a > two': 'skipped' },
  tail: '',
  ...more,
});

describe('what execution shows', () => {
  test('tests are counted, and a command without a report is one test', () => {
    expect(countsOfRun(run(), null)).toMatchObject({
      passed: 1,
      failed: 0,
      skipped: 1,
      ok: true,
      seconds: 1.5,
    });
    expect(countsOfRun(run({ source: 'exit-code', tests: {}, exitCode: 1 }), null)).toMatchObject({
      passed: 0,
      failed: 1,
      ok: false,
      reported: false,
    });
    const failed = run({ exitCode: 1, tests: { 'a > one': 'failed' } });
    expect(countsOfRun(failed, null)).toMatchObject({ failed: 1, ok: false, failures: ['a > one'] });
  });

  test('tests that stop reporting have not passed, whatever the exit code', () => {
    const base = countsOfRun(run(), null);
    expect(countsOfRun(run({ source: 'exit-code', tests: {} }), base).ok).toBe(false);
    const fewer = countsOfRun(run({ tests: { 'a > one': 'passed' } }), base);
    expect(fewer.ok).toBe(false);
    expect(
      verificationOf({ built: null, tests: fewer, hiddenTests: null }, { change: null, why: null }).why,
    ).toBe('No test fails, but the command does, or fewer tests ran than on the base.');
    expect(countsOfRun(run({ tests: { a: 'passed', b: 'passed', c: 'passed' } }), base).ok).toBe(true);
  });

  const good = countsOfRun(run(), null);
  const bad = countsOfRun(run({ exitCode: 1, tests: { 'a > one': 'failed' } }), null);
  const more = { change: null, why: null };

  test('hidden tests decide if there are any, else the verify commands', () => {
    const built = true;
    expect(verificationOf({ built, tests: bad, hiddenTests: good }, more).solved).toBe(true);
    expect(verificationOf({ built, tests: good, hiddenTests: bad }, more)).toMatchObject({
      solved: false,
      why: '1 hidden test fails, such as a > one.',
    });
    expect(verificationOf({ built, tests: good, hiddenTests: null }, more).solved).toBe(true);
    expect(verificationOf({ built: false, tests: null, hiddenTests: null }, more).solved).toBe(false);
    expect(verificationOf({ built, tests: good, hiddenTests: null }, { ...more, why: 'No.' })).toMatchObject({
      solved: false,
      why: 'No.',
    });
  });

  const fine = { notStarted: null, reference: null };

  test('a task is rated if the base fails what decides', () => {
    const unrated = (one: Parameters<typeof whyUnrated>[0]) => whyUnrated(one, fine);
    expect(unrated({ built: null, tests: bad, hiddenTests: null })).toBeNull();
    expect(unrated({ built: null, tests: good, hiddenTests: bad })).toBeNull();
    expect(unrated({ built: null, tests: good, hiddenTests: null })).toContain('verify commands pass');
    expect(unrated({ built: null, tests: bad, hiddenTests: good })).toContain('hidden tests pass');
    expect(unrated({ built: false, tests: null, hiddenTests: null })).toContain('cannot be set up');
  });

  test('a task whose commands cannot be started, or whose reference fails, is broken and tells nothing', () => {
    const failing = { built: null, tests: bad, hiddenTests: null };
    const missing = run({ source: 'exit-code', tests: {}, exitCode: 127, tail: 'sh: 1: nod: not found' });
    const typo = notStarted('verify commands', missing);
    expect(typo).toContain('exit code 127');
    expect(whyUnrated(failing, { ...fine, notStarted: typo })).toBe(typo);
    const script = run({ source: 'exit-code', exitCode: 1, tail: 'npm error Missing script: "tset"' });
    expect(notStarted('verify commands', script)).toContain('Missing script');
    expect(notStarted('verify commands', run({ exitCode: 1, tail: 'item: not found' }))).toBeNull();
    expect(whyUnrated(failing, { ...fine, reference: '1 test fails.' })).toBe(
      'Its reference does not solve it. 1 test fails.',
    );
    // People can vote on a task whose base passes, so contestants are asked, and no reference has to solve it.
    const passing = { built: null, tests: good, hiddenTests: null };
    expect(whyUnrated(passing, { ...fine, reference: '1 test fails.' })).toContain('verify commands pass');
  });

  test('of the files that commands name, scripts that check the work are no part of it', () => {
    const files = ['check.sh', 'cli.js', 'scripts/verify.py', 'src/check.js'];
    const commands = ['sh ./check.sh && node cli.js', 'python scripts/verify.py'];
    expect(checkScripts(commands, files)).toEqual(['check.sh', 'scripts/verify.py']);
  });

  describe('a run without a failed test', () => {
    const path = 'test/a.test.js';
    const tests = (...names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [`${path} > ${name}`, 'passed' as const]));
    const hidden = [hiddenFile(path, "test('one'); test('two');", 2)];
    const notLoaded = run({ exitCode: 1, tests: { [`${path} > did not load`]: 'failed' } });
    const on = (more: Partial<ExpectedTests> = {}): ExpectedTests => ({
      base: notLoaded,
      reference: null,
      hidden,
      ...more,
    });

    test('counts with all tests of the hidden files, whatever the base said of them', () => {
      expect(whyIncomplete(run({ tests: tests('one', 'two', 'a third') }), on())).toBeNull();
      const both = run({ exitCode: 1, tests: { ...tests('one'), [`${path} > two`]: 'failed' } });
      expect(whyIncomplete(run({ tests: tests('one', 'two') }), on({ base: both }))).toBeNull();
    });

    test.each([
      ['the file as one test', run({ tests: { [path]: 'passed' } }), 'No test was run'],
      ['fewer tests than the file holds', run({ tests: tests('one') }), '1 hidden test of'],
      ['no report', run({ source: 'exit-code', tests: {} }), 'no report'],
      ['a skipped test', run({ tests: { ...tests('one'), [`${path} > two`]: 'skipped' } }), 'skipped'],
    ])('does not count with %s', (_, shown, why) => {
      expect(whyIncomplete(shown, on())).toContain(why);
    });

    test('does not count without a test that passed on the base, or with the reference', () => {
      const base = run({ exitCode: 1, tests: { ...tests('old'), [`${path} > one`]: 'failed' } });
      expect(whyIncomplete(run({ tests: tests('one', 'two') }), on({ base }))).toContain('old');
      const reference = run({ tests: tests('one', 'two') });
      expect(whyIncomplete(run({ tests: tests('one', 'other') }), on({ reference }))).toContain('two');
      // What the reference breaks, everybody may break.
      expect(whyIncomplete(run({ tests: tests('one', 'two') }), on({ base, reference }))).toBeNull();
      expect(whyBroken(base, run({ tests: tests('one') }), reference)).toBeNull();
      expect(whyBroken(base, run({ tests: tests('one') }), null)).toContain('old');
    });

    test('counts with skipped tests that the hidden files skip themselves', () => {
      const skips = [hiddenFile(path, "test('one'); test.skip('two');", 2)];
      const shown = run({ tests: { ...tests('one'), [`${path} > two`]: 'skipped' } });
      expect(whyIncomplete(shown, on({ hidden: skips }))).toBeNull();
    });
  });
});

describe('what a plain call is told of a repository', () => {
  test('files that the statement names come first, and lock files and binaries never', () => {
    const paths = ['a.js', 'package-lock.json', 'src/csv/parse.js', 'src/list.js', 'logo.png'];
    expect(pathsByInterest(paths, 'Fix src/list.js: parse quotes')).toEqual([
      'src/list.js',
      'src/csv/parse.js',
      'a.js',
    ]);
  });

  test('a file that contains fences does not end its own', () => {
    const files = [{ path: 'README.md', text: '````\n```js\n```\n````' }];
    const prompt = repositoryPrompt({ statement: 'x', paths: ['README.md'], files, verify: ['npm test'] });
    expect(prompt).toContain('\n`````\n````\n```js\n```\n````\n`````');
  });
});
