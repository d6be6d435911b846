import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../../src/core/evidence/index.ts';
import { rank } from '../../../src/core/ranking/index.ts';
import { by, candidate, pools } from './sample.ts';

const WEIGHTS = { tests: 50, simplicity: 30, speed: 20 };
/** `B regressions A gates C`: the order, and what separates each from the next. */
const order = (...evidence: readonly Evidence[]): string =>
  rank(evidence, WEIGHTS)
    .flatMap(({ alias, aheadBy }) => (aheadBy ? [alias, aheadBy] : [alias]))
    .join(' ');

describe('the order', () => {
  test('survivors stand before all others, and those by how far they came', () => {
    expect(order(candidate('A', { lost: 'content' }), candidate('B', { breaks: ['x'] }))).toBe('B gates A');
    const early = candidate('A', { lost: 'collected' });
    const none: Evidence = { ...early, gates: early.gates.slice(0, 1) };
    expect(order(none, candidate('B', { lost: 'untampered' }))).toBe('B gates A');
  });

  test('regressions come before the share of the tests of others', () => {
    const few = candidate('A', { breaks: ['x'], peerTests: [by('C', 0, 4)] });
    const many = candidate('B', { breaks: ['x', 'y'], peerTests: [by('C', 4, 4)] });
    expect(order(few, many)).toBe('A regressions B');
  });

  test('the share of the tests of others comes before metrics', () => {
    const right = candidate('B', { productionLines: 90, peerTests: [by('A', 3, 3)] });
    const short = candidate('A', { productionLines: 1, peerTests: [by('B', 2, 3)] });
    expect(order(right, short)).toBe('B peer-tests A');
  });

  test('metrics decide where what was executed does not; then the hash of the patch', () => {
    expect(order(candidate('A', { productionLines: 20 }), candidate('B'))).toBe('B metrics A');
    expect(order(candidate('A', { patchSha256: 'f' }), candidate('B', { patchSha256: 'e' }))).toBe(
      'B hash A',
    );
    expect(order(candidate('B', { patchSha256: 'e' }), candidate('A', { patchSha256: 'e' }))).toBe(
      'A hash B',
    );
  });

  test('is the same for the same evidence in any order, down to the last digit', () => {
    fc.assert(
      fc.property(pools, ([pool, shuffled]) => {
        expect(rank(shuffled, WEIGHTS)).toEqual(rank(pool, WEIGHTS));
      }),
      { numRuns: 1_000 },
    );
  });

  test('is whole: places from 1, every candidate once, nobody ahead of a better one', () => {
    fc.assert(
      fc.property(pools, ([pool]) => {
        const ranked = rank(pool, WEIGHTS);
        expect(ranked.map((one) => one.place)).toEqual(pool.map((_, i) => i + 1));
        expect(ranked.map((one) => one.alias).sort()).toEqual(pool.map((one) => one.alias).sort());
        for (const [i, one] of ranked.entries()) {
          const next = ranked[i + 1];
          expect(one.aheadBy !== undefined).toBe(next !== undefined);
          if (!next?.survivor) continue;
          expect(one.survivor).toBe(true);
          expect(one.regressions).toBeLessThanOrEqual(next.regressions);
        }
      }),
    );
  });
});

describe('the share of the tests of others', () => {
  const shareOf = (...peerTests: Evidence['peerTests']): number | undefined =>
    rank([candidate('A', { peerTests })], WEIGHTS)[0]?.peerShare;

  test('is (1/2 + shares) / (1 + authors)', () => {
    expect(shareOf()).toBe(0.5);
    expect(shareOf(by('B', 4, 4))).toBe(0.75);
    expect(shareOf(by('B', 0, 4))).toBe(0.25);
    expect(shareOf(by('B', 1, 2), by('C', 1, 4))).toBeCloseTo(1.25 / 3, 8);
  });

  test('gives every author one vote, whatever the number of tests', () => {
    expect(shareOf(by('B', 0, 1), by('C', 1_000, 1_000))).toBe(0.5);
  });

  test('does not know authors without tests', () => {
    expect(shareOf(by('B', 4, 4), by('C', 0, 0))).toBe(0.75);
  });
});

describe('metrics', () => {
  const metrics = (evidence: readonly Evidence[], weights = WEIGHTS) =>
    rank(evidence, weights).find((one) => one.alias === 'A')?.metrics;

  test('compare with the smallest and the fastest survivor', () => {
    const slow = candidate('A', { productionLines: 40, coderMs: 20_000, peerTests: [by('B', 1, 2)] });
    const quick = candidate('B', { productionLines: 10, coderMs: 5_000 });
    const out = candidate('C', { lost: 'builds', productionLines: 1, coderMs: 1 });
    expect(metrics([slow, quick, out])).toEqual({ tests: 0.5, simplicity: 0.25, speed: 0.25, total: 37.5 });
  });

  test('without peer tests their weight is shared out', () => {
    expect(metrics([candidate('A', { coderMs: 20_000 }), candidate('B')])).toEqual({
      tests: null,
      simplicity: 1,
      speed: 0.5,
      total: 80,
    });
  });

  test('weights that leave nothing leave nothing', () => {
    expect(metrics([candidate('A')], { tests: 1, simplicity: 0, speed: 0 })?.total).toBe(0);
  });

  test('stay within their bounds, also without survivors and with empty patches', () => {
    fc.assert(
      fc.property(pools, ([pool]) => {
        for (const one of rank(pool, WEIGHTS)) {
          const { tests, simplicity, speed, total } = one.metrics;
          for (const ratio of [tests ?? 0, simplicity, speed, one.peerShare, total / 100]) {
            expect(ratio).toBeGreaterThanOrEqual(0);
            expect(ratio).toBeLessThanOrEqual(1);
          }
        }
      }),
    );
  });
});

test('every place has its reason', () => {
  const evidence = [
    candidate('A', { peerTests: [by('B', 3, 3)] }),
    candidate('B', { peerTests: [by('A', 1, 2)], productionLines: 4 }),
    candidate('C', { peerTests: [by('A', 1, 2)], productionLines: 40 }),
    candidate('D', { breaks: ['list > empty', 'list > \u202enull\n', 'a', 'b'] }),
    candidate('E', { lost: 'builds' }),
  ];
  expect(rank(evidence, WEIGHTS).map(({ alias, because }) => `${alias}: ${because}`)).toMatchInlineSnapshot(`
    [
      "A: Of the other candidates' tests it passes 3 of 3; B passes 1 of 2.",
      "B: Of the other candidates' tests it passes 1 of 2 (fails A 0); A passes 3 of 3.",
      "C: On executed evidence it equals B; it is behind on metrics: 48.0 (40 production lines, 10 s) against 75.0 (4 production lines, 10 s).",
      "D: Breaks 4 base tests (list > empty; list >  null ; a; and 1 more); C breaks no base test.",
      "E: Failed the gate \`builds\`: builds said no.",
    ]
  `);
});
