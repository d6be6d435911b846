import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Evidence, IndependentTests } from '../../../src/core/evidence/index.ts';
import {
  decide,
  isOverruledBy,
  type RankingOptions,
  rank,
  undecidedBefore,
} from '../../../src/core/ranking/index.ts';
import { by, candidate } from './sample.ts';

const HOW: RankingOptions = {
  weights: { tests: 50, simplicity: 30, speed: 20 },
  strategies: ['evidence', 'judges'],
};

/** Neutral tests that all candidates of a pool were tried on; those named are failed. */
const neutral = (total: number, ...failed: readonly string[]): IndependentTests => ({
  passed: total - failed.length,
  total,
  failing: failed.map((id) => ({ id, origin: id.startsWith('review') ? 'reviewer' : 'issue' })),
});
const aliases = (evidence: readonly Evidence[], how = HOW) => rank(evidence, how).map(({ alias }) => alias);

/** A is far ahead by what rivals say; a critic's test is one of seven neutral ones. */
const ahead = (fields: Partial<Evidence>) =>
  candidate('A', { agreement: 1, peerTests: [by('B', 3, 3)], ...fields });
const behind = (fields: Partial<Evidence>) =>
  candidate('B', { agreement: 0, peerTests: [by('A', 0, 3)], ...fields });

describe("a critic's test that fails on the first and passes on another one", () => {
  const pool = [
    ahead({ independentTests: neutral(7, 'review-A-qa-1') }),
    behind({ independentTests: neutral(7) }),
    candidate('C', { independentTests: neutral(7, 'issue 1') }),
  ];

  test('displaces it, whatever else speaks for it', () => {
    const untouched = [ahead({ independentTests: neutral(6) }), behind({ independentTests: neutral(6) })];
    expect(aliases(untouched)).toEqual(['A', 'B']);
    const ranking = rank(pool, HOW);
    expect(ranking.map(({ alias, separatedBy }) => [alias, separatedBy])).toEqual([
      ['B', 'objections'],
      ['A', expect.any(String)],
      ['C', undefined],
    ]);
    expect(ranking.map(({ because }) => because).slice(0, 2)).toEqual([
      "It passes a critic's test that A fails, and every independent test that A passes.",
      expect.stringMatching(/^B passes a critic's test that this one fails, [^.]*\.$/),
    ]);
    expect(decide(ranking, pool)).toMatchObject({ alias: 'B', decidedBy: 'objections' });
  });

  test('displaces it also if the settings order survivors otherwise', () => {
    expect(aliases(pool, { ...HOW, strategies: ['metrics'] })[0]).not.toBe('A');
  });

  test('leaves judges nothing to decide between the two', () => {
    const even = [
      candidate('A', { independentTests: neutral(40, 'review-A-qa-1') }),
      candidate('B', { independentTests: neutral(40) }),
    ];
    expect(undecidedBefore('judges', even, HOW)).toEqual(['B']);
  });

  test('does not count if tests do not count', () => {
    expect(aliases(pool, { ...HOW, without: ['tests'] })[0]).toBe('A');
  });
});

describe('it does not displace the first', () => {
  const first = (own: IndependentTests, other: IndependentTests) =>
    aliases([ahead({ independentTests: own }), behind({ independentTests: other })])[0];

  test('if it fails on the other one, too', () => {
    expect(first(neutral(7, 'review-A-qa-1'), neutral(7, 'review-A-qa-1'))).toBe('A');
  });

  test('if the other one fails a test that the first passes', () => {
    expect(first(neutral(7, 'review-A-qa-1'), neutral(7, 'issue 1'))).toBe('A');
  });

  test('if the other one could not be tested', () => {
    expect(first(neutral(7, 'review-A-qa-1'), neutral(6))).toBe('A');
  });

  test('in favour of one that breaks base tests or failed a gate', () => {
    for (const fields of [{ breaks: ['x'] }, { lost: 'builds' as const }]) {
      const other = candidate('B', { independentTests: neutral(7), ...fields });
      expect(aliases([ahead({ independentTests: neutral(7, 'review-A-qa-1') }), other])[0]).toBe('A');
    }
  });
});

const TESTS = ['issue 1', 'issue 2', 'review-A-qa-1', 'review-A-qa-2', 'review-B-qa-1'] as const;
const pools = fc
  .array(
    fc.record({
      failed: fc.subarray([...TESTS]),
      breaks: fc.constantFrom(0, 0, 0, 1),
      agreement: fc.constantFrom(0, 0.5, 1),
      peers: fc.integer({ min: 0, max: 3 }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((all) =>
    all.map(({ failed, breaks, agreement, peers }, i) =>
      candidate(String.fromCharCode(65 + i), {
        breaks: Array.from({ length: breaks }, (_, n) => `test ${n}`),
        agreement,
        peerTests: [by('Z', peers, 3)],
        independentTests: neutral(TESTS.length, ...failed),
      }),
    ),
  );

describe('for any pool', () => {
  test('there is no cycle of displacements', () => {
    fc.assert(
      fc.property(pools, fc.tuple(fc.nat(), fc.nat(), fc.nat()), (pool, at) => {
        const [a, b, c] = at.map((i) => pool[i % pool.length]) as [Evidence, Evidence, Evidence];
        expect(isOverruledBy(a, a)).toBe(false);
        expect(isOverruledBy(a, b) && isOverruledBy(b, a)).toBe(false);
        if (isOverruledBy(a, b) && isOverruledBy(b, c)) expect(isOverruledBy(a, c)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('the order does not depend on the order of arrival', () => {
    fc.assert(
      fc.property(pools, fc.infiniteStream(fc.nat()), (pool, keys) => {
        const order = aliases(pool);
        const shuffled = pool
          .map((one) => ({ one, key: keys.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ one }) => one);
        expect(aliases(shuffled)).toEqual(order);
        const first = pool.find(({ alias }) => alias === order[0]) as Evidence;
        const like = pool.filter(
          (one) => one.baseTests?.regressions.length === first.baseTests?.regressions.length,
        );
        expect(like.some((one) => isOverruledBy(first, one))).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('a further objection against one candidate never helps it', () => {
    fc.assert(
      fc.property(pools, fc.nat(), (pool, at) => {
        const victim = (pool[at % pool.length] as Evidence).alias;
        const more = pool.map((one) => {
          const { failing, total } = one.independentTests ?? neutral(0);
          const failed = [...failing.map(({ id }) => id), ...(one.alias === victim ? ['review-new'] : [])];
          return { ...one, independentTests: neutral(total + 1, ...failed) };
        });
        const how: RankingOptions = { ...HOW, strategies: ['evidence'] };
        const before = aliases(pool, how).indexOf(victim);
        expect(aliases(more, how).indexOf(victim)).toBeGreaterThanOrEqual(before);
      }),
      { numRuns: 1_000 },
    );
  });
});
