import { byCodeUnits, type Usd } from '../model/index.ts';
import { type Beta, cumulative, meanOf, quantile } from './beta.ts';
import {
  type CandidateOutcome,
  contestantKey,
  creditOf,
  isOwnWork,
  MOSTLY_RIGHT,
  type Trial,
  trialsOf,
} from './outcome.ts';
import { NO_TALLY, plus, posterior, priorFrom, type Tally } from './shrinkage.ts';

/** One contestant in a selection of outcomes. */
export interface Standing {
  readonly agent: string;
  readonly model: string;
  readonly prompt: string;
  /** Runs in which it took part, and those that tell whether it won. */
  readonly runs: number;
  readonly told: number;
  /** Wins, with partial ones as fractions; several candidates in a run count as their mean. */
  readonly wins: number;
  /** Estimated share of runs that it wins, shrunken towards the others', with a 90% interval. In [0, 1]. */
  readonly estimate: number;
  readonly interval: readonly [low: number, high: number];
  /** Share of candidates that passed every gate without breaking a base test. */
  readonly sound: number;
  /** Runs that it won against others of whom none was sound. */
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
  /** Whether the runs in which both took part tell the next one in the list from it, with 5% error in the whole list. */
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
  /** Their latest names. */
  readonly repositories: readonly string[];
}

/** An interval that contains the share with 90% probability; our default. */
const INTERVAL_TAIL = 0.05;

/** Compares contestants by candidate outcomes; the order of these has no influence. */
export function leaderboardOf(outcomes: readonly CandidateOutcome[]): Leaderboard {
  const sorted = outcomes.toSorted(
    (one, other) => byCodeUnits(one.runId, other.runId) || byCodeUnits(one.alias, other.alias),
  );
  const byRun = Map.groupBy(sorted, ({ runId }) => runId);
  const trials = trialsOf(sorted);
  const isAhead = aheadOf(trials);
  const groups = [...Map.groupBy(trials, trialKey).values()];
  const tallies = groups.map(tallyOf);
  const prior = priorFrom(tallies);
  const rated = groups
    .map((group, i) => {
      const tally = tallies[i] as Tally;
      return { key: trialKey(group[0] as Trial), group, tally, beta: posterior(prior, tally) };
    })
    .toSorted((one, other) => meanOf(other.beta) - meanOf(one.beta) || byCodeUnits(one.key, other.key));
  const runsWith = (fits: FitsInRun): number =>
    [...byRun.values()].filter((run) => run.some((one) => fits(one, run))).length;
  return {
    runs: byRun.size,
    edited: runsWith(isEdited),
    reverted: runsWith(isReverted),
    pickedAgainst: runsWith(isPickedAgainst),
    repositories: namesIn(sorted),
    standings: rated.map(({ key, group, tally, beta }, i) => {
      const next = rated[i + 1];
      const isAheadOfNext = next !== undefined && isAhead(key, next.key);
      return standingOf(group, { tally, beta, byRun, isAheadOfNext });
    }),
  };
}

/** A repository that was renamed has the name of its latest run. */
const namesIn = (outcomes: readonly CandidateOutcome[]): readonly string[] =>
  [
    ...new Map(
      outcomes
        .toSorted((one, other) => one.at - other.at)
        .map(({ repository, repositoryName }) => [repository, repositoryName]),
    ).values(),
  ].toSorted();

const trialKey = ({ candidates: [one] }: Trial): string => contestantKey(one);

const tallyOf = (group: readonly Trial[]): Tally =>
  group.reduce(
    (sum, { credit }) => (credit === null ? sum : plus(sum, { wins: credit, trials: 1 })),
    NO_TALLY,
  );

type FitsInRun = (one: CandidateOutcome, run: readonly CandidateOutcome[]) => boolean;

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
/** In its run: where Runoff put nobody first, no pick is one against it. */
const isPickedAgainst = ({ pick, first: led }: CandidateOutcome, run: readonly CandidateOutcome[]): boolean =>
  pick === 'this' && led === null && run.some(({ first }) => first !== null);
const isSound = ({ survived, regressions }: CandidateOutcome): boolean => survived && regressions === 0;

function standingOf(trials: readonly Trial[], rating: Rating): Standing {
  const { tally, beta, byRun, isAheadOfNext } = rating;
  const group = trials.flatMap(({ candidates }) => candidates);
  const { agent, model, prompt } = group[0] as CandidateOutcome;
  const usd = group.reduce((sum, one) => sum + one.usd, 0);
  const count = (fits: (one: CandidateOutcome) => boolean): number => group.filter(fits).length;
  const runsWith = (fits: FitsInRun): number =>
    trials.filter(({ candidates }) => candidates.some((one) => fits(one, byRun.get(one.runId) ?? []))).length;
  return {
    agent,
    model,
    prompt,
    runs: trials.length,
    told: tally.trials,
    wins: tally.wins,
    estimate: meanOf(beta),
    interval: [quantile(INTERVAL_TAIL, beta), quantile(1 - INTERVAL_TAIL, beta)],
    sound: count(isSound) / group.length,
    alone: trials.filter((one) => isWonAlone(one, byRun.get(one.candidates[0].runId) ?? [])).length,
    merged: runsWith(isMerged),
    reverted: runsWith(isReverted),
    edited: runsWith(isEdited),
    pickedAgainst: runsWith(isPickedAgainst),
    usd,
    usdPerWin: tally.wins >= MOSTLY_RIGHT ? usd / tally.wins : null,
    ms: group.reduce((sum, one) => sum + one.ms, 0) / group.length,
    isAheadOfNext,
  };
}

/** Without others in the run, there is nobody to add something to. */
function isWonAlone(trial: Trial, run: readonly CandidateOutcome[]): boolean {
  const others = run.filter((one) => isOwnWork(one) && contestantKey(one) !== trialKey(trial));
  const won = trial.candidates.some((one) => (creditOf(one) ?? 0) >= MOSTLY_RIGHT);
  return won && others.length > 0 && !others.some(isSound);
}

/** Errors of at most this probability in the whole list, if all contestants are equally good; our default. */
const ERROR = 0.05;

/** How often each of two contestants did better than the other, over the runs in which both took part. */
interface Duel {
  readonly keys: readonly [string, string];
  readonly better: readonly [number, number];
}

/**
 * Which contestants are ahead of which, as far as chance does not explain it: the sign test over the runs in which both
 * took part with as many candidates, two-sided, with Holm's correction (Scandinavian Journal of Statistics 6, 1979) over
 * all pairs, since the order of the list is taken from the same runs. Pairs with so few such runs that no result could
 * be significant do not count. Runs in which both did equally well say nothing.
 */
function aheadOf(trials: readonly Trial[]): (one: string, other: string) => boolean {
  const tested = duelsIn(trials)
    .map((duel) => ({ ...duel, p: signTest(duel.better) }))
    .filter(({ better: [a, b] }) => signTest([a + b, 0]) <= ERROR)
    .toSorted((one, other) => one.p - other.p);
  const firstEven = tested.findIndex(({ p }, i) => p > ERROR / (tested.length - i));
  const ahead = new Set(
    tested
      .slice(0, firstEven < 0 ? tested.length : firstEven)
      .map(({ keys: [a, b], better: [m, n] }) => (m > n ? duelKey(a, b) : duelKey(b, a))),
  );
  return (one, other) => ahead.has(duelKey(one, other));
}

const duelKey = (one: string, other: string): string => `${one}\n${other}`;

function duelsIn(trials: readonly Trial[]): readonly Duel[] {
  const duels = new Map<string, Duel>();
  for (const run of Map.groupBy(trials, ({ candidates: [one] }) => one.runId).values()) {
    const told = run.flatMap(({ candidates, credit }) =>
      credit === null ? [] : [{ key: contestantKey(candidates[0]), credit, places: candidates.length }],
    );
    for (const [i, one] of told.entries()) {
      for (const other of told.slice(i + 1)) {
        if (one.places !== other.places || one.credit === other.credit) continue;
        const name = duelKey(one.key, other.key);
        const [m, n] = duels.get(name)?.better ?? [0, 0];
        duels.set(name, {
          keys: [one.key, other.key],
          better: one.credit > other.credit ? [m + 1, n] : [m, n + 1],
        });
      }
    }
  }
  return [...duels.values()];
}

/** The probability of a result that is at least as uneven, in either direction, if both are equally good. */
function signTest([a, b]: Duel['better']): number {
  if (a === b) return 1;
  // A sum of binomial terms starts with 0.5 to the number of runs, which is 0 from 1,075 on.
  return Math.min(1, 2 * cumulative(0.5, { a: Math.max(a, b), b: Math.min(a, b) + 1 }));
}
