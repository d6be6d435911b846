import { byCodeUnits, type Usd } from '../model/index.ts';
import { type Beta, chanceAbove, meanOf, quantile } from './beta.ts';
import { type CandidateOutcome, contestantKey, creditOf, isOwnWork } from './outcome.ts';
import { NO_TALLY, plus, posterior, priorFrom, type Tally } from './shrinkage.ts';

/** One contestant in a selection of outcomes. */
export interface Standing {
  readonly agent: string;
  readonly model: string;
  readonly prompt: string;
  /** Runs in which it took part, and those that tell whether it won. */
  readonly runs: number;
  readonly told: number;
  /** Wins, with partial ones as fractions. */
  readonly wins: number;
  /** Estimated share of runs that it wins, shrunken towards the others', with a 90% interval. In [0, 1]. */
  readonly estimate: number;
  readonly interval: readonly [low: number, high: number];
  /** Share of candidates that passed every gate without breaking a base test. */
  readonly sound: number;
  /** Runs that it won and in which nobody else's candidate was sound. */
  readonly alone: number;
  readonly merged: number;
  /** Merges that were reverted later, and merges in which people changed its lines. */
  readonly reverted: number;
  readonly edited: number;
  /** A person picked it where Runoff had put another change first. */
  readonly pickedAgainst: number;
  /** US dollars of all its runs, and for each win; null without one. */
  readonly usd: Usd;
  readonly usdPerWin: Usd | null;
  /** Mean time of the coder, milliseconds. */
  readonly ms: number;
  /** Whether the next one in the list is told from it: its estimate is lower with at least 95% probability. */
  readonly isAheadOfNext: boolean;
}

export interface Leaderboard {
  /** Best first. */
  readonly standings: readonly Standing[];
  readonly runs: number;
  /** Runs whose merge came after people had edited the code, or was reverted; runs with a pick against Runoff's first. */
  readonly edited: number;
  readonly reverted: number;
  readonly pickedAgainst: number;
  readonly repositories: readonly string[];
}

/** An interval that contains the share with 90% probability; our default. */
const INTERVAL_TAIL = 0.05;
/** From here on one contestant counts as ahead of another; our default. */
const AHEAD = 0.95;

/** Compares contestants by candidate outcomes; the order of these has no influence. */
export function leaderboardOf(outcomes: readonly CandidateOutcome[]): Leaderboard {
  const sorted = outcomes.toSorted(
    (one, other) => byCodeUnits(one.runId, other.runId) || byCodeUnits(one.alias, other.alias),
  );
  const byRun = Map.groupBy(sorted, ({ runId }) => runId);
  const groups = [...Map.groupBy(sorted.filter(isOwnWork), contestantKey).values()];
  const tallies = groups.map(tallyOf);
  const prior = priorFrom(tallies);
  const rated = groups
    .map((group, i) => ({ group, tally: tallies[i] as Tally, beta: posterior(prior, tallies[i] as Tally) }))
    .toSorted(
      (one, other) =>
        meanOf(other.beta) - meanOf(one.beta) ||
        byCodeUnits(contestantKey(first(one.group)), contestantKey(first(other.group))),
    );
  const runsWith = (fits: (one: CandidateOutcome) => boolean): number =>
    new Set(sorted.filter(fits).map(({ runId }) => runId)).size;
  return {
    runs: byRun.size,
    edited: runsWith(isEdited),
    reverted: runsWith(isReverted),
    pickedAgainst: runsWith(isPickedAgainst),
    repositories: [...new Set(sorted.map(({ repositoryName }) => repositoryName))].toSorted(),
    standings: rated.map(({ group, tally, beta }, i) => {
      const next = rated[i + 1];
      return standingOf(group, {
        tally,
        beta,
        byRun,
        isAheadOfNext: next !== undefined && chanceAbove(beta, next.beta) >= AHEAD,
      });
    }),
  };
}

const first = (group: readonly CandidateOutcome[]): CandidateOutcome => group[0] as CandidateOutcome;

const tallyOf = (group: readonly CandidateOutcome[]): Tally =>
  group.reduce((sum, outcome) => {
    const wins = creditOf(outcome);
    return wins === null ? sum : plus(sum, { wins, trials: 1 });
  }, NO_TALLY);

interface Rating {
  readonly tally: Tally;
  readonly beta: Beta;
  readonly byRun: ReadonlyMap<string, readonly CandidateOutcome[]>;
  readonly isAheadOfNext: boolean;
}

const isMerged = ({ shown, pull }: CandidateOutcome): boolean => shown && pull?.state === 'merged';
const isEdited = (one: CandidateOutcome): boolean => isMerged(one) && (one.pull?.edited ?? 0) > 0;
const isReverted = (one: CandidateOutcome): boolean =>
  isMerged(one) && typeof one.pull?.revertedAt === 'number';
const isPickedAgainst = ({ pick, first: led }: CandidateOutcome): boolean => pick === 'this' && led === null;
const isSound = ({ survived, regressions }: CandidateOutcome): boolean => survived && regressions === 0;

/** From this credit on a run counts as won in whole numbers: mostly right, as far as is known. */
const WON = 0.5;

function standingOf(group: readonly CandidateOutcome[], rating: Rating): Standing {
  const { agent, model, prompt } = first(group);
  const { tally, beta, byRun, isAheadOfNext } = rating;
  const usd = group.reduce((sum, one) => sum + one.usd, 0);
  const own = contestantKey(first(group));
  const wonAlone = (one: CandidateOutcome): boolean =>
    (creditOf(one) ?? 0) >= WON &&
    !(byRun.get(one.runId) ?? []).some(
      (other) => contestantKey(other) !== own && isOwnWork(other) && isSound(other),
    );
  const count = (fits: (one: CandidateOutcome) => boolean): number => group.filter(fits).length;
  return {
    agent,
    model,
    prompt,
    runs: new Set(group.map(({ runId }) => runId)).size,
    told: tally.trials,
    wins: tally.wins,
    estimate: meanOf(beta),
    interval: [quantile(INTERVAL_TAIL, beta), quantile(1 - INTERVAL_TAIL, beta)],
    sound: count(isSound) / group.length,
    alone: count(wonAlone),
    merged: count(isMerged),
    reverted: count(isReverted),
    edited: count(isEdited),
    pickedAgainst: count(isPickedAgainst),
    usd,
    usdPerWin: tally.wins >= WON ? usd / tally.wins : null,
    ms: group.reduce((sum, one) => sum + one.ms, 0) / group.length,
    isAheadOfNext,
  };
}
