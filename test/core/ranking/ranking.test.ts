import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../../src/core/evidence/index.ts';
import {
  executedFaults,
  type RankingOptions,
  rank,
  rankingOptionsOf,
  undecidedBefore,
  wantsJudges,
} from '../../../src/core/ranking/index.ts';
import { Settings } from '../../../src/core/settings/index.ts';
import { behaving, by, candidate, fixing, independentTests, peerTestsOf, pools } from './sample.ts';

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

  test('regressions precede tests of any kind', () => {
    const few = candidate('A', { breaks: ['x'], independentTests: independentTests(0, 4) });
    const many = candidate('B', { breaks: ['x', 'y'], independentTests: independentTests(4, 0) });
    expect(order(few, many)).toBe('A regressions B');
  });

  test('base tests that a candidate fixes precede everything else that was executed', () => {
    const all = candidate('A', { agreement: 0.1, behaviour: behaving(0.3) });
    const none = candidate('B', { agreement: 0.9, behaviour: behaving(1) });
    expect(order(fixing(all, 6), none)).toBe('A fixed B');
    expect(order(fixing(all, 1), fixing(none, 1))).toBe('B agreement A');
  });

  test('whoever passes every independent test that another one passes, and more, precedes it', () => {
    const right = candidate('A', { agreement: 0.1, independentTests: independentTests(20, 0) });
    const wrong = candidate('B', { agreement: 0.9, independentTests: independentTests(19, 1) });
    const alike = candidate('C', { agreement: 0.9, independentTests: independentTests(19, 1) });
    expect(order(right, wrong, alike)).toBe('A independent B tie C');
  });

  test("an author's tests that a rival passes as well separate nobody", () => {
    const author = candidate('A', { addedTests: 1, family: 'gpt' });
    const rival = candidate('B', { peerTests: [by('A', 1, 1)], family: 'claude' });
    expect(order(author, rival)).toBe('A tie B');
  });

  test('tests that another model family confirms precede what was not executed', () => {
    const author = candidate('A', { agreement: 0.1, addedTests: 3, family: 'gpt' });
    const agreeing = candidate('B', { agreement: 0.2, family: 'claude', peerTests: [by('A', 3, 3)] });
    const wrong = candidate('C', { agreement: 0.9, family: 'gemini', peerTests: [by('A', 0, 3)] });
    expect(order(author, agreeing, wrong)).toBe('B agreement A tests C');
  });

  test('tests that nobody confirms weigh little, however many they are', () => {
    const author = candidate('A', { agreement: 0.4, addedTests: 9, family: 'gpt' });
    const colluding = candidate('B', { agreement: 0.4, family: 'gpt', peerTests: [by('A', 9, 9)] });
    const other = candidate('C', { agreement: 0.5, family: 'claude', peerTests: [by('A', 0, 9)] });
    expect(order(author, colluding, other)).toBe('C agreement A tie B');
  });

  test('behaviour on derived inputs and agreement separate what tests do not', () => {
    const rare = candidate('A', { behaviour: behaving(0.2) });
    expect(order(rare, candidate('B', { behaviour: behaving(0.8) }))).toBe('B behaviour A');
    expect(order(candidate('A', { agreement: 0.1 }), candidate('B', { agreement: 0.7 }))).toBe(
      'B agreement A',
    );
  });

  test('new findings of a type check that does not eliminate decide only what tests and behaviour do not', () => {
    const types = { added: [], addedCount: 1, onBase: 0, gone: 0, ms: 1 };
    const wrong = candidate('A', { agreement: 0.42, types });
    const right = candidate('B', { agreement: 0.4, types: { ...types, addedCount: 0 } });
    expect(order(wrong, right)).toBe('B types A');
    expect(order(wrong, { ...right, agreement: 0.1 })).toBe('A agreement B');
    expect(order(fixing(wrong, 1), right)).toBe('A fixed B');
  });

  test('where nothing separates two they are tied: the hash orders the table, and the place is the same', () => {
    const tied = [candidate('A', { patchSha256: 'f' }), candidate('B', { patchSha256: 'e' })];
    const third = candidate('C', { breaks: ['x'] });
    expect(order(...tied, third)).toBe('B tie A regressions C');
    expect(rank([...tied, third], HOW).map(({ place }) => place)).toEqual([1, 1, 3]);
  });

  test('candidates with the same change are one, and the one with tests stands for them', () => {
    const alike = ['A', 'B'];
    const bare = candidate('A', { alike, agreement: 0.5 });
    const tested = candidate('B', { alike, agreement: 0.5, addedTests: 2 });
    const hack = candidate('C', { peerTests: [by('B', 2, 2)], agreement: 0.4 });
    const ranked = rank([bare, tested, hack], HOW);
    expect(ranked.map(({ alias, place, separatedBy }) => [alias, place, separatedBy])).toEqual([
      ['B', 1, 'alike'],
      ['A', 1, 'agreement'],
      ['C', 3, undefined],
    ]);
    expect(ranked[1]?.because).toBe('Its source changes are the same as those of B.');
  });

  test('size and speed count only if the settings ask for them', () => {
    const [long, short] = [candidate('A', { productionLines: 20 }), candidate('B')];
    expect(order(long, short)).toBe('A tie B');
    expect(orderBy({ ...HOW, strategies: ['evidence', 'metrics'] }, long, short)).toBe('B metrics A');
  });

  test('judges order only those that the evidence leaves undecided', () => {
    const how = {
      ...HOW,
      strengths: new Map([
        ['A', -1],
        ['B', 1],
      ]),
    };
    const near = [candidate('A', { agreement: 0.5 }), candidate('B', { agreement: 0.45 })];
    const far = candidate('C', { agreement: 0.1 });
    expect(orderBy(how, ...near, far)).toBe('B judges A agreement C');
    expect(undecidedBefore('judges', [...near, far], how)).toEqual(['A', 'B']);
  });

  test('the strategy that is named first sees every survivor that breaks nothing', () => {
    const pool = [
      candidate('A', { independentTests: independentTests(0, 5) }),
      candidate('B', { independentTests: independentTests(5, 0) }),
      candidate('C', { breaks: ['x'] }),
    ];
    const how: RankingOptions = { ...HOW, strategies: ['judges'] };
    expect(undecidedBefore('judges', pool, how)).toEqual(['B', 'A']);
    // Judges who say nothing leave it to what was executed, not to a hash.
    expect(orderBy(how, ...pool)).toBe('B independent A regressions C');
    for (const strategies of [[], ['vote'], ['score']] as const)
      expect(orderBy({ ...HOW, strategies }, ...pool)).toBe('B independent A regressions C');
  });

  test('a vote counts model families, not candidates', () => {
    const alike = ['A', 'B', 'C'];
    const three = alike.map((alias) => candidate(alias, { alike, family: 'claude' }));
    const two = [candidate('D', { alike: ['D', 'E'], family: 'gpt' }), candidate('E', { alike: ['D', 'E'] })];
    expect(orderBy({ ...HOW, strategies: ['vote'] }, ...three, ...two)).toBe(
      'D alike E vote A alike B alike C',
    );
  });

  describe('with weights for strategies', () => {
    const pool = [
      candidate('A', { agreement: 0.2, staticScore: { score: 120, because: [] } }),
      candidate('B', { agreement: 0.8, staticScore: { score: 100, because: [] } }),
      candidate('C', { agreement: 0.5, staticScore: { score: 110, because: [] }, breaks: ['x'] }),
    ];
    const weighed = (weights: NonNullable<RankingOptions['strategyWeights']>): RankingOptions => ({
      ...HOW,
      strategies: ['evidence'],
      strategyWeights: weights,
    });

    test('survivors that break nothing are ordered by the weighted mean of their standardised scores', () => {
      expect(orderBy(weighed({ score: 3, evidence: 1 }), ...pool)).toBe('A weights B regressions C');
      expect(orderBy(weighed({ score: 1, evidence: 3 }), ...pool)).toBe('B weights A regressions C');
      const means = rank(pool, weighed({ score: 3, evidence: 1 })).map(({ weighted }) => weighted);
      expect(means).toEqual([0.5, -0.5, undefined]);
    });

    test('equal means leave it to executed evidence, and equal scores say nothing', () => {
      expect(orderBy(weighed({ score: 1, evidence: 1 }), ...pool)).toBe('B agreement A regressions C');
      expect(orderBy(weighed({ vote: 1 }), ...pool)).toBe('B agreement A regressions C');
    });

    test('judges compare all survivors that break nothing, if they have a weight', () => {
      const far = [...pool, candidate('D', { behaviour: behaving(0) })];
      expect(undecidedBefore('judges', far, weighed({ judges: 1, evidence: 1 }))).toEqual(['B', 'A', 'D']);
      expect(wantsJudges(weighed({ evidence: 1 }))).toBe(false);
    });

    test('come from the settings', () => {
      const { evaluator, weights } = Settings.parse({ weights: { judges: 2, score: 0 } });
      expect(rankingOptionsOf({ evaluator, weights }).strategyWeights).toEqual({ judges: 2 });
      expect(rankingOptionsOf(Settings.parse({})).strategyWeights).toEqual({});
    });
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
        for (const [i, one] of ranked.entries())
          expect(one.place).toBe(ranked[i - 1]?.separatedBy === 'tie' ? ranked[i - 1]?.place : i + 1);
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
      if (!lucky || !tests?.results?.includes('f')) return;
      const better = peerTestsOf(tests.author, tests.results.replace('f', 'p'));
      const raised = { ...lucky, peerTests: lucky.peerTests.map((one) => (one === tests ? better : one)) };
      const placeIn = (all: readonly Evidence[]) =>
        rank(all, HOW).find(({ alias }) => alias === lucky.alias)?.place;
      const after = placeIn(pool.map((one) => (one === lucky ? raised : one)));
      expect(after).toBeLessThanOrEqual(placeIn(pool) ?? 0);
    }),
    { numRuns: 1_000 },
  );
});

describe('metrics', () => {
  const metrics = (evidence: readonly Evidence[], weights = WEIGHTS) =>
    rank(evidence, { ...HOW, weights }).find((one) => one.alias === 'A')?.metrics;
  const untested = (alias: string, fields: Partial<Evidence> = {}): Evidence => {
    const { baseTests: _none, ...rest } = candidate(alias, fields);
    return rest;
  };

  test('compare with the smallest and the fastest survivor, and pool all executed tests', () => {
    const slow = candidate('A', {
      productionLines: 40,
      coderMs: 20_000,
      independentTests: independentTests(2, 2),
      peerTests: [by('B', 2, 4)],
    });
    const quick = candidate('B', { productionLines: 10, coderMs: 5_000, addedTests: 4 });
    const out = candidate('C', { lost: 'builds', productionLines: 1, coderMs: 1 });
    // 12 of 12 existing tests, 2 of 4 independent ones, and neither of the tests of B that tell the two apart.
    expect(metrics([slow, quick, out])).toMatchObject({ simplicity: 0.25, speed: 0.25 });
    expect(metrics([slow, quick, out])?.tests).toBeCloseTo(14 / 18, 8);
  });

  test('distribute the weight of tests if none was executed', () => {
    expect(metrics([untested('A', { coderMs: 20_000 }), untested('B')])).toEqual({
      tests: null,
      simplicity: 1,
      speed: 0.5,
      total: 80,
    });
  });

  test('are missing if all weights are zero', () => {
    expect(metrics([untested('A')], { tests: 1, simplicity: 0, speed: 0 })?.total).toBe(0);
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
  const distinguishing = [{ input: 'sum([])', got: 'NaN', others: '0', base: null, unfixed: false }];
  const evidence = [
    fixing(candidate('A', { behaviour: common, independentTests: independentTests(2, 0) }), 2),
    candidate('B', { behaviour: common, independentTests: independentTests(1, 1) }),
    candidate('C', {
      behaviour: { ...rare, differences: distinguishing },
      independentTests: independentTests(1, 1),
    }),
    candidate('F', { behaviour: rare, independentTests: independentTests(0, 2) }),
    candidate('D', { breaks: ['list > empty', 'list > \u202enull\n', 'a', 'b'] }),
    candidate('E', { lost: 'builds' }),
  ];
  expect(rank(evidence, HOW).map(({ alias, because }) => `${alias}: ${because}`)).toMatchInlineSnapshot(`
    [
      "A: It makes 2 of the existing tests pass that fail on the base commit, B 0.",
      "B: A makes 2 of the existing tests pass that fail on the base commit, this one 0.",
      "C: B is supported more than this one by how the other candidates behave on derived inputs (8 of 40 show a difference).",
      "F: It fails independent tests that a candidate above it passes, and passes none that this one fails.",
      "D: It breaks 4 existing tests; F breaks none.",
      "E: It failed the gate \`builds\`: builds said no.",
    ]
  `);
  // For readers who have nothing but the sentence.
  expect(evidence.map(executedFaults)).toMatchInlineSnapshot(`
    [
      "",
      "It fails neutral 0.",
      "It fails neutral 0. For sum([]) it returns NaN, most others that pass the given tests 0.",
      "It fails neutral 0; neutral 1.",
      "It fails list > empty; list >  null ; a; and 1 more.",
      "",
    ]
  `);
});
