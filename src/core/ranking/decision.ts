import { type Evidence, GATES, type GateName } from '../evidence/index.ts';
import { type Alias, type Candidate, counted, formatList } from '../model/index.ts';
import { type ChanceCap, chanceOf } from './chance.ts';
import { CALIBRATION, type Calibration, type Ranked, type Separator, sameSetOf } from './odds.ts';
import type { JudgedOutcome } from './proof.ts';
import { type Compared, comparisonClause, failedGate } from './reasons.ts';

/** People's picks in order; `alias` null: none of them. */
type Picks = readonly { readonly alias: Alias | null }[];

/** The chosen candidate: a person's last pick, otherwise the decision's; null if none is chosen. */
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

/** Candidates that a person may pick: survivors of every gate with a patch, best first (I7). */
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

/** The settings leave the pick to a person although the evidence is sufficient for a winner. */
export const leftToPerson = (decision: Decision | undefined): boolean =>
  decision?.kind === 'toss-up' && decision.chance >= CALIBRATION.likely;

/** The decision made from the evidence. `none` is a valid result: no pull request is opened. */
export type Decision =
  | {
      readonly kind: 'winner';
      readonly alias: Alias;
      readonly confidence: 'clear' | 'likely';
      readonly decidedBy: Separator;
      readonly because: string;
      /** Estimated chance that the pick is right, in [0, 1]. For programs; people read the word. */
      readonly chance: number;
      /** Limits of the chance; absent for none. */
      readonly caps?: readonly Pick<ChanceCap, 'most' | 'because'>[];
    }
  | {
      /** The evidence is inconclusive: the first is shown as a draft, and a person is asked. */
      readonly kind: 'toss-up';
      readonly alias: Alias;
      /** The candidates among which a person should choose, best first. */
      readonly among: readonly Alias[];
      readonly decidedBy: Separator;
      readonly because: string;
      readonly chance: number;
      readonly caps?: readonly Pick<ChanceCap, 'most' | 'because'>[];
    }
  | { readonly kind: 'none'; readonly decidedBy: Separator; readonly because: string };

/** A decision that names a candidate to show first. */
export type Picked = Exclude<Decision, { readonly kind: 'none' }>;

/** The candidate that is shown to people: the winner, or the first of a toss-up; null for none. */
export const pickOf = (decision: Decision | undefined): Alias | null =>
  decision && decision.kind !== 'none' ? decision.alias : null;

interface DecideOptions {
  /** The settings leave the choice to a person. */
  readonly askPerson?: boolean;
  /** The judges' verdict, if they were asked. */
  readonly judgement?: JudgedOutcome | undefined;
  /** The caller has the patches from elsewhere: no coder of Runoff wrote them. */
  readonly given?: boolean;
  /** Default: `CALIBRATION`. */
  readonly calibration?: Calibration;
}

/**
 * Decides from a ranking of the same evidence. There is no winner if no candidate passed every gate, or if even the
 * best one breaks a test that passes on the base: only a person can decide whether that test should change.
 */
export function decide(
  ranking: readonly Ranked[],
  evidence: readonly Evidence[],
  options: DecideOptions = {},
): Decision {
  const survivors = ranking.filter((one) => one.survivor);
  const [best] = survivors;
  const winning = best && evidence.find((one) => one.alias === best.alias);
  if (!best || !winning)
    return { kind: 'none', decidedBy: 'gates', because: nobodyPassedReason(ranking, evidence, options) };
  if (best.regressions > 0) {
    return {
      kind: 'none',
      decidedBy: 'regressions',
      because: allBreakReason(best, survivors.length),
    };
  }
  return decideBetween({ best, winning, survivors, evidence }, options);
}

interface Deciding {
  readonly best: Ranked;
  readonly winning: Evidence;
  readonly survivors: readonly Ranked[];
  readonly evidence: readonly Evidence[];
}

/** Judges without a confident verdict express no preference. */
const hasVerdict = ({ kind, confidence }: JudgedOutcome): boolean =>
  kind === 'judged' && confidence !== 'toss-up';

function decideBetween(
  { best, winning, survivors, evidence }: Deciding,
  { askPerson = false, judgement, calibration = CALIBRATION }: DecideOptions,
): Decision {
  // A candidate with the same change is not a rival: picking one picks all of them.
  const rivals = survivors.filter(
    (one, i) =>
      survivors[i - 1]?.separatedBy !== 'alike' && one !== best && !(winning.alike ?? []).includes(one.alias),
  );
  const decidedBy = rivals[0] ? separatorAgainst(survivors, rivals[0]) : 'gates';
  const sameSet = sameSetOf(evidence);
  const estimate = chanceOf({ best, winning, rivals, evidence, sameSet, decidedBy, judgement, calibration });
  const { chance } = estimate;
  const because = [
    winnerReason(best, rivals, { evidence, survivors: survivors.length, decidedBy }),
    ...(judgement && !hasVerdict(judgement) ? [`The judges gave no verdict: ${judgement.because}`] : []),
    ...estimate.caps.filter(({ said }) => said).map((cap) => cap.because),
  ].join(' ');
  const caps = estimate.caps.map(({ most, because: why }) => ({ most, because: why }));
  const decided = { alias: best.alias, decidedBy, chance, ...(caps.length > 0 ? { caps } : {}) };
  if (askPerson || chance < calibration.likely) {
    const among = [best, ...rivals.filter((one) => one.regressions === 0)].slice(0, MAX_ASKED);
    const why = askPerson ? ' Your settings leave the choice to you.' : '';
    return { kind: 'toss-up', ...decided, among: among.map(({ alias }) => alias), because: because + why };
  }
  const confidence = chance >= calibration.clear ? 'clear' : 'likely';
  return { kind: 'winner', ...decided, confidence, because };
}

/** Maximum candidates that a person chooses among. */
const MAX_ASKED = 4;

/** What separated the first rival from the last candidate ahead of it. */
function separatorAgainst(survivors: readonly Ranked[], rival: Ranked): Separator {
  const above = survivors[survivors.indexOf(rival) - 1];
  return above?.separatedBy ?? 'tie';
}

function winnerReason(
  best: Ranked,
  rivals: readonly Ranked[],
  how: {
    readonly evidence: readonly Evidence[];
    readonly survivors: number;
    readonly decidedBy: Separator;
  },
): string {
  const sameSet = sameSetOf(how.evidence);
  const compared = (one: Ranked): Compared => {
    const found = how.evidence.find(({ alias }) => alias === one.alias) as Evidence;
    return { ...one, evidence: found, sameSet: sameSet(one.alias), weighted: one.weighted ?? null };
  };
  const winner = compared(best);
  const base = `${best.alias} ${baseClause(winner.evidence)}`;
  const [next] = rivals;
  if (!next) {
    return how.survivors === 1
      ? `${base} and is the only candidate that passed every gate.`
      : `${base}; all ${how.survivors} that passed every gate made the same change, which is agreement, not proof.`;
  }
  if (how.decidedBy === 'regressions') return `${base}; ${next.alias} breaks ${next.regressions}.`;
  return `${base} and ${comparisonClause(how.decidedBy, winner, compared(next))}.`;
}

function baseClause({ baseTests }: Evidence): string {
  if (!baseTests) return 'passed every gate';
  if (baseTests.silent) {
    return baseTests.fixed.length > 0
      ? 'makes tests pass that fail on the base'
      : 'passed every gate, though the tests say nothing';
  }
  if (baseTests.source === 'exit-code') return 'breaks no existing test as far as the exit code tells';
  const asked = (baseTests.contested ?? []).length + (baseTests.superseded ?? []).length;
  const except = asked > 0 ? ` except ${asked} that a person is asked about` : '';
  return `breaks no existing test${except} (${baseTests.passed} of ${baseTests.total} pass)`;
}

/** Names the gate that rejected most candidates; among equals, the earliest. */
function nobodyPassedReason(
  ranking: readonly Ranked[],
  evidence: readonly Evidence[],
  { given = false }: DecideOptions,
): string {
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
  // A fault of a provider or an agent, not of the patch.
  if (!given && commonest === 'collected' && those.length === ranking.length) {
    const nobody =
      ranking.length === 1 ? 'The coder left no patch' : `None of the ${ranking.length} coders left a patch`;
    return `${nobody}. ${endings(those)}`;
  }
  const { because } = example.gate;
  if (ranking.length === 1) return `The candidate failed the gate \`${commonest}\`: ${because}`;
  const who =
    aliases.length === ranking.length
      ? `All ${ranking.length} candidates failed the gate \`${commonest}\`.`
      : `None of the ${ranking.length} candidates passed every gate; ${formatList(aliases)} failed \`${commonest}\`.`;
  return `${who} ${example.alias}: ${because}`;
}

/** Maximum endings of coders that are quoted. */
const MAX_ENDINGS = 3;

/** How coders without a patch ended, a sentence for each ending. */
function endings(
  coders: readonly { readonly alias: Alias; readonly gate: Evidence['gates'][number] }[],
): string {
  const byEnding = new Map<string, Alias[]>();
  for (const { alias, gate } of coders.toSorted((one, other) => (one.alias < other.alias ? -1 : 1)))
    byEnding.set(gate.because, [...(byEnding.get(gate.because) ?? []), alias]);
  const all = [...byEnding].map(
    ([because, aliases]) => `${formatList(aliases)}: ${because}${/[.!?]”?$/.test(because) ? '' : '.'}`,
  );
  const more = all.length - MAX_ENDINGS;
  return [...all.slice(0, MAX_ENDINGS), ...(more > 0 ? [`And ${counted(more, 'other ending')}.`] : [])].join(
    ' ',
  );
}

function mostFrequent(names: readonly GateName[]): GateName | null {
  let best: GateName | null = null;
  const times = (name: GateName) => names.filter((one) => one === name).length;
  for (const name of GATES) if (times(name) > (best ? times(best) : 0)) best = name;
  return best;
}

/** Without the names of tests: reports name them for each candidate. */
function allBreakReason({ alias, regressions }: Ranked, survivors: number): string {
  if (survivors === 1)
    return `${alias}, the only candidate that passed every gate, breaks ${counted(regressions, 'existing test')}.`;
  return `Every candidate that passed the gates breaks existing tests; ${alias}, ranked first, breaks ${regressions}.`;
}
