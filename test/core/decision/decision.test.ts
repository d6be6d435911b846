import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/core/decision/index.ts';
import type { Evidence } from '../../../src/core/evidence/index.ts';
import { rank } from '../../../src/core/ranking/index.ts';
import { by, candidate, pools } from '../ranking/sample.ts';

const WEIGHTS = { tests: 50, simplicity: 30, speed: 20 };
const decision = (...evidence: readonly Evidence[]) => decide(rank(evidence, WEIGHTS), evidence);
const exitCodeOnly = (evidence: Evidence): Evidence => ({
  ...evidence,
  ...(evidence.baseTests ? { baseTests: { ...evidence.baseTests, source: 'exit-code' } } : {}),
});

describe('nobody wins', () => {
  test('when no candidate passed every gate: the commonest cause is named', () => {
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

  test('when even the best survivor breaks a base test: a person must judge', () => {
    expect(decision(candidate('A', { breaks: ['x', 'y'] }), candidate('B', { breaks: ['x'] }))).toEqual({
      kind: 'none',
      decidedBy: 'regressions',
      because:
        'Every candidate that passed the gates breaks base tests; B, with the fewest, breaks 1 test that passes on the base: x. A person must judge whether the tests or the patches are wrong.',
    });
  });
});

describe('a winner is clear', () => {
  test('when it alone breaks nothing', () => {
    expect(decision(candidate('A', { breaks: ['x'] }), candidate('B'))).toEqual({
      kind: 'winner',
      alias: 'B',
      confidence: 'clear',
      decidedBy: 'regressions',
      because: 'B breaks no base test (12 of 12 pass); A breaks 1.',
    });
  });

  test('when it is at least 0.15 ahead by the tests of others', () => {
    const behind = candidate('B', { peerTests: [by('A', 0, 2)] });
    expect(decision(candidate('A', { peerTests: [by('B', 1, 1)] }), behind)).toMatchObject({
      alias: 'A',
      confidence: 'clear',
      decidedBy: 'peer-tests',
    });
    const near = candidate('B', { peerTests: [by('A', 8, 10)] });
    expect(decision(candidate('A', { peerTests: [by('B', 1, 1)] }), near)).toMatchObject({
      confidence: 'likely',
      decidedBy: 'peer-tests',
    });
    const edge = candidate('B', { peerTests: [by('A', 7, 10)] });
    expect(decision(candidate('A', { peerTests: [by('B', 1, 1)] }), edge)).toMatchObject({
      confidence: 'clear',
    });
  });

  test('when it is the only survivor and shows by a test that something works now', () => {
    const out = candidate('B', { lost: 'untampered' });
    expect(decision(candidate('A', { addedTests: 1 }), out)).toMatchObject({
      confidence: 'clear',
      decidedBy: 'gates',
    });
    expect(decision(candidate('A'), out)).toMatchObject({ confidence: 'likely', decidedBy: 'gates' });
  });
});

describe('a winner is only likely', () => {
  test('when metrics or the hash had to decide', () => {
    expect(decision(candidate('A', { productionLines: 20 }), candidate('B'))).toMatchObject({
      alias: 'B',
      confidence: 'likely',
      decidedBy: 'metrics',
    });
    expect(decision(candidate('A'), candidate('B'))).toMatchObject({
      alias: 'A',
      confidence: 'likely',
      decidedBy: 'hash',
    });
  });

  test('when there was no more than an exit code', () => {
    const better = exitCodeOnly(candidate('A', { addedTests: 2 }));
    expect(decision(better, exitCodeOnly(candidate('B', { breaks: ['exit code'] })))).toMatchObject({
      alias: 'A',
      confidence: 'likely',
    });
    expect(decision(better)).toMatchObject({ confidence: 'likely' });
  });
});

test('same evidence in any order, same decision; a candidate that failed a gate or breaks a test never wins', () => {
  fc.assert(
    fc.property(pools, ([pool, shuffled]) => {
      const made = decision(...pool);
      expect(decision(...shuffled)).toEqual(made);
      expect(made.because).toMatch(/\.$/);
      if (made.kind !== 'winner') return;
      const winning = pool.find((one) => one.alias === made.alias);
      expect(winning?.survivor).toBe(true);
      expect(winning?.baseTests?.regressions).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
});
