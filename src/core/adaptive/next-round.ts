import type { Evidence } from '../evidence/index.ts';
import type { Alias, Candidate, FurtherKind, Usd } from '../model/index.ts';
import type { Settings } from '../policy/index.ts';
import { repairable, sameReason } from './failing.ts';
import { complements } from './synthesis.ts';
import { MOST_ALIASES } from './words.ts';

/** What the choice of a round takes of a candidate. */
export type Runner = Pick<Candidate, 'alias' | 'contestant' | 'usage'>;

export interface RoundFacts {
  /** Every candidate of the run that was examined. */
  readonly candidates: readonly Runner[];
  /** Theirs. */
  readonly evidence: readonly Evidence[];
  readonly settings: Pick<Settings, 'adaptive' | 'synthesis'>;
  /** US dollars that the run may still spend; null where nobody knows, such as with a model without a price. */
  readonly left: Usd | null;
}

/** What follows an examination. `because` is one sentence for people. */
export type NextRound =
  | { readonly kind: 'enough'; readonly because: string }
  /** Best first. */
  | { readonly kind: 'repair'; readonly aliases: readonly Alias[]; readonly because: string }
  | { readonly kind: 'one-more'; readonly because: string }
  /** The one that mends more of what the other misses stands first; its contestant writes the merged patch. */
  | { readonly kind: 'synthesise'; readonly from: readonly [Alias, Alias]; readonly because: string };

/** Candidates that are repaired in the one round of repairs: notes of the engine's design, S8. */
const MOST_REPAIRS = 2;

const enough = (because: string): NextRound => ({ kind: 'enough', because });

/**
 * Whether a further round is worth its money. Same facts in any order, same answer; each kind of round happens at most
 * once, so this comes to an end. Where somebody passes without breaking a test, only a synthesis can follow; where nobody
 * does, a repair comes first (the patches are there, and it is known what fails), one more contestant after it.
 */
export function nextRound(facts: RoundFacts): NextRound {
  const { evidence, settings } = facts;
  if (evidence.length === 0) return enough('There is no candidate to go on with.');
  const clean = evidence.filter(isClean);
  if (clean.length > 0) return settings.synthesis ? synthesis(facts, clean) : enough(passes(clean.length));
  const repair = settings.adaptive.repair ? repairs(facts) : null;
  if (repair?.kind === 'repair' || !settings.adaptive.oneMore) return repair ?? enough(NOBODY);
  return oneMore(facts);
}

const NOBODY = 'No candidate passes without breaking a test, and the settings ask for no further round.';

/** Passed every gate, and breaks no test. */
const isClean = ({ survivor, baseTests }: Evidence): boolean =>
  survivor && (baseTests?.regressions.length ?? 0) === 0;

const passes = (count: number): string =>
  count === 1
    ? 'A candidate passes without breaking a test.'
    : `${count} candidates pass without breaking a test.`;

const done = ({ candidates }: RoundFacts, kind: FurtherKind): boolean =>
  candidates.some(({ contestant }) => contestant.round?.kind === kind);

/** Sums of prices carry noise behind the sixth place. */
const NOISE = 1e-9;

/**
 * How many more candidates can be paid and named. Each may cost as much as the dearest so far did; the gateway keeps to
 * the cap whatever they come to.
 */
function room({ candidates, left }: RoundFacts): number {
  const letters = MOST_ALIASES - candidates.length;
  if (left === null || Number.isNaN(left) || left <= NOISE) return 0;
  const dearest = Math.max(0, ...candidates.map(({ usage }) => usage.usd));
  return Math.max(0, dearest > 0 ? Math.min(letters, Math.floor(left / dearest + NOISE)) : letters);
}

const unpaid = ({ left }: RoundFacts): string =>
  left === null
    ? 'Nobody knows what is left of the budget.'
    : 'What is left of the budget does not pay for another candidate.';

function repairs(facts: RoundFacts): NextRound {
  if (done(facts, 'repair')) return enough('No candidate passes, and there was a round of repairs.');
  const failing = repairable(facts.evidence).slice(0, MOST_REPAIRS);
  if (failing.length === 0) return enough('No candidate left a patch that could be mended.');
  const aliases = failing.slice(0, room(facts)).map(({ alias }) => alias);
  if (aliases.length === 0) return enough(`No candidate passes. ${unpaid(facts)}`);
  const who =
    aliases.length === 1
      ? `${aliases[0]} comes closest and gets`
      : `${aliases.join(' and ')} come closest and get`;
  return {
    kind: 'repair',
    aliases,
    because: `No candidate passes without breaking a test; ${who} one more turn.`,
  };
}

function oneMore(facts: RoundFacts): NextRound {
  if (done(facts, 'one-more')) return enough('No candidate passes, and one more was asked already.');
  // A candidate and its repair fail for one reason, so the later one stands for both.
  const mended = new Set(
    facts.candidates.flatMap(({ contestant: { round } }) => (round?.kind === 'repair' ? round.of : [])),
  );
  const failing = facts.evidence.filter(({ alias }) => !mended.has(alias));
  const alone = failing.every((one) => failing.every((other) => other === one || !sameReason(one, other)));
  if (failing.length < 2 || !alone)
    return enough('No candidate passes, and several fail for the same reason.');
  if (room(facts) < 1) return enough(`No candidate passes. ${unpaid(facts)}`);
  return {
    kind: 'one-more',
    because: `All ${failing.length} candidates fail, each for a reason of its own, so one more is asked.`,
  };
}

function synthesis(facts: RoundFacts, clean: readonly Evidence[]): NextRound {
  if (done(facts, 'synthesis')) return enough('There was a synthesis already.');
  const pair = complements(clean);
  if (!pair) return enough('No two candidates mend what the other misses.');
  if (room(facts) < 1) return enough(unpaid(facts));
  const [a, b] = pair;
  return {
    kind: 'synthesise',
    from: [a, b],
    because: `${a} and ${b} each pass tests that the other fails, so that a coder merges them.`,
  };
}
