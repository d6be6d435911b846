import { expect, test } from 'vitest';
import {
  type CriticReport,
  hasConfirmedObjection,
  type ObjectionOutcome,
  objectionOutcome,
  reviewWanted,
} from '../../../src/core/judging/index.ts';
import { RISKS } from '../../../src/core/model/index.ts';

test('a winner is reviewed always, never, or where the risk is high or a debate was held', () => {
  for (const level of RISKS)
    for (const debated of [true, false]) {
      const on = { brief: { risk: { level, because: 'money' } }, debated };
      expect(reviewWanted({ review: 'always' }, on)).toBe(true);
      expect(reviewWanted({ review: 'never' }, on)).toBe(false);
      expect(reviewWanted({ review: 'auto' }, on)).toBe(debated || level === 'high');
    }
  expect(reviewWanted({ review: 'auto' }, { brief: {}, debated: false })).toBe(false);
  expect(reviewWanted({ review: 'auto' }, { brief: undefined, debated: true })).toBe(true);
});

test('an objection is confirmed by a test that counts and fails, refuted by one that passes, else a doubt', () => {
  expect(objectionOutcome({ onCandidate: 'failed', admitted: true })).toBe('confirmed');
  expect(objectionOutcome({ onCandidate: 'failed', admitted: false })).toBe('doubt');
  expect(objectionOutcome({ onCandidate: 'passed', admitted: true })).toBe('refuted');
  expect(objectionOutcome({ onCandidate: 'passed', admitted: false })).toBe('refuted');
  expect(objectionOutcome(null)).toBe('doubt');
});

test("critics' tests count where one of them holds", () => {
  const objecting = (...fates: readonly ObjectionOutcome[]): CriticReport => ({
    critic: 'qa',
    kind: 'objects',
    model: 'x/y',
    because: 'It is wrong.',
    objections: fates.map((outcome) => ({
      file: 'a.ts',
      line: 1,
      input: '0',
      expected: '1',
      got: '2',
      outcome,
      because: 'It fails.',
    })),
  });
  expect(hasConfirmedObjection([objecting('refuted', 'doubt')])).toBe(false);
  expect(hasConfirmedObjection([objecting('refuted'), objecting('doubt', 'confirmed')])).toBe(true);
  expect(hasConfirmedObjection([{ critic: 'qa', kind: 'failed', why: 'No answer.' }])).toBe(false);
});
