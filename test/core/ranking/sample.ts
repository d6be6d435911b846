import fc from 'fast-check';
import {
  type Behaviour,
  type Evidence,
  GATES,
  type GateName,
  type IndependentTests,
  type PeerTests,
} from '../../../src/core/evidence/index.ts';

/** Evidence of a survivor that breaks nothing; `lost`: the gate it failed. */
export function candidate(
  alias: string,
  fields: Partial<Evidence> & { lost?: GateName; breaks?: readonly string[] } = {},
): Evidence {
  const { lost, breaks = [], ...rest } = fields;
  return {
    alias,
    gates: GATES.map((gate) => ({
      gate,
      passed: gate !== lost,
      because: gate === lost ? `${gate} said no.` : 'fine',
    })),
    survivor: lost === undefined,
    patchSha256: alias.toLowerCase().repeat(64),
    productionLines: 10,
    addedTests: 0,
    coderMs: 10_000,
    baseTests: {
      passed: 12 - breaks.length,
      failed: breaks.length,
      total: 12,
      regressions: breaks,
      fixed: [],
      baseRuns: 3,
      source: 'report',
      exitCode: breaks.length > 0 ? 1 : 0,
      ms: 100,
    },
    peerTests: [],
    ...rest,
  };
}

export const by = (author: string, passed: number, total: number): PeerTests =>
  peerTestsOf(author, 'p'.repeat(passed) + 'f'.repeat(total - passed));

export const independentTests = (passed: number, failed: number): IndependentTests => ({
  passed,
  total: passed + failed,
  failing: Array.from({ length: failed }, (_, i) => ({ id: `neutral ${i}`, origin: 'issue' })),
  passing: Array.from({ length: passed }, (_, i) => ({ id: `neutral ${failed + i}`, origin: 'issue' })),
});

/**
 * By ids: those that it passes are all others of `of`. `guards`: how many of the passed ones pass on the base, too.
 * `family`: of their writer.
 */
export const writtenTests = (
  of: number,
  fails: readonly string[],
  guards = 0,
  family = 'gemini',
): IndependentTests => {
  const passed = of - fails.length;
  return {
    passed,
    total: of,
    failing: fails.map((id) => ({ id, origin: 'writer', family })),
    guards,
    written: { passed, total: of, guards, ...(passed > guards ? { families: [family] } : {}) },
  };
};

export const behaving = (agreement: number): Omit<Behaviour, 'id'> => ({
  observed: 40,
  contested: 8,
  agreement,
  support: agreement,
  logOdds: agreement === 0 ? -100 : Math.log(agreement),
  asBase: 0.5,
  group: 0,
  differences: [],
});

const small = fc.integer({ min: 0, max: 3 });

/** Fields of one candidate out of so few values that ties abound. */
const anyFields = fc.record({
  lost: fc.option(fc.constantFrom(...GATES), { nil: undefined }),
  breaks: small.map((n) => Array.from({ length: n }, (_, i) => `test ${i}`)),
  fixes: fc.constantFrom(0, 0, 0, 1, 2),
  productionLines: fc.constantFrom(0, 1, 10, 30),
  coderMs: fc.constantFrom(0, 1_000, 3_000),
  addedTests: small,
  /** What this one says to each test of each other one. */
  marks: fc.array(fc.constantFrom('p', 'p', 'f', 'n'), { minLength: 18, maxLength: 18 }),
  neutral: fc.option(fc.tuple(small, small), { nil: undefined }),
  behaviour: fc.option(fc.constantFrom(0, 0.3, 0.34, 1), { nil: undefined }),
  agreement: fc.option(fc.constantFrom(0, 0.5, 0.55, 1), { nil: undefined }),
  family: fc.constantFrom('claude', 'gpt'),
  patchSha256: fc.constantFrom('a'.repeat(64), 'b'.repeat(64), ''),
});

const letter = (i: number): string => String.fromCharCode(65 + i);

/** A pool of candidates and the same pool in another order. */
export const pools: fc.Arbitrary<readonly [readonly Evidence[], readonly Evidence[]]> = fc
  .array(anyFields, { minLength: 0, maxLength: 6 })
  .map((all) =>
    all.map(({ lost, breaks, fixes, marks, neutral, behaviour, agreement, ...rest }, i) => {
      const peerTests = all.flatMap((author, j) => {
        const results = marks.slice(3 * j, 3 * j + author.addedTests);
        const apart = lost || author.lost || j === i || results.length === 0;
        return apart ? [] : [peerTestsOf(letter(j), results.join(''))];
      });
      const one = candidate(letter(i), {
        ...(lost ? { lost } : {}),
        breaks,
        peerTests,
        ...(neutral ? { independentTests: independentTests(...neutral) } : {}),
        ...(behaviour === undefined ? {} : { behaviour: behaving(behaviour) }),
        ...(agreement === undefined ? {} : { agreement }),
        ...rest,
      });
      return fixing(one, fixes);
    }),
  )
  .chain((pool) =>
    fc.tuple(
      fc.constant(pool),
      fc
        .tuple(fc.shuffledSubarray(pool, { minLength: pool.length }), fc.integer({ min: 0, max: 4 }))
        .map(([shuffled, turn]) =>
          shuffled.map((one) => ({
            ...one,
            peerTests: [...one.peerTests.slice(turn), ...one.peerTests.slice(0, turn)],
          })),
        ),
    ),
  );

/** What the tests of an author gave: one letter for each. */
export const peerTestsOf = (author: string, results: string): PeerTests => {
  const failing = [...results].flatMap((mark, i) => (mark === 'f' ? [`${author} ${i}`] : []));
  const passed = [...results].filter((mark) => mark === 'p').length;
  return { author, passed, total: passed + failing.length, failing, results };
};

/** The same candidate, which makes so many base tests pass that fail on the base. */
export const fixing = (one: Evidence, count: number): Evidence => {
  const fixed = Array.from({ length: count }, (_, i) => `red ${i}`);
  return one.baseTests ? { ...one, baseTests: { ...one.baseTests, fixed } } : one;
};
