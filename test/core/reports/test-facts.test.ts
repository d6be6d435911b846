import { expect, test } from 'vitest';
import type { Evidence, ExaminationCut, Unlocked } from '../../../src/core/evidence/index.ts';
import { agreementNote, contestedQuestion, testNotes } from '../../../src/core/reports/index.ts';
import { evidence, judged } from './sample.ts';

test('places that survivors change in common are listed, the most common first', () => {
  const changes = [
    { name: 'src/csv.ts', others: 2 },
    { name: 'src/csv.ts: parse', others: 1 },
    { name: 'src/own.ts', others: 0 },
  ];
  const view = { ...judged(), evidence: [evidence('A', { changes }), evidence('B'), evidence('C')] };
  expect(agreementNote(view)).toBe(
    'Candidates that passed every gate change the same places: src/csv.ts (3 of 3); src/csv.ts: parse (2 of 3).',
  );
  expect(agreementNote({ ...view, evidence: [evidence('A')] })).toBeNull();
});

test('a contested test becomes a question to a person', () => {
  const contested = ['list.test.ts > sorts'];
  const broken = (alias: string) => {
    const one = evidence(alias);
    return { ...one, ...(one.baseTests ? { baseTests: { ...one.baseTests, contested } } : {}) };
  };
  expect(contestedQuestion({ ...judged(), evidence: [broken('B'), broken('A'), evidence('C')] })).toBe(
    'A and B break this existing test: list.test.ts > sorts. Because most candidates that passed every gate break it, Runoff ignored it in the ranking. Should it change with this task?',
  );
  expect(contestedQuestion(judged())).toBeNull();
});

test('written tests are listed with their writer and result, as are examples that nobody passes', () => {
  const status = 'admitted' as const;
  const independentTests = {
    models: ['openai/gpt-6-sol'],
    tests: [
      {
        title: 'an empty list',
        origin: 'writer' as const,
        status,
        id: 'writer-1',
        because: '',
        passedBy: ['A'],
        failedBy: ['B'],
      },
    ],
    notes: ['Round 1: nothing.'],
  };
  const view = { ...judged(), independentTests, evidence: [evidence('A', { unmetExamples: ["f('')"] })] };
  expect(testNotes(view)).toEqual([
    "No candidate satisfies 1 example from the issue, as Runoff reads it: f('').",
    'Tests written from the brief by openai/gpt-6-sol: 1 admitted.',
    '“an empty list”: A passes, B fails.',
    'Round 1: nothing.',
  ]);
});

test('inputs that were not tried are mentioned once, with the place where others hang', () => {
  const behaviourOf = (leftOut?: 'base' | 'own') => ({
    behaviour: {
      ...{
        observed: 9,
        contested: 0,
        support: 1,
        logOdds: 0,
        agreement: 1,
        asBase: 1,
        group: 0,
        differences: [],
      },
      ...(leftOut ? { leftOut } : {}),
    },
  });
  const notes = (...all: readonly ('base' | 'own' | undefined)[]) =>
    testNotes({ ...judged(), evidence: all.map((one, at) => evidence('ABC'[at] ?? '', behaviourOf(one))) });
  const about = (place: string) => [
    `Not all inputs on which candidates are compared were tried: on ${place}, some hang, take long or end the process.`,
  ];
  expect(notes('base', 'base')).toEqual(about('the base commit'));
  expect(notes(undefined, 'own')).toEqual(about('B'));
  expect(notes(undefined, undefined)).toEqual([]);
});

test('what was left out of the examination is listed once, with the time that it had', () => {
  const cut = (...leftOut: ExaminationCut['leftOut']) => ({ cut: { budgetMs: 300_000, leftOut } });
  const notes = (given: { readonly cut: ExaminationCut }) =>
    testNotes({ ...judged(), evidence: [evidence('A', given), evidence('B', given)] });
  expect(
    notes(
      cut(
        { what: 'repeats', count: 1, of: 3 },
        { what: 'probes', count: 1, of: 1 },
        { what: 'peer-tests', count: 2, of: 3 },
      ),
    ),
  ).toEqual([
    'The time for examining, `timeout.examine` (5m 00s), was over before all was executed. Left out: repeated runs of failing tests (1 of 3; each may take two minutes), inputs on which candidates are compared, tests by 2 of 3 candidates on the code of the others. They count neither for nor against a candidate. Without them, no result is called clear.',
  ]);
  expect(notes(cut({ what: 'probes', count: 1, of: 2 }))).toEqual([
    expect.stringContaining('Left out: inputs from tests that candidates add. They count'),
  ]);
  expect(notes(cut({ what: 'written-tests', count: 2, of: 3 }))).toEqual([
    'The time for examining, `timeout.examine` (5m 00s), was over before all was executed. Left out: tests by models (2 of 3 parts). They count neither for nor against a candidate.',
  ]);
});

test('it is said where assertions could not be locked, and whose records are missing', () => {
  const steady = (alias: string, unlocked?: Unlocked) => ({
    ...evidence(alias),
    gates: [{ gate: 'steady' as const, passed: true, because: '', ...(unlocked ? { unlocked } : {}) }],
  });
  const notes = (...all: readonly Evidence[]) => testNotes({ ...judged(), evidence: all });
  expect(notes(steady('A'), steady('B'))).toEqual([]);
  expect(notes(steady('A', 'base'), steady('B', 'base'))).toEqual([
    'Assertion libraries were not locked in the second environment, because more tests of the base commit fail with the lock. So only reading a patch shows whether it replaces an assertion.',
  ]);
  expect(notes(steady('A', 'differs'), steady('B', 'unrecorded'), steady('C'))).toEqual([
    'Nothing shows that assertion libraries were locked when the tests ran again on A and B, unlike on the base commit. Please look for code that replaces assertions or removes files.',
  ]);
});
