import { expect, test } from 'vitest';
import { agreementNote, contestedQuestion, testNotes } from '../../../src/core/reports/index.ts';
import { evidence, judged } from './sample.ts';

test('where survivors change the same is said, the most shared first', () => {
  const changes = [
    { name: 'src/csv.ts', others: 2 },
    { name: 'src/csv.ts: parse', others: 1 },
    { name: 'src/own.ts', others: 0 },
  ];
  const view = { ...judged(), evidence: [evidence('A', { changes }), evidence('B'), evidence('C')] };
  expect(agreementNote(view)).toBe(
    'Changed alike by several of 3 survivors: src/csv.ts (3); src/csv.ts: parse (2).',
  );
  expect(agreementNote({ ...view, evidence: [evidence('A')] })).toBeNull();
});

test('a contested test is a question to a person', () => {
  const contested = ['list.test.ts > sorts'];
  const broken = (alias: string) => {
    const one = evidence(alias);
    return { ...one, ...(one.baseTests ? { baseTests: { ...one.baseTests, contested } } : {}) };
  };
  expect(contestedQuestion({ ...judged(), evidence: [broken('B'), broken('A'), evidence('C')] })).toBe(
    'A and B break this base test, which is not held against anybody: list.test.ts > sorts. Should it change with this task?',
  );
  expect(contestedQuestion(judged())).toBeNull();
});

test('written tests are told by who wrote them and what became of them, and examples that nobody meets', () => {
  const standing = 'admitted' as const;
  const neutral = {
    models: ['openai/gpt-6-sol'],
    tests: [
      {
        title: 'an empty list',
        origin: 'writer' as const,
        standing,
        because: '',
        passedBy: ['A'],
        failedBy: ['B'],
      },
    ],
    notes: ['Round 1: nothing.'],
  };
  const view = { ...judged(), neutral, evidence: [evidence('A', { unmet: ["f('')"] })] };
  expect(testNotes(view)).toEqual([
    "No candidate meets 1 example of the issue, as we read it: f('').",
    'Tests written before any candidate was seen by openai/gpt-6-sol: 1 admitted.',
    '“an empty list”: A passes, B fails.',
    'Round 1: nothing.',
  ]);
});
