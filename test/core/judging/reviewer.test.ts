import { describe, expect, test } from 'vitest';
import {
  blindPatch,
  checkReview,
  identitiesOf,
  Review,
  reviewOutcome,
} from '../../../src/core/judging/index.ts';
import { candidate } from './sample.ts';

const patch = blindPatch(candidate('A', ['return total / count;']).files, identitiesOf([]));
const shown = { patch, nonce: 'f'.repeat(32), instructions: 'You review one candidate patch.' };
const claim = {
  file: 'src/run.ts',
  line: 10,
  quote: 'return total / count;',
  input: '[]',
  expected: '0',
  got: 'NaN',
};
const veto = (...claims: Review['claims']): Review => ({
  claims,
  because: 'It divides by zero.',
  verdict: 'veto',
});

describe('a veto', () => {
  const claims = checkReview('A', veto({ ...claim, test: 'test()' }), shown);

  test('with a changed line of the patch is a claim, and its test is kept', () => {
    expect(claims).toMatchObject({ kind: 'claims', claims: [{ alias: 'A', test: 'test()', input: '[]' }] });
  });

  test('without an existing line is ignored', () => {
    expect(checkReview('A', veto(), shown).kind).toBe('ignored');
    expect(checkReview('A', veto({ ...claim, line: 90 }), shown).kind).toBe('ignored');
    expect(checkReview('A', veto({ ...claim, quote: 'return 0;' }), shown).kind).toBe('ignored');
    // A line of the base is nobody's defect.
    expect(checkReview('A', veto({ ...claim, line: 9, quote: 'function run(input) {' }), shown).kind).toBe(
      'ignored',
    );
    expect(checkReview('A', veto({ ...claim, got: `NaN ${shown.nonce}` }), shown).kind).toBe('ignored');
  });

  test('is confirmed when its test counts and fails here', () => {
    const settled = (onCandidate: 'passed' | 'failed', admitted: boolean) =>
      reviewOutcome(claims, [{ onCandidate, admitted }]).kind;
    expect(settled('failed', true)).toBe('vetoed');
    expect(settled('failed', false)).toBe('doubted');
    expect(settled('passed', true)).toBe('passed');
    expect(settled('passed', false)).toBe('passed');
  });

  test('with a line only is a doubt, which eliminates nobody', () => {
    expect(reviewOutcome(claims, [null])).toEqual({
      kind: 'doubted',
      because: 'The reviewer has a doubt: src/run.ts:10, input []: expected 0, got NaN.',
    });
    expect(reviewOutcome(claims, []).kind).toBe('doubted');
  });
});

test('a pass is a pass, whatever claims it contains', () => {
  const passed = checkReview('A', { ...veto(claim), verdict: 'pass' }, shown);
  expect(passed.kind).toBe('pass');
  expect(reviewOutcome(passed, []).kind).toBe('passed');
});

test('answers are limited', () => {
  expect(Review.safeParse(veto(...Array.from({ length: 5 }, () => claim))).success).toBe(false);
  expect(Review.safeParse(veto({ ...claim, test: 'x'.repeat(9_000) })).success).toBe(false);
});
