import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../../src/core/evidence/index.ts';
import { decide, type RankingOptions, rank } from '../../../src/core/ranking/index.ts';
import { candidate, independentTests, pools } from './sample.ts';

const WEIGHTS = { tests: 50, simplicity: 30, speed: 20 };
const HOW: RankingOptions = { weights: WEIGHTS, strategies: ['evidence', 'judges'] };
const decision = (...evidence: readonly Evidence[]) => decide(rank(evidence, HOW), evidence);
const exitCodeOnly = (evidence: Evidence): Evidence => ({
  ...evidence,
  ...(evidence.baseTests ? { baseTests: { ...evidence.baseTests, source: 'exit-code' } } : {}),
});

describe('nobody wins', () => {
  test('when no candidate passed every gate, with the most common cause', () => {
    expect(
      decision(
        candidate('A', { lost: 'builds' }),
        candidate('B', { lost: 'safe' }),
        candidate('C', { lost: 'builds' }),
      ),
    ).toEqual({
      kind: 'none',
      decidedBy: 'gates',
      because:
        'None of the 3 candidates passed every gate; most often it was `builds` (A, C). A: builds said no.',
    });
    expect(decision(candidate('A', { lost: 'content' })).because).toBe(
      'The candidate did not pass every gate; most often it was `content` (A). A: content said no.',
    );
    expect(decision()).toEqual({
      kind: 'none',
      decidedBy: 'gates',
      because: 'There was no candidate to decide on.',
    });
  });

  test('when even the best survivor breaks a base test, and a person must decide', () => {
    expect(decision(candidate('A', { breaks: ['x', 'y'] }), candidate('B', { breaks: ['x'] }))).toEqual({
      kind: 'none',
      decidedBy: 'regressions',
      because:
        'Every candidate that passed the gates breaks base tests; B, with the fewest, breaks 1 test that passes on the base: x. A person must judge whether the tests or the patches are wrong.',
    });
  });
});

test('nobody is clear where the base tests say nothing, whatever else was found', () => {
  const silent = ({ baseTests, ...one }: Evidence, run: boolean): Evidence => ({
    ...one,
    ...(baseTests && run ? { baseTests: { ...baseTests, silent: true } } : {}),
  });
  fc.assert(
    fc.property(pools, fc.boolean(), ([pool], run) => {
      expect(decision(...pool.map((one) => silent(one, run)))).not.toMatchObject({ confidence: 'clear' });
    }),
  );
});

test('nobody is clear where candidates were not compared for lack of time', () => {
  const cut = { budgetMs: 1, leftOut: [{ what: 'peer-tests', count: 1, of: 2 }] } as const;
  fc.assert(
    fc.property(pools, ([pool]) => {
      expect(decision(...pool.map((one) => ({ ...one, cut })))).not.toMatchObject({ confidence: 'clear' });
    }),
  );
});

const passing = (alias: string, ...more: readonly Partial<Evidence>[]): Evidence =>
  candidate(alias, Object.assign({ independentTests: independentTests(2, 0) }, ...more));
const failing = (alias: string): Evidence => candidate(alias, { independentTests: independentTests(0, 2) });

describe('a winner is clear', () => {
  test('when independent tests put it far ahead', () => {
    expect(decision(passing('A'), failing('B'), failing('C'))).toMatchObject({
      kind: 'winner',
      alias: 'A',
      confidence: 'clear',
      decidedBy: 'tests',
    });
  });

  test('but never without execution, nor by exit codes alone', () => {
    const alike = decision(candidate('A', { agreement: 1 }), candidate('B', { agreement: 0 }));
    expect(alike).not.toMatchObject({ confidence: 'clear' });
    expect(alike.decidedBy).toBe('agreement');
    expect(decision(exitCodeOnly(passing('A')), exitCodeOnly(failing('B')))).toMatchObject({
      confidence: 'likely',
    });
  });
});

describe('it is a toss-up', () => {
  test('when nothing separates them, and a person is asked to choose between them', () => {
    expect(decision(candidate('A'), candidate('B'))).toMatchObject({
      kind: 'toss-up',
      alias: 'A',
      among: ['A', 'B'],
      decidedBy: 'hash',
      because:
        'A breaks no base test (12 of 12 pass); nothing that was measured separates it from B, so the hash of the patch decided.',
    });
  });

  test('when the settings leave the pick to a person, even with clear evidence', () => {
    const evidence = [passing('A'), failing('B')];
    expect(decide(rank(evidence, HOW), evidence, { askPerson: true })).toMatchObject({
      kind: 'toss-up',
      alias: 'A',
      because: expect.stringMatching(/Your settings leave the choice to you\.$/),
    });
  });

  test('without offering candidates that break a base test', () => {
    const made = decision(candidate('A'), candidate('B'), candidate('C', { breaks: ['x'] }));
    expect(made).toMatchObject({ among: ['A', 'B'] });
  });
});

test('candidates with the same change count as one, and unanimity is reported as no proof', () => {
  const alike = ['A', 'B'];
  const made = decision(candidate('A', { alike }), candidate('B', { alike }));
  expect(made.because).toBe(
    'A breaks no base test (12 of 12 pass); all 2 that passed every gate made the same change, which is agreement, not proof.',
  );
  expect(made).not.toMatchObject({ confidence: 'clear' });
});

test('the same evidence in any order gives the same decision, and a candidate that failed a gate or breaks a test never wins', () => {
  fc.assert(
    fc.property(pools, ([pool, shuffled]) => {
      const made = decision(...pool);
      expect(decision(...shuffled)).toEqual(made);
      expect(made.because).toMatch(/\.$/);
      if (made.kind === 'none') return;
      expect(made.chance).toBeGreaterThanOrEqual(0);
      expect(made.chance).toBeLessThanOrEqual(1);
      const winning = pool.find((one) => one.alias === made.alias);
      expect(winning?.survivor).toBe(true);
      expect(winning?.baseTests?.regressions).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
});
