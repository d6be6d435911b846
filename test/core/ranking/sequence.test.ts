import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../../src/core/evidence/index.ts';
import type { IndependentTestReport } from '../../../src/core/independent-tests/index.ts';
import {
  decide,
  firstInSequence,
  NOTICED_SHARE,
  nextInSequence,
  rank,
  type SequenceFacts,
} from '../../../src/core/ranking/index.ts';
import { Settings } from '../../../src/core/settings/index.ts';
import { candidate, fixing, independentTests, pools, writtenTests } from './sample.ts';

const WEIGHTS = { weights: Settings.parse({}).weights, strategies: [] };
const CONTESTANT = { wins: 0.4, usd: 0.2 };

/** One of three contestants ran for the twenty cents that it was expected to cost. */
function step(evidence: readonly Evidence[], more: Partial<SequenceFacts> = {}) {
  const ranking = rank(evidence, WEIGHTS);
  return nextInSequence({
    evidence,
    decision: decide(ranking, evidence),
    started: evidence.map(() => ({ expectedUsd: 0.2, usd: 0.2 })),
    pending: [CONTESTANT, CONTESTANT],
    budget: { run: 5, candidate: 2 },
    remainingUsd: 4,
    isTimeShort: false,
    ...more,
  });
}

/** Two candidates of different families that leave each other likely. */
const LIKELY = [
  candidate('A', { independentTests: independentTests(3, 0), family: 'claude' }),
  candidate('B', { independentTests: independentTests(2, 1), family: 'gpt' }),
];
const wrote = (tests: Partial<IndependentTestReport['tests'][number]>[]): IndependentTestReport => ({
  models: ['openai/gpt-6-sol'],
  notes: [],
  tests: tests.map((one, i) => ({
    id: `w${i}`,
    test: `w${i}`,
    origin: 'writer',
    status: 'admitted',
    because: 'It fails on the base.',
    passedBy: [],
    failedBy: [],
    title: 'a test',
    ...one,
  })),
});

describe('one sound candidate is enough', () => {
  const red = fixing(candidate('A', { family: 'claude' }), 1);

  test('if it makes a test pass that fails on the base', () => {
    expect(step([red])).toEqual({
      kind: 'stop',
      because: 'A is clearly right: tests that its own model family did not write show it.',
      savedUsd: expect.closeTo(0.4),
    });
  });

  test('if it passes an example of the issue', () => {
    expect(step([candidate('A', { independentTests: independentTests(1, 0) })]).kind).toBe('stop');
  });

  test('if it passes tests by a model of another family, and no written test fails on it', () => {
    const one = candidate('A', { family: 'claude', independentTests: writtenTests(2, [], 0, 'gpt') });
    const both = [{ passedBy: ['A'] }, { passedBy: ['A'] }];
    expect(step([one], { written: wrote(both) }).kind).toBe('stop');
    expect(step([{ ...one, family: 'gpt' }], { written: wrote(both) })).toMatchObject({
      kind: 'next',
      because:
        'A is the only candidate that passed every gate and broke no existing test, and not clearly right.',
    });
    const { family: _, ...unknown } = one;
    expect(step([unknown], { written: wrote(both) }).kind).toBe('next');
  });

  test('but not if a written test fails on it that another candidate may pass', () => {
    const suspect = wrote([{ status: 'suspect', failedBy: ['A'] }]);
    expect(step([red], { written: suspect })).toMatchObject({
      kind: 'next',
      because:
        'A is the only candidate that passed every gate and broke no existing test, and fails a written test that another one may pass.',
    });
  });

  test('nor if its family made the same change twice', () => {
    const suspect = wrote([{ status: 'suspect', failedBy: ['A', 'B'] }]);
    const twice = ['A', 'B'].map((alias) => ({ ...red, alias, alike: ['A', 'B'] }));
    expect(step(twice, { written: suspect })).toMatchObject({
      kind: 'next',
      because:
        'A is the only candidate that passed every gate and broke no existing test, and fails a written test that another one may pass.',
    });
  });

  test('but not by its own tests, by agreement, or by breaking nothing, whatever one more costs', () => {
    const own = candidate('A', { addedTests: 3, provenTests: 3 });
    for (const one of [own, candidate('A'), candidate('A', { agreement: 1 })]) {
      const next = step([one], { pending: [{ wins: 0.01, usd: 1.9 }] });
      expect(next.kind).toBe('next');
    }
  });

  test('whoever failed beside it says nothing about it', () => {
    const failed = candidate('B', { lost: 'builds' });
    expect(step([red, failed]).kind).toBe('stop');
    expect(step([candidate('A'), failed]).kind).toBe('next');
  });
});

describe('another contestant starts', () => {
  test('while nobody passes, or nothing decides', () => {
    expect(step([candidate('A', { lost: 'builds' })])).toMatchObject({
      kind: 'next',
      because: 'So far, every candidate fails a gate or breaks a test.',
    });
    expect(step([candidate('A', { breaks: ['x'] })]).kind).toBe('next');
    expect(step([candidate('A'), candidate('B')])).toMatchObject({
      kind: 'next',
      because: 'The evidence does not decide so far.',
    });
  });

  test('until the contestants, the budget or the time of the run are used up', () => {
    const failing = [candidate('A', { lost: 'builds' })];
    expect(step(failing, { pending: [] })).toEqual({
      kind: 'stop',
      because: 'All contestants have run.',
      savedUsd: 0,
    });
    expect(step(failing, { remainingUsd: 0.1 })).toMatchObject({
      kind: 'stop',
      because: 'The remaining budget is too small for another contestant.',
    });
    expect(step(failing, { remainingUsd: null }).kind).toBe('next');
    expect(step(failing, { isTimeShort: true })).toMatchObject({
      kind: 'stop',
      because: 'The remaining time of the run is too short for another contestant.',
    });
  });
});

describe('beside a likely pick it is a matter of cost', () => {
  const decision = {
    kind: 'winner',
    alias: 'A',
    confidence: 'likely',
    decidedBy: 'tests',
    because: '',
    chance: 0.7,
  } as const;
  /** Dollars for an answer at which one more is just worth its cost. */
  const even = CONTESTANT.usd / (0.3 * CONTESTANT.wins * NOTICED_SHARE);
  const at = (run: number, more: Partial<SequenceFacts> = {}) =>
    step(LIKELY, { decision, budget: { run, candidate: 2 }, ...more });

  test('one more is worth what it costs, or not', () => {
    expect(at(even + 0.01)).toMatchObject({
      kind: 'next',
      because: expect.stringMatching(/worth its cost/),
    });
    expect(at(even - 0.01)).toMatchObject({
      kind: 'stop',
      because: expect.stringMatching(/not worth its cost/),
    });
  });

  test('a chance of nearly nothing is not called one in a hundred', () => {
    expect(at(0, { pending: [{ wins: 0.01, usd: 0.2 }] }).because).toContain(
      'corrects this is less than 1%,',
    );
  });

  test('what the others of the run cost moves the expected cost', () => {
    const dear = [{ expectedUsd: 0.2, usd: 1 }];
    expect(at(even + 0.01, { started: dear }).kind).toBe('stop');
    const cheap = [{ expectedUsd: 0.2, usd: 0.02 }];
    expect(at(even - 0.01, { started: cheap }).kind).toBe('next');
  });

  test('an unknown cost is no reason to stop', () => {
    const pending = [{ wins: 0.4, usd: null }];
    expect(at(even, { pending, started: [] }).kind).toBe('next');
    expect(at(even - 0.01, { pending, started: [{ expectedUsd: null, usd: 0.2 }] }).kind).toBe('stop');
  });
});

test('the reason names no dollars, which blind mode hides', () => {
  for (const evidence of [LIKELY, [candidate('A')], [fixing(candidate('A'), 1)]])
    expect(step(evidence).because).not.toContain('$');
});

test('the order of the evidence has no influence, and a field ends where nobody is left', () => {
  fc.assert(
    fc.property(pools, fc.integer({ min: 0, max: 2 }), ([pool, other], left) => {
      const pending = Array.from({ length: left }, () => CONTESTANT);
      const one = step(pool, { pending });
      expect(step(other, { pending })).toEqual(one);
      if (left === 0) expect(one.kind).toBe('stop');
    }),
  );
});

test('one starts where a test by somebody else may show that it is right, else two', () => {
  const settings = (evaluator: Settings['evaluator']) => Settings.parse({ evaluator });
  const failing = (because: 'failing' | 'network') => ({ excluded: [{ because, count: 1, names: ['x'] }] });
  const alone = settings(['evidence']);
  expect(firstInSequence(alone, { excluded: [] })).toBe(2);
  expect(firstInSequence(settings(['evidence', 'model']), { excluded: [] })).toBe(1);
  expect(firstInSequence(alone, failing('failing'))).toBe(1);
  // No patch gives it a network.
  expect(firstInSequence(alone, failing('network'))).toBe(2);
  expect(firstInSequence(settings(['evidence', 'model']), null)).toBe(2);
});
