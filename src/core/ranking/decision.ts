import { type Evidence, GATES, type GateName, lacksComparison } from '../evidence/index.ts';
import type { Alias, Candidate } from '../model/index.ts';
import { chanceOf, type Ranked, type Separator, showsFix } from './odds.ts';
import { failedGate, someTests } from './reasons.ts';

/** What people picked, in order; `alias` null: none of them. */
type Picks = readonly { readonly alias: Alias | null }[];

/** The candidate that stands as chosen: the last pick of a person, else the decision's; null where nobody is. */
export function chosenOf({
  decision,
  picks = [],
}: {
  readonly decision?: Decision | undefined;
  readonly picks?: Picks | undefined;
}): Alias | null {
  const last = picks.at(-1);
  return last ? last.alias : pickOf(decision);
}

/** Those whom a person may pick: survivors of every gate that have a patch, best first (I7). */
export function pickable({
  ranking,
  candidates,
}: {
  readonly ranking: readonly Pick<Ranked, 'alias' | 'place' | 'survivor'>[];
  readonly candidates: readonly Pick<Candidate, 'alias' | 'patch'>[];
}): readonly Alias[] {
  return ranking
    .filter(({ alias, survivor }) => survivor && candidates.some((one) => one.alias === alias && one.patch))
    .toSorted((one, other) => one.place - other.place)
    .map(({ alias }) => alias);
}

/** The settings leave the pick to a person, though the evidence would have named a winner. */
export const leftToPerson = (decision: Decision | undefined): boolean =>
  decision?.kind === 'toss-up' && decision.chance >= LIKELY;

/** What we do about the evidence. `none` is a first-class result: no pull request is opened. */
export type Decision =
  | {
      readonly kind: 'winner';
      readonly alias: Alias;
      readonly confidence: 'clear' | 'likely';
      readonly decidedBy: Separator;
      readonly because: string;
      /** Estimated chance that the pick is right, in [0, 1]; for programs, people read the word. */
      readonly chance: number;
    }
  | {
      /** Evidence does not decide: a draft of the first is shown, and a person is asked. */
      readonly kind: 'toss-up';
      readonly alias: Alias;
      /** Those between whom a person should choose, best first. */
      readonly among: readonly Alias[];
      readonly decidedBy: Separator;
      readonly because: string;
      readonly chance: number;
    }
  | { readonly kind: 'none'; readonly decidedBy: Separator; readonly because: string };

/** A decision that names a candidate to show first. */
export type Picked = Exclude<Decision, { readonly kind: 'none' }>;

/** The candidate that is put before people: the winner, or the ranked first, toss-up; null where nobody is. */
export const pickOf = (decision: Decision | undefined): Alias | null =>
  decision && decision.kind !== 'none' ? decision.alias : null;

/**
 * From which estimated chance a pick is called clear, or likely; below it is a toss-up. Our defaults, from dev data:
 * docs/selection.md says how often each word was right.
 */
const CLEAR = 0.85;
const LIKELY = 0.5;

interface DecideOptions {
  /** The settings leave the choice to a person. */
  readonly askPerson?: boolean;
}

/**
 * Decides from a ranking of the same evidence. Nobody wins where no candidate passed every gate, nor where even the
 * best one breaks a test that passes on the base: whether that test should change is a person's question.
 */
export function decide(
  ranking: readonly Ranked[],
  evidence: readonly Evidence[],
  { askPerson = false }: DecideOptions = {},
): Decision {
  const survivors = ranking.filter((one) => one.survivor);
  const [best] = survivors;
  const winning = best && evidence.find((one) => one.alias === best.alias);
  if (!best || !winning)
    return { kind: 'none', decidedBy: 'gates', because: nobodyPassedReason(ranking, evidence) };
  if (best.regressions > 0) {
    return {
      kind: 'none',
      decidedBy: 'regressions',
      because: allBreakReason(best, winning, survivors.length),
    };
  }
  // Those who made the same change are no rivals: to pick one is to pick all of them.
  const rivals = survivors.filter((one) => one !== best && !(winning.alike ?? []).includes(one.alias));
  const decidedBy = rivals[0] ? separatorAgainst(survivors, rivals[0]) : 'gates';
  const chance = chanceOf({ best, winning, rivals, evidence });
  const because = winnerReason(best, winning, rivals, survivors.length, decidedBy);
  const decided = { alias: best.alias, decidedBy, chance };
  if (askPerson || chance < LIKELY) {
    const among = [best, ...rivals.filter((one) => one.regressions === 0)].slice(0, MAX_ASKED);
    const why = askPerson ? ' Your settings leave the choice to you.' : '';
    return { kind: 'toss-up', ...decided, among: among.map(({ alias }) => alias), because: because + why };
  }
  const confidence = chance >= CLEAR && mayBeClear(winning, decidedBy) ? 'clear' : 'likely';
  return { kind: 'winner', ...decided, confidence, because };
}

/** Candidates that a person is asked about at most. */
const MAX_ASKED = 4;

/** What put the last one before the first rival ahead of it. */
function separatorAgainst(survivors: readonly Ranked[], rival: Ranked): Separator {
  const above = survivors[survivors.indexOf(rival) - 1];
  return above?.separatedBy ?? 'hash';
}

/**
 * Exit codes alone, what nobody executed, and tests of which none passes on the base, never make it clear; nor does an
 * examination whose time was over before candidates were compared.
 */
function mayBeClear(winning: Evidence, decidedBy: Separator): boolean {
  const { baseTests } = winning;
  const tested = baseTests?.source === 'report' && baseTests.passed > 0 && !baseTests.silent;
  // While a person is asked whether tests should change, or a reviewer names a defect, nobody is right beyond doubt.
  if (
    !tested ||
    !showsFix(winning) ||
    winning.doubt !== undefined ||
    lacksComparison(winning.cut) ||
    (winning.baseTests?.contested ?? []).length > 0
  )
    return false;
  switch (decidedBy) {
    // Nobody else was there to question it: something that its coder did not write must show that anything is fixed.
    case 'gates':
      return (winning.independentTests?.passed ?? 0) > 0 || (winning.baseTests?.fixed.length ?? 0) > 0;
    case 'regressions':
    case 'objections':
    case 'tests':
    case 'behaviour':
    case 'judges':
      return true;
    case 'agreement':
    case 'vote':
    case 'score':
    case 'metrics':
    case 'hash':
      return false;
  }
}

function winnerReason(
  best: Ranked,
  winning: Evidence,
  rivals: readonly Ranked[],
  survivors: number,
  decidedBy: Separator,
): string {
  const base = `${best.alias} ${baseClause(winning)}`;
  const [next] = rivals;
  if (!next) {
    return survivors === 1
      ? `${base} and is the only candidate that passed every gate.`
      : `${base}; all ${survivors} that passed every gate made the same change, which is agreement, not proof.`;
  }
  return `${base}${comparisonClause(best, next, decidedBy)}.`;
}

function comparisonClause(best: Ranked, next: Ranked, decidedBy: Separator): string {
  switch (decidedBy) {
    case 'gates':
      return '';
    case 'regressions':
      return `; ${next.alias} breaks ${next.regressions}`;
    case 'objections':
      return `; a critic's test fails on ${next.alias} and passes on it`;
    case 'tests':
      return ` and passes more of the tests that it did not write than ${next.alias}`;
    case 'behaviour':
      return `; on inputs that tell them apart, what the others do speaks for it rather than for ${next.alias}`;
    case 'agreement':
      return `; execution does not separate it from ${next.alias}, but its changes are closer to what the others wrote`;
    case 'judges':
      return `; execution does not separate it from ${next.alias}, blind judges preferred it`;
    case 'vote':
      return `; execution does not separate it from ${next.alias}, but more model families wrote the same change`;
    case 'score':
      return `; execution does not separate it from ${next.alias}, the patch score does`;
    case 'metrics':
      return `; execution does not separate it from ${next.alias}, metrics do (${best.metrics.total.toFixed(1)} against ${next.metrics.total.toFixed(1)})`;
    case 'hash':
      return `; nothing that was measured separates it from ${next.alias}, so the hash of the patch decided`;
  }
}

function baseClause({ baseTests }: Evidence): string {
  if (!baseTests) return 'passed every gate';
  if (baseTests.silent) {
    return baseTests.fixed.length > 0
      ? 'makes tests pass that fail on the base'
      : 'passed every gate, though the tests say nothing';
  }
  if (baseTests.source === 'exit-code') return 'breaks no base test as far as the exit code tells';
  return `breaks no base test (${baseTests.passed} of ${baseTests.total} pass)`;
}

/** Names the gate that stopped most candidates; of several, the earliest. */
function nobodyPassedReason(ranking: readonly Ranked[], evidence: readonly Evidence[]): string {
  const stopped = ranking.flatMap(({ alias }) => {
    const own = evidence.find((one) => one.alias === alias);
    const gate = own && failedGate(own);
    return gate ? [{ alias, gate }] : [];
  });
  const commonest = mostFrequent(stopped.map(({ gate }) => gate.gate));
  if (commonest === null) return 'There was no candidate to decide on.';
  const those = stopped.filter(({ gate }) => gate.gate === commonest);
  const aliases = those.map(({ alias }) => alias).sort();
  const example = those.find(({ alias }) => alias === aliases[0]) as (typeof those)[number];
  // A fault of a provider or an agent, not of what was written.
  if (commonest === 'collected' && those.length === ranking.length) {
    const nobody =
      ranking.length === 1 ? 'The coder left no patch' : `None of the ${ranking.length} coders left a patch`;
    return `${nobody}. ${example.alias}: ${example.gate.because}`;
  }
  const who =
    ranking.length === 1
      ? 'The candidate did not pass every gate'
      : `None of the ${ranking.length} candidates passed every gate`;
  return `${who}; most often it was \`${commonest}\` (${aliases.join(', ')}). ${example.alias}: ${example.gate.because}`;
}

function mostFrequent(names: readonly GateName[]): GateName | null {
  let best: GateName | null = null;
  const times = (name: GateName) => names.filter((one) => one === name).length;
  for (const name of GATES) if (times(name) > (best ? times(best) : 0)) best = name;
  return best;
}

function allBreakReason(best: Ranked, winning: Evidence, survivors: number): string {
  const broken = winning.baseTests?.regressions ?? [];
  const who =
    survivors === 1
      ? `${best.alias}, the only candidate that passed every gate,`
      : `Every candidate that passed the gates breaks base tests; ${best.alias}, with the fewest,`;
  const tests = broken.length === 1 ? '1 test that passes' : `${broken.length} tests that pass`;
  return `${who} breaks ${tests} on the base: ${someTests(broken)}. A person must judge whether the tests or the patches are wrong.`;
}
