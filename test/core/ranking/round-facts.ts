import fc from 'fast-check';
import { type Evidence, GATES, type GateName } from '../../../src/core/evidence/index.ts';
import type { FurtherRound } from '../../../src/core/model/index.ts';
import type { RoundCandidate, RoundFacts } from '../../../src/core/ranking/index.ts';
import { candidate } from './sample.ts';

export interface Told {
  /** The gate it failed. */
  readonly lost?: GateName;
  /** Base tests that it breaks. */
  readonly breaks?: readonly string[];
  /** Author → tests of that author's that fail on it, of `p`, `q` and `r`. */
  readonly peers?: Readonly<Record<string, readonly string[]>>;
  /** Neutral tests that it fails; of four. */
  readonly neutral?: readonly string[];
  readonly patch?: string;
}

/** Evidence of a candidate that passes, unless it is told otherwise. */
export function found(alias: string, { lost, breaks = [], peers = {}, neutral, patch }: Told = {}): Evidence {
  return candidate(alias, {
    ...(lost ? { lost } : {}),
    breaks,
    ...(patch ? { patchSha256: patch } : {}),
    addedTests: 3,
    peerTests: Object.entries(peers).map(([author, failing]) => ({
      author,
      passed: 3 - failing.length,
      total: 3,
      failing,
      results: [...'pqr'].map((id) => (failing.includes(id) ? 'f' : 'p')).join(''),
    })),
    ...(neutral
      ? {
          independentTests: {
            passed: 4 - neutral.length,
            total: 4,
            failing: neutral.map((id) => ({ id, origin: 'issue' as const })),
          },
        }
      : {}),
  });
}

export const runner = (alias: string, usd = 0.1, round?: FurtherRound): RoundCandidate => ({
  alias,
  contestant: {
    agent: 'builtin',
    model: 'anthropic/claude-sonnet-4-5',
    prompt: 'plain',
    ...(round ? { round } : {}),
  },
  usage: { usd, tokensIn: 1_000, tokensOut: 100, calls: 3 },
});

export const ALL_ON: RoundFacts['settings'] = {
  adaptive: { field: 'all', stopEarly: true, oneMore: true, repair: true },
  synthesis: true,
};

/** Facts about candidates with these findings; each cost ten cents, and a dollar is left. */
export const facts = (evidence: readonly Evidence[], more: Partial<RoundFacts> = {}): RoundFacts => ({
  candidates: evidence.map(({ alias }) => runner(alias)),
  evidence,
  settings: ALL_ON,
  remainingUsd: 1,
  ...more,
});

const some = <T>(...of: readonly T[]) => fc.uniqueArray(fc.constantFrom(...of), { maxLength: of.length });

const told = fc.record({
  lost: fc.option(fc.constantFrom(...GATES), { nil: undefined, freq: 1 }),
  breaks: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, some('x', 'y', 'z')),
  peers: fc.dictionary(fc.constantFrom('A', 'B', 'C', 'D'), some('p', 'q', 'r')),
  neutral: fc.option(some('n', 'm', 'o'), { nil: undefined, freq: 3 }),
  patch: fc.constantFrom('a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64), 'd'.repeat(64), ''),
});

/** Seldom there, so that most facts are those of a first round. */
const round: fc.Arbitrary<FurtherRound | undefined> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(undefined) },
  fc.constantFrom<FurtherRound>(
    { kind: 'repair', of: ['A'] },
    { kind: 'one-more', of: [] },
    { kind: 'synthesis', of: ['A', 'B'] },
  ),
);

const money = fc.oneof(
  { weight: 3, arbitrary: fc.constant(3) },
  fc.constantFrom(null, 0, -1, Number.NaN, 1e9),
  fc.double({ min: -1, max: 3, noNaN: true }),
);
const mostly = fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false));

/** Facts out of so few values that ties abound. */
export const anyFacts: fc.Arbitrary<RoundFacts> = fc
  .record({
    all: fc.array(fc.record({ told, usd: fc.constantFrom(0, 0.1, 0.5), round }), { maxLength: 6 }),
    /** Whoever passes breaks a test of its own. */
    allFail: fc.boolean(),
    repair: mostly,
    oneMore: mostly,
    synthesis: mostly,
    remainingUsd: money,
  })
  .map(({ all, allFail, repair, oneMore, synthesis, remainingUsd }) => {
    const named = all.map((one, i) => ({ ...one, alias: String.fromCharCode(65 + i) }));
    return {
      candidates: named.map(({ alias, usd, round }) => runner(alias, usd, round)),
      evidence: named.map(({ alias, told: { lost, neutral, breaks, ...rest } }) =>
        found(alias, {
          ...rest,
          breaks: allFail && !lost && breaks.length === 0 ? [`only ${alias}`] : breaks,
          ...(lost ? { lost } : {}),
          ...(neutral ? { neutral } : {}),
        }),
      ),
      settings: { adaptive: { field: 'all', stopEarly: false, repair, oneMore }, synthesis },
      remainingUsd,
    };
  });

/** The same facts, everything in another order. */
export const reordered = (given: RoundFacts): fc.Arbitrary<RoundFacts> =>
  fc
    .tuple(
      fc.shuffledSubarray([...given.candidates], { minLength: given.candidates.length }),
      fc.shuffledSubarray([...given.evidence], { minLength: given.evidence.length }),
    )
    .map(([candidates, evidence]) => ({
      ...given,
      candidates,
      evidence: evidence.map((one) => ({
        ...one,
        gates: one.gates.toReversed(),
        peerTests: one.peerTests.toReversed(),
      })),
    }));
