import { type Evidence, GATES, type GateName } from '../evidence/index.ts';
import {
  type Alias,
  type Candidate,
  type FurtherKind,
  type FurtherRound,
  formatList,
  type Usd,
} from '../model/index.ts';
import type { Settings } from '../settings/index.ts';
import { byPatchHash } from './odds.ts';
import { failedGate } from './reasons.ts';

/** The parts of a candidate that the choice of a round uses. */
export type RoundCandidate = Pick<Candidate, 'alias' | 'contestant' | 'usage'>;

export interface RoundFacts {
  /** All examined candidates of the run. */
  readonly candidates: readonly RoundCandidate[];
  /** The evidence of these candidates. */
  readonly evidence: readonly Evidence[];
  readonly settings: Pick<Settings, 'adaptive' | 'synthesis'>;
  /** US dollars that the run may still spend; null if unknown, for example for a model without a price. */
  readonly remainingUsd: Usd | null;
}

/** What to do after an examination. `because` is one sentence for people. */
export type NextRound =
  | { readonly kind: 'enough'; readonly because: string }
  /** Best first. */
  | { readonly kind: 'repair'; readonly aliases: readonly Alias[]; readonly because: string }
  | { readonly kind: 'one-more'; readonly because: string }
  /** The candidate that fixes more of what the other lacks comes first; its contestant writes the merged patch. */
  | { readonly kind: 'synthesise'; readonly from: readonly [Alias, Alias]; readonly because: string };

/** Maximum candidates repaired in the single repair round (notes on the engine's design, S8). */
const MAX_REPAIRS = 2;

const enough = (because: string): NextRound => ({ kind: 'enough', because });

/**
 * Whether another round is worth its cost. The result does not depend on the order of the facts. Each kind of round
 * happens at most once, so rounds end. If a candidate passes without breaking a test, only a synthesis can follow.
 * Otherwise a repair comes first, because patches and their failures are known, and then one more contestant.
 */
export function nextRound(facts: RoundFacts): NextRound {
  const { evidence, settings } = facts;
  if (evidence.length === 0) return enough('There is no candidate to build on.');
  const clean = evidence.filter(isClean);
  if (clean.length > 0)
    return settings.synthesis ? synthesisRound(facts, clean) : enough(passingReason(clean.length));
  const repair = settings.adaptive.repair ? repairRound(facts) : null;
  if (repair?.kind === 'repair' || !settings.adaptive.oneMore) return repair ?? enough(NO_FURTHER_ROUND);
  return oneMoreRound(facts);
}

const NO_FURTHER_ROUND =
  'No candidate passes without breaking a test, and the settings allow no further round.';

/** Passed every gate and breaks no test. */
const isClean = ({ survivor, baseTests }: Evidence): boolean =>
  survivor && (baseTests?.regressions.length ?? 0) === 0;

const passingReason = (count: number): string =>
  count === 1
    ? 'A candidate passes without breaking a test.'
    : `${count} candidates pass without breaking a test.`;

const hasHadRound = ({ candidates }: RoundFacts, kind: FurtherKind): boolean =>
  candidates.some(({ contestant }) => contestant.round?.kind === kind);

/** Floating-point error in sums of prices. */
const ROUNDING_ERROR = 1e-9;

/**
 * The number of further candidates that can be paid for and named. Each is assumed to cost as much as the most
 * expensive so far; the gateway enforces the cap in any case.
 */
function affordableCandidates({ candidates, remainingUsd }: RoundFacts): number {
  const letters = MAX_ALIASES - candidates.length;
  if (remainingUsd === null || Number.isNaN(remainingUsd) || remainingUsd <= ROUNDING_ERROR) return 0;
  const dearest = Math.max(0, ...candidates.map(({ usage }) => usage.usd));
  return Math.max(
    0,
    dearest > 0 ? Math.min(letters, Math.floor(remainingUsd / dearest + ROUNDING_ERROR)) : letters,
  );
}

const budgetReason = ({ remainingUsd }: RoundFacts): string =>
  remainingUsd === null
    ? 'The remaining budget is unknown.'
    : 'The remaining budget is too small for another candidate.';

function repairRound(facts: RoundFacts): NextRound {
  if (hasHadRound(facts, 'repair')) return enough('No candidate passes, and repairs were already tried.');
  const failing = repairable(facts.evidence).slice(0, MAX_REPAIRS);
  if (failing.length === 0) return enough('No candidate left a patch that could be fixed.');
  const aliases = failing.slice(0, affordableCandidates(facts)).map(({ alias }) => alias);
  if (aliases.length === 0) return enough(`No candidate passes. ${budgetReason(facts)}`);
  const who =
    aliases.length === 1
      ? `${aliases[0]} is the closest and gets`
      : `${formatList(aliases)} are the closest and get`;
  return {
    kind: 'repair',
    aliases,
    because: `No candidate passes without breaking a test; ${who} another attempt.`,
  };
}

function oneMoreRound(facts: RoundFacts): NextRound {
  if (hasHadRound(facts, 'one-more'))
    return enough('No candidate passes, and one more contestant was already tried.');
  // A candidate and its repair fail for the same reason, so only the later one counts.
  const fixed = new Set(
    facts.candidates.flatMap(({ contestant: { round } }) => (round?.kind === 'repair' ? round.of : [])),
  );
  const failing = facts.evidence.filter(({ alias }) => !fixed.has(alias));
  const alone = failing.every((one) => failing.every((other) => other === one || !failsAlike(one, other)));
  if (failing.length < 2 || !alone)
    return enough('No candidate passes, and several fail for the same reason.');
  if (affordableCandidates(facts) < 1) return enough(`No candidate passes. ${budgetReason(facts)}`);
  return {
    kind: 'one-more',
    because: `All ${failing.length} candidates fail for different reasons, so another contestant starts.`,
  };
}

function synthesisRound(facts: RoundFacts, clean: readonly Evidence[]): NextRound {
  if (hasHadRound(facts, 'synthesis')) return enough('A synthesis was already tried.');
  const pair = complementaryPair(clean);
  if (!pair) return enough('No two candidates each fix what the other misses.');
  if (affordableCandidates(facts) < 1) return enough(budgetReason(facts));
  const [a, b] = pair;
  return {
    kind: 'synthesise',
    from: [a, b],
    because: `${a} and ${b} each pass tests that the other fails, so a coder merges them.`,
  };
}

/** Gates whose failure cannot be repaired: there is no patch, or its entries must not be applied. */
const BEYOND_REPAIR: ReadonlySet<GateName> = new Set(['collected', 'safe']);

/**
 * Failed candidates whose patch can be repaired, furthest first: by gates passed, then by fewest regressions, then by
 * the hash of the patch. Of equal patches only one is kept.
 */
function repairable(evidence: readonly Evidence[]): readonly Evidence[] {
  const sorted = evidence
    .filter(
      (one) =>
        one.patchSha256 !== '' && !one.gates.some(({ gate, passed }) => !passed && BEYOND_REPAIR.has(gate)),
    )
    .toSorted(
      (a, b) =>
        gateReached(b) - gateReached(a) || regressionCount(a) - regressionCount(b) || byPatchHash(a, b),
    );
  return sorted.filter(
    (one, i) => sorted.findIndex(({ patchSha256 }) => patchSha256 === one.patchSha256) === i,
  );
}

/** Whether both failed the same gate or break a common test. */
function failsAlike(a: Evidence, b: Evidence): boolean {
  const gate = failedGate(a)?.gate;
  if (gate && gate === failedGate(b)?.gate) return true;
  const theirs = new Set(b.baseTests?.regressions ?? []);
  return (a.baseTests?.regressions ?? []).some((id) => theirs.has(id));
}

/** Index of the first failed gate; for a survivor, the number of gates. */
function gateReached(one: Evidence): number {
  const gate = failedGate(one)?.gate;
  return gate ? GATES.indexOf(gate) : GATES.length;
}

/** An untested candidate may break anything. */
const regressionCount = ({ baseTests }: Evidence): number =>
  baseTests ? baseTests.regressions.length : Number.MAX_SAFE_INTEGER;

/** Letters from A to Z. */
const MAX_ALIASES = 26;

/** Aliases for a further round: the letters after the last one in use. Fewer at the end of the alphabet. */
export function furtherAliases(taken: number, count: number): readonly Alias[] {
  const length = Math.max(0, Math.min(count, MAX_ALIASES - taken));
  return Array.from({ length }, (_, i) => String.fromCharCode(65 + taken + i));
}

/** Describes a candidate's round for its note: `repair of B`, `merged from A and C`. */
export function roundText({ kind, of }: FurtherRound): string {
  switch (kind) {
    case 'repair':
      return `repair of ${formatList(of)}`;
    case 'synthesis':
      return `merged from ${formatList(of)}`;
    case 'one-more':
      return 'one more';
  }
}

/**
 * Finds two candidates that each pass an executed test that the other fails: the pair with the largest minimum gain,
 * the larger gain first. Null if there is no such pair, or if a third candidate fails no executed test.
 */
function complementaryPair(clean: readonly Evidence[]): readonly [Alias, Alias] | null {
  if (clean.some(failsNothing)) return null;
  const pairs = clean.flatMap((a) =>
    clean
      .filter((b) => precedes(a, b))
      .map((b) => ({ a, b, gains: [totalGain(a, b), totalGain(b, a)] as const })),
  );
  const [best] = pairs
    .filter(({ gains }) => Math.min(...gains) > 0)
    .toSorted(
      (x, y) =>
        Math.min(...y.gains) - Math.min(...x.gains) ||
        y.gains[0] + y.gains[1] - x.gains[0] - x.gains[1] ||
        byPatchHash(x.a, y.a) ||
        byPatchHash(x.b, y.b),
    );
  if (!best) return null;
  const { a, b, gains } = best;
  return gains[0] >= gains[1] ? [a.alias, b.alias] : [b.alias, a.alias];
}

const precedes = (a: Evidence, b: Evidence): boolean => byPatchHash(a, b) < 0;

/** Passes all tests that others wrote, of which there is at least one. */
function failsNothing({ peerTests, independentTests }: Evidence): boolean {
  const guards = peerTests.flatMap((one) => (one.guards ? [one.guards] : []));
  const all = [...peerTests, ...guards, ...(independentTests ? [independentTests] : [])];
  return all.some(({ total }) => total > 0) && all.every(({ passed, total }) => passed === total);
}

/**
 * Number of executed tests that `a` passes and `b` fails: independent tests, tests added by `a`, and tests by others.
 */
const totalGain = (a: Evidence, b: Evidence): number =>
  independentTestGain(a, b) + ownTestGain(a, b) + thirdPartyGain(a, b);

/** Unknown unless all failures of `a` are named and the same tests were run on both. */
function independentTestGain(
  { independentTests: own }: Evidence,
  { independentTests: other }: Evidence,
): number {
  if (!own || own.total !== other?.total || own.failing.length !== own.total - own.passed) return 0;
  const failing = new Set(own.failing.map(({ id }) => id));
  return other.failing.filter(({ id }) => !failing.has(id)).length;
}

/** They count only if they pass on their author's code. */
function ownTestGain({ alias }: Evidence, b: Evidence): number {
  const run = b.peerTests.find(({ author }) => author === alias);
  return run ? run.total - run.passed : 0;
}

/** A position in the results is the same test of its author on every candidate. */
function thirdPartyGain(a: Evidence, b: Evidence): number {
  const here = a.peerTests.map(({ author, results = '' }) => {
    const there = b.peerTests.find((one) => one.author === author)?.results ?? '';
    return [...results].filter((mark, at) => mark === 'p' && there[at] === 'f').length;
  });
  return here.reduce((sum, count) => sum + count, 0);
}
