import { type Alias, byCodeUnits, NO_USAGE, type Usage } from '../model/index.ts';
import { bradleyTerry, type Game } from './bradley-terry.ts';
import type { JudgingPlan, Pair } from './panel.ts';
import type {
  FailureClaim,
  Judge,
  JudgedConfidence,
  JudgedPair,
  JudgedStanding,
  Judgement,
  JudgeRecord,
  PromptInjection,
} from './types.ts';
import { type AskedPair, type JudgeAnswer, outcomesOf, type PairOutcomes } from './verdict.ts';

/**
 * If the verdict changed with the order in more than this share of pairs, judges see no difference. Default, to be
 * tuned on dev data.
 */
export const MAX_INCONSISTENT = 0.4;
/** Standard errors: the one-sided 90% and 75% quantiles of a normal distribution. Defaults, to be tuned on dev data. */
const CLEAR_MARGIN = 1.2816;
const LIKELY_MARGIN = 0.6745;
/** Default. */
const MAX_CLAIMS = 20;

export interface JudgingResults {
  readonly plan: JudgingPlan;
  readonly judges: readonly Judge[];
  readonly asked: readonly AskedPair[];
  /** Pairs whose patches look identical to judges. */
  readonly alike: readonly Pair[];
  readonly injections: readonly PromptInjection[];
  readonly notes: readonly string[];
  readonly spent: Usage;
}

/** Combines the verdicts of all judges. The result does not depend on the order of the verdicts. */
export function judgementOf(given: JudgingResults): Judgement {
  const results = { ...given, asked: given.asked.toSorted(byPair) };
  const outcomes = outcomesOf(results.judges, results.asked);
  const combined = outcomes.pairs.flatMap(({ byJudge }) => byJudge);
  const inconsistent = combined.filter(({ consistent }) => !consistent).length;
  if (combined.length === 0 && (results.alike.length === 0 || results.asked.length > 0)) {
    return resultWithoutStandings(
      results,
      outcomes,
      'unanswered',
      noAnswerReason(outcomes.records, results.asked.length),
    );
  }
  if (combined.length > 0 && inconsistent / combined.length > MAX_INCONSISTENT) {
    const share = Math.round((100 * inconsistent) / combined.length);
    const why = `${share}% of the judges' answers changed with the order of the two candidates, so none of them counts.`;
    return resultWithoutStandings(results, outcomes, 'discarded', why);
  }
  return judgedResult(results, outcomes);
}

function judgedResult(results: JudgingResults, outcomes: PairOutcomes): Judgement {
  const { aliases } = results.plan;
  const pairs = pairsOf(results, outcomes);
  const fit = bradleyTerry(aliases, gamesOf(pairs, outcomes.records));
  const seed = new Map(aliases.map((alias, i) => [alias, i] as const));
  const standings = fit.strengths
    .map(
      ({ alias, theta, error }): JudgedStanding => ({
        alias,
        strength: theta,
        error,
        ...winsTiesLossesOf(alias, pairs),
      }),
    )
    .sort((x, y) => y.strength - x.strength || (seed.get(x.alias) ?? 0) - (seed.get(y.alias) ?? 0));
  const [best, next] = standings;
  const margin = best && next ? fit.margin(best.alias, next.alias) : 0;
  const confidence = confidenceOf(margin, pairs, outcomes.records);
  return {
    ...commonFields(results, outcomes),
    kind: 'judged',
    because: whyFirst(best, next, confidence),
    standings,
    confidence,
    margin,
    pairs,
  };
}

const resultWithoutStandings = (
  results: JudgingResults,
  outcomes: PairOutcomes,
  kind: 'discarded' | 'unanswered',
  because: string,
): Judgement => ({
  ...commonFields(results, outcomes),
  kind,
  because,
  standings: [],
  confidence: 'toss-up',
  margin: 0,
  pairs: pairsOf(results, outcomes),
});

function commonFields(
  { plan, judges, asked, injections, notes, spent }: JudgingResults,
  { pairs, records }: PairOutcomes,
) {
  const answering = new Set(pairs.flatMap(({ byJudge }) => byJudge.map(({ judge }) => judge)));
  return {
    format: plan.format,
    judges: records,
    quorum: { asked: judges.length, answered: answering.size },
    notes: [...plan.notes, ...notes, ...weaknessNotes(records)],
    injections,
    claims: claimsOf(asked, answering),
    spent,
  };
}

function pairsOf({ alike }: JudgingResults, outcomes: PairOutcomes): readonly JudgedPair[] {
  const same = alike.map((pair) => ({ ...pair, byJudge: [], alike: true }) as const);
  return [...outcomes.pairs, ...same].toSorted((x, y) => byCodeUnits(x.a, y.a) || byCodeUnits(x.b, y.b));
}

const byPair = (x: AskedPair, y: AskedPair): number =>
  byCodeUnits(x.pair.a, y.pair.a) || byCodeUnits(x.pair.b, y.pair.b) || byCodeUnits(x.judge, y.judge);
const POINTS = { a: 1, tie: 0.5, b: 0 } as const;

/** Gives each model family one vote in a pair, shared by its judges. */
function gamesOf(pairs: readonly JudgedPair[], records: readonly JudgeRecord[]): readonly Game[] {
  const families = new Map(records.map(({ judge, family }) => [judge, family] as const));
  return pairs.flatMap(({ a, b, byJudge, alike }): readonly Game[] => {
    if (alike) return [{ a, b, y: POINTS.tie, weight: 1 }];
    const familySize = (judge: string) =>
      byJudge.filter((other) => families.get(other.judge) === families.get(judge)).length;
    return byJudge.map(({ judge, outcome }) => ({ a, b, y: POINTS[outcome], weight: 1 / familySize(judge) }));
  });
}

function winsTiesLossesOf(
  alias: Alias,
  pairs: readonly JudgedPair[],
): Pick<JudgedStanding, 'wins' | 'ties' | 'losses'> {
  const score = { wins: 0, ties: 0, losses: 0 };
  for (const { a, b, byJudge, alike } of pairs) {
    if (alias !== a && alias !== b) continue;
    if (alike) score.ties += 1;
    for (const { outcome } of byJudge) {
      if (outcome === 'tie') score.ties += 1;
      else score[(outcome === 'a') === (alias === a) ? 'wins' : 'losses'] += 1;
    }
  }
  return score;
}

/** A single judge or a single family is never `clear`. */
function confidenceOf(
  margin: number,
  pairs: readonly JudgedPair[],
  records: readonly JudgeRecord[],
): JudgedConfidence {
  const answering = new Set(pairs.flatMap(({ byJudge }) => byJudge.map(({ judge }) => judge)));
  const families = new Set(records.filter(({ judge }) => answering.has(judge)).map(({ family }) => family));
  if (margin >= CLEAR_MARGIN && families.size >= 2) return 'clear';
  return margin >= LIKELY_MARGIN ? 'likely' : 'toss-up';
}

/** Strengths for the ranking; empty when no verdict counted. */
export const strengthsOf = ({ standings }: Judgement): ReadonlyMap<Alias, number> =>
  new Map(standings.map(({ alias, strength }) => [alias, strength]));

/** `5-1-0`: won, tied, lost. */
export const winsTiesLosses = ({ wins, ties, losses }: JudgedStanding): string => `${wins}-${ties}-${losses}`;

function whyFirst(
  best: JudgedStanding | undefined,
  next: JudgedStanding | undefined,
  confidence: JudgedConfidence,
): string {
  if (!best || !next) return 'There were no candidates to compare.';
  const record = `${winsTiesLosses(best)} against ${winsTiesLosses(next)}, won-tied-lost`;
  switch (confidence) {
    case 'clear':
      return `The judges clearly prefer ${best.alias} to ${next.alias} (${record}).`;
    case 'likely':
      return `The judges slightly prefer ${best.alias} to ${next.alias} (${record}).`;
    case 'toss-up':
      return `The judges see no difference between ${best.alias} and ${next.alias} (${record}).`;
  }
}

function noAnswerReason(records: readonly JudgeRecord[], asked: number): string {
  if (asked === 0) return 'No judge was asked.';
  const [first] = records.flatMap(({ judge, discarded, problems }) => {
    const why = discarded ?? problems[0];
    return why ? [`${judge}: ${why}`] : [];
  });
  return `No judge gave a usable answer.${first ? ` ${first}` : ''}`;
}

function weaknessNotes(records: readonly JudgeRecord[]): readonly string[] {
  const families = [...new Set(records.map(({ family }) => family))];
  return [
    ...(families.length === 1 ? [`All judges belong to one model family (${families[0]}).`] : []),
    ...(records.some(({ ownFamily }) => ownFamily)
      ? ['Too few model families were available, so judges also saw patches of their own family.']
      : []),
    ...records.flatMap(({ judge, discarded }) => (discarded ? [`${judge} was discarded: ${discarded}`] : [])),
  ];
}

/** Distinct claims of judges whose verdicts count. */
function claimsOf(asked: readonly AskedPair[], answering: ReadonlySet<string>): readonly FailureClaim[] {
  const claims = asked
    .filter(({ judge }) => answering.has(judge))
    .flatMap(({ pair, judge, aFirst, bFirst }) => [
      ...claimsIn(aFirst, judge, [pair.a, pair.b]),
      ...claimsIn(bFirst, judge, [pair.b, pair.a]),
    ]);
  const once = new Map(claims.map((claim) => [JSON.stringify([claim.alias, claim.input]), claim] as const));
  return [...once.values()].slice(0, MAX_CLAIMS);
}

function claimsIn(
  answer: JudgeAnswer,
  judge: string,
  [first, second]: readonly [Alias, Alias],
): readonly FailureClaim[] {
  if (answer.kind === 'unusable') return [];
  return (answer.verdict.failures ?? []).map(({ candidate, input, expected, got }) => ({
    alias: candidate === 'first' ? first : second,
    judge,
    input,
    expected,
    got,
  }));
}

/** A judgement for candidates that were not judged. */
export const notJudged = (because: string): Judgement => ({
  kind: 'unanswered',
  format: 'round-robin',
  because,
  standings: [],
  confidence: 'toss-up',
  margin: 0,
  pairs: [],
  judges: [],
  quorum: { asked: 0, answered: 0 },
  notes: [],
  injections: [],
  claims: [],
  spent: NO_USAGE,
});
