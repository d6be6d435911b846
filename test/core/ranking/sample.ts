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
      source: 'report',
      exitCode: breaks.length > 0 ? 1 : 0,
      ms: 100,
    },
    peerTests: [],
    ...rest,
  };
}

export const by = (author: string, passed: number, total: number): PeerTests => ({
  author,
  passed,
  total,
  failing: Array.from({ length: total - passed }, (_, i) => `${author} ${i}`),
});

export const independentTests = (passed: number, failed: number): IndependentTests => ({
  passed,
  total: passed + failed,
  failing: Array.from({ length: failed }, (_, i) => ({ id: `neutral ${i}`, origin: 'issue' })),
});

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
  peers: fc.array(fc.tuple(small, fc.integer({ min: 0, max: 7 })), { maxLength: 4 }),
  productionLines: fc.constantFrom(0, 1, 10, 30),
  coderMs: fc.constantFrom(0, 1_000, 3_000),
  addedTests: small,
  neutral: fc.option(fc.tuple(small, small), { nil: undefined }),
  behaviour: fc.option(fc.constantFrom(0, 0.3, 0.34, 1), { nil: undefined }),
  agreement: fc.option(fc.constantFrom(0, 0.5, 0.55, 1), { nil: undefined }),
  family: fc.constantFrom('claude', 'gpt'),
  patchSha256: fc.constantFrom('a'.repeat(64), 'b'.repeat(64), ''),
});

/** A pool of candidates and the same pool in another order. */
export const pools: fc.Arbitrary<readonly [readonly Evidence[], readonly Evidence[]]> = fc
  .array(anyFields, { minLength: 0, maxLength: 6 })
  .map((all) =>
    all.map(({ lost, breaks, peers, neutral, behaviour, agreement, ...rest }, i) => {
      const peerTests = peers.map(([passed, more], j) =>
        by(String.fromCharCode(97 + j), passed, passed + more),
      );
      return candidate(String.fromCharCode(65 + i), {
        ...(lost ? { lost } : {}),
        breaks,
        peerTests,
        ...(neutral ? { independentTests: independentTests(...neutral) } : {}),
        ...(behaviour === undefined ? {} : { behaviour: behaving(behaviour) }),
        ...(agreement === undefined ? {} : { agreement }),
        ...rest,
      });
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
