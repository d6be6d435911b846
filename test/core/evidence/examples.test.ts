import { expect, test } from 'vitest';
import { admitExamples, DerivedTests, type ProbeRun, shownBy } from '../../../src/core/evidence/index.ts';

const DERIVED = DerivedTests.parse({
  files: [
    {
      path: 'test/words.test.js',
      text: '',
      file: 'a0',
      by: [],
      cases: [
        { id: 'asked', title: 'asked', source: "slug('a b') // => 'a-b'", origin: 'issue' },
        { id: 'stays', title: 'stays', source: "slug('a') // => 'a'", origin: 'issue', isMeant: true },
      ],
    },
  ],
  unused: [],
  values: [],
});

const run = (asked: 'passed' | 'failed', stays: 'passed' | 'failed'): ProbeRun => ({
  observations: new Map(),
  cases: new Map([
    ['a0.asked', asked],
    ['a0.stays', stays],
  ]),
});

test('an example that already holds on the base must go on to, and does not show that anything is done', () => {
  const onBase = run('failed', 'passed');
  const { byAlias } = admitExamples(
    DERIVED,
    [onBase, onBase],
    [
      { alias: 'A', run: run('passed', 'passed') },
      { alias: 'B', run: run('failed', 'passed') },
      { alias: 'C', run: run('passed', 'failed') },
    ],
  );
  const shown = [...byAlias].map(([alias, tests]) => [alias, tests.passed, shownBy(tests).issue]);
  expect(shown).toEqual([
    ['A', 2, 1],
    ['B', 1, 0],
    ['C', 1, 1],
  ]);
});

test('a result that the base gives and a candidate changes may be what is wrong: no vote, and none is missing', () => {
  const told = {
    ...DERIVED,
    files: DERIVED.files.map((file) => ({
      ...file,
      cases: file.cases.map(({ isMeant: _, ...one }) => one),
    })),
  };
  const onBase = run('failed', 'passed');
  const admitted = (...runs: readonly ProbeRun[]) => {
    const pool = runs.map((one, at) => ({ alias: `C${at}`, run: one }));
    const { byAlias, suspect } = admitExamples(told, [onBase, onBase], pool);
    return { votes: [...byAlias.values()].map(({ passed, total }) => `${passed} of ${total}`), suspect };
  };
  expect(admitted(run('passed', 'failed'), run('failed', 'passed'))).toEqual({
    votes: ['1 of 1', '0 of 1'],
    suspect: [],
  });
  expect(admitted(run('passed', 'failed'), run('passed', 'failed'))).toEqual({
    votes: ['1 of 1', '1 of 1'],
    suspect: [],
  });
  expect(admitted(run('passed', 'passed'), run('failed', 'passed')).votes).toEqual(['2 of 2', '1 of 2']);
});
