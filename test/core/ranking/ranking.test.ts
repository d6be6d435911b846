import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../../src/core/evidence/index.ts';
import { type RankingOptions, rank, signalsOf } from '../../../src/core/ranking/index.ts';
import { behaving, by, candidate, independentTests, pools } from './sample.ts';

const WEIGHTS = { tests: 50, simplicity: 30, speed: 20 };
const HOW: RankingOptions = { weights: WEIGHTS, strategies: ['evidence', 'judges'] };
/** `B regressions A gates C`: the order, and what separates each from the next. */
const order = (...evidence: readonly Evidence[]): string => orderBy(HOW, ...evidence);
const orderBy = (how: RankingOptions, ...evidence: readonly Evidence[]): string =>
  rank(evidence, how)
    .flatMap(({ alias, separatedBy }) => (separatedBy ? [alias, separatedBy] : [alias]))
    .join(' ');

describe('the order', () => {
  test('survivors precede all others, which are ordered by how far they got', () => {
    expect(order(candidate('A', { lost: 'content' }), candidate('B', { breaks: ['x'] }))).toBe('B gates A');
    const early = candidate('A', { lost: 'collected' });
    const none: Evidence = { ...early, gates: early.gates.slice(0, 1) };
    expect(order(none, candidate('B', { lost: 'untampered' }))).toBe('B gates A');
  });

  test("regressions precede the share of others' tests", () => {
    const few = candidate('A', { breaks: ['x'], peerTests: [by('C', 0, 4)] });
    const many = candidate('B', { breaks: ['x', 'y'], peerTests: [by('C', 4, 4)] });
    expect(order(few, many)).toBe('A regressions B');
  });

  test("others' tests precede everything that was not executed", () => {
    const right = candidate('B', { agreement: 0.2, peerTests: [by('A', 3, 3)] });
    const alike = candidate('A', { agreement: 0.9, peerTests: [by('B', 0, 3)] });
    expect(order(right, alike)).toBe('B tests A');
  });

  test("independent tests count more than a rival's", () => {
    const asked = candidate('A', { independentTests: independentTests(2, 0), peerTests: [by('B', 0, 2)] });
    const liked = candidate('B', { independentTests: independentTests(0, 2), peerTests: [by('A', 2, 2)] });
    expect(order(asked, liked)).toBe('A tests B');
  });

  test('behaviour on derived inputs and agreement separate what tests do not', () => {
    const rare = candidate('A', { behaviour: behaving(0.2) });
    expect(order(rare, candidate('B', { behaviour: behaving(0.8) }))).toBe('B behaviour A');
    expect(order(candidate('A', { agreement: 0.1 }), candidate('B', { agreement: 0.7 }))).toBe(
      'B agreement A',
    );
  });

  test('the hash of the patch, and then the letter, break ties', () => {
    expect(order(candidate('A', { patchSha256: 'f' }), candidate('B', { patchSha256: 'e' }))).toBe(
      'B hash A',
    );
    expect(order(candidate('B', { patchSha256: 'e' }), candidate('A', { patchSha256: 'e' }))).toBe(
      'A hash B',
    );
  });

  test('size and speed count only if the settings ask for them', () => {
    const [long, short] = [candidate('A', { productionLines: 20 }), candidate('B')];
    expect(order(long, short)).toBe('A hash B');
    expect(orderBy({ ...HOW, strategies: ['evidence', 'metrics'] }, long, short)).toBe('B metrics A');
  });

  test('judges order only those that the evidence leaves undecided', () => {
    const how = {
      ...HOW,
      strengths: new Map([
        ['A', -1],
        ['B', 1],
        ['C', 3],
      ]),
    };
    const near = [candidate('A', { agreement: 0.5 }), candidate('B', { agreement: 0.4 })];
    const far = candidate('C', { agreement: 0.5, peerTests: [by('A', 0, 3)] });
    expect(orderBy(how, ...near, far)).toBe('B judges A tests C');
  });

  test('a vote counts model families, not candidates', () => {
    const alike = ['A', 'B', 'C'];
    const three = alike.map((alias) => candidate(alias, { alike, family: 'claude' }));
    const two = [candidate('D', { alike: ['D', 'E'], family: 'gpt' }), candidate('E', { alike: ['D', 'E'] })];
    expect(orderBy({ ...HOW, strategies: ['vote'] }, ...three, ...two)).toBe('D hash E vote A hash B hash C');
  });

  test('is identical for the same evidence in any order', () => {
    fc.assert(
      fc.property(pools, ([pool, shuffled]) => {
        expect(rank(shuffled, HOW)).toEqual(rank(pool, HOW));
      }),
      { numRuns: 1_000 },
    );
  });

  test('is complete: places from 1, every candidate once, nobody ahead of a better one', () => {
    fc.assert(
      fc.property(pools, ([pool]) => {
        const ranked = rank(pool, HOW);
        expect(ranked.map((one) => one.place)).toEqual(pool.map((_, i) => i + 1));
        expect(ranked.map((one) => one.alias).sort()).toEqual(pool.map((one) => one.alias).sort());
        for (const [i, one] of ranked.entries()) {
          const next = ranked[i + 1];
          expect(one.separatedBy !== undefined).toBe(next !== undefined);
          if (!next?.survivor) continue;
          expect(one.survivor).toBe(true);
          expect(one.regressions).toBeLessThanOrEqual(next.regressions);
        }
      }),
    );
  });
});

test("a candidate that passes one more of others' tests never drops", () => {
  fc.assert(
    fc.property(pools, fc.nat(), fc.nat(), ([pool], which, at) => {
      const lucky = pool[which % Math.max(1, pool.length)];
      const tests = lucky?.peerTests[at % Math.max(1, lucky.peerTests.length)];
      if (!lucky || !tests || tests.passed === tests.total) return;
      const better = { ...tests, passed: tests.passed + 1, failing: tests.failing.slice(1) };
      const raised = { ...lucky, peerTests: lucky.peerTests.map((one) => (one === tests ? better : one)) };
      const placeIn = (all: readonly Evidence[]) =>
        rank(all, HOW).find(({ alias }) => alias === lucky.alias)?.place;
      const after = placeIn(pool.map((one) => (one === lucky ? raised : one)));
      expect(after).toBeLessThanOrEqual(placeIn(pool) ?? 0);
    }),
    { numRuns: 1_000 },
  );
});

describe('the share of the tests of others', () => {
  const shareOf = (...peerTests: Evidence['peerTests']) => signalsOf(candidate('A', { peerTests })).tests;

  test('is (1/2 + shares) / (1 + authors), or missing without authors', () => {
    expect(shareOf()).toBeNull();
    expect(shareOf(by('B', 4, 4))).toBe(0.75);
    expect(shareOf(by('B', 0, 4))).toBe(0.25);
    expect(shareOf(by('B', 1, 2), by('C', 1, 4))).toBeCloseTo(1.25 / 3, 8);
  });

  test('gives every author one vote, whatever the number of tests', () => {
    expect(shareOf(by('B', 0, 1), by('C', 1_000, 1_000))).toBe(0.5);
  });

  test('ignores authors without tests', () => {
    expect(shareOf(by('B', 4, 4), by('C', 0, 0))).toBe(0.75);
  });
});

describe('metrics', () => {
  const metrics = (evidence: readonly Evidence[], weights = WEIGHTS) =>
    rank(evidence, { ...HOW, weights }).find((one) => one.alias === 'A')?.metrics;

  test('compare with the smallest and the fastest survivor', () => {
    const slow = candidate('A', { productionLines: 40, coderMs: 20_000, peerTests: [by('B', 1, 2)] });
    const quick = candidate('B', { productionLines: 10, coderMs: 5_000 });
    const out = candidate('C', { lost: 'builds', productionLines: 1, coderMs: 1 });
    expect(metrics([slow, quick, out])).toEqual({ tests: 0.5, simplicity: 0.25, speed: 0.25, total: 37.5 });
  });

  test('distribute the weight of peer tests if there are none', () => {
    expect(metrics([candidate('A', { coderMs: 20_000 }), candidate('B')])).toEqual({
      tests: null,
      simplicity: 1,
      speed: 0.5,
      total: 80,
    });
  });

  test('are missing if all weights are zero', () => {
    expect(metrics([candidate('A')], { tests: 1, simplicity: 0, speed: 0 })?.total).toBe(0);
  });

  test('stay in range, also without survivors and with empty patches', () => {
    fc.assert(
      fc.property(pools, ([pool]) => {
        for (const one of rank(pool, HOW)) {
          const { tests, simplicity, speed, total } = one.metrics;
          expect(one.support).toSatisfy(Number.isFinite);
          for (const ratio of [tests ?? 0, simplicity, speed, total / 100]) {
            expect(ratio).toBeGreaterThanOrEqual(0);
            expect(ratio).toBeLessThanOrEqual(1);
          }
        }
      }),
    );
  });
});

test('every place has a reason', () => {
  const [common, rare] = [behaving(0.9), behaving(0.1)];
  const telling = [{ input: 'sum([])', got: 'NaN', others: '0', base: null, unfixed: false }];
  const evidence = [
    candidate('A', { peerTests: [by('B', 3, 3)], behaviour: common }),
    candidate('B', { peerTests: [by('A', 0, 2)], behaviour: common }),
    candidate('C', { peerTests: [by('A', 0, 2)], behaviour: { ...rare, differences: telling } }),
    candidate('D', { breaks: ['list > empty', 'list > \u202enull\n', 'a', 'b'] }),
    candidate('E', { lost: 'builds' }),
  ];
  expect(rank(evidence, HOW).map(({ alias, because }) => `${alias}: ${because}`)).toMatchInlineSnapshot(`
    [
      "A: Of the tests that it did not write it passes 3 of 3; B passes 0 of 2.",
      "B: Of the tests that it did not write it passes 0 of 2 (fails A 0; A 1); A passes 3 of 3.",
      "C: On inputs that tell the candidates apart what the others do speaks for B rather than for it: sum([]) gives NaN, others 0.",
      "D: Breaks 4 base tests (list > empty; list >  null ; a; and 1 more); C breaks no base test.",
      "E: Failed the gate \`builds\`: builds said no.",
    ]
  `);
});
