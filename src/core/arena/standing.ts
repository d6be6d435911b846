import { counted } from '../model/index.ts';
import { type Ballot, type JudgeBallots, judgeBallots, personBallots } from './ballots.ts';
import { isAskedOnce, pairsOf, type SamplePair } from './pairs.ts';
import {
  type BaseResult,
  type CastVote,
  countedVotes,
  type PoolDecision,
  type Sample,
  type VoteRecord,
} from './records.ts';
import type { ResolvedContest } from './versions.ts';

/** Everything that the files of a contest say. */
export interface ContestRecords {
  readonly contest: ResolvedContest;
  /** SHA-256 of `contestIdentity`. */
  readonly digest: string;
  readonly samples: readonly Sample[];
  readonly bases: readonly BaseResult[];
  readonly votes: readonly VoteRecord[];
  /** What Runoff decided on answers; absent: nothing. */
  readonly decisions?: readonly PoolDecision[];
}

/** A task without influence on any rating. */
export interface LeftOutTask {
  readonly task: string;
  /** A clause or a sentence. */
  readonly why: string;
}

/** What counts of a contest's records, for its present version. */
export interface Standing {
  /** Of this version, of tasks that are rated. */
  readonly samples: readonly Sample[];
  /** Of this version, of tasks that are left out. */
  readonly unrated: readonly Sample[];
  readonly leftOut: readonly LeftOutTask[];
  /** Pairs of answers that can be compared, sorted by key. */
  readonly pairs: readonly SamplePair[];
  readonly pairsByKey: ReadonlyMap<string, SamplePair>;
  /** Votes on these pairs, in order of time. */
  readonly votes: readonly CastVote[];
  readonly people: readonly Ballot[];
  readonly judges: readonly JudgeBallots[];
  /** What was not counted and why, one sentence each. */
  readonly notes: readonly string[];
}

export function standingOf({ contest, digest, samples, bases, votes }: ContestRecords): Standing {
  const tasks = new Set(contest.tasks.map(({ id }) => id));
  const contestants = new Set(contest.contestants.map(({ id }) => id));
  const current = samples.filter(
    (one) => one.contest === digest && tasks.has(one.task) && contestants.has(one.contestant),
  );
  const leftOut = leftOutTasks(contest, digest, current, bases);
  const withoutRating = new Set(leftOut.map(({ task }) => task));
  const rated = current.filter(({ task }) => !withoutRating.has(task));
  const pairs = pairsOf(
    rated.flatMap(({ id, task, contestant, outcome, answer, ...one }) =>
      outcome === 'answered' && answer !== null
        ? [{ id, task, contestant, answer, round: roundOf(contest, one) }]
        : [],
    ),
  );
  const pairsByKey = new Map(pairs.map((pair) => [pair.key, pair]));
  const counting = countedVotes(votes, digest, current);
  const onLeftOut = counting.votes.filter(({ task }) => withoutRating.has(task)).length;
  return {
    samples: rated,
    unrated: current.filter(({ task }) => withoutRating.has(task)),
    leftOut,
    pairs,
    pairsByKey,
    votes: counting.votes.filter(({ task }) => !withoutRating.has(task)),
    people: personBallots(counting.votes, pairsByKey),
    judges: judgeBallots(counting.votes, pairsByKey),
    notes: [
      ...counting.problems,
      ...notCounted(counting.ofOtherVersions, 'vote', 'cast on another version of the contest'),
      ...notCounted(onLeftOut, 'vote', 'on tasks that are left out'),
      ...notCounted(samples.length - current.length, 'sample', 'made for another version of the contest'),
    ],
  };
}

/** Null: the sample stands for every round. */
export const roundOf = (
  contest: Pick<ResolvedContest, 'temperature'>,
  { agent, round }: Pick<Sample, 'agent' | 'round'>,
): number | null => (isAskedOnce(contest, agent) ? null : round);

/** What is known last of the base of each task; lines of several people may have been merged in any order. */
export const latestBases = (bases: readonly BaseResult[], contest: string): ReadonlyMap<string, BaseResult> =>
  new Map(
    bases
      .filter((one) => one.contest === contest)
      .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
      .map((one) => [one.task, one]),
  );

const notCounted = (count: number, what: string, why: string): readonly string[] =>
  count === 0 ? [] : [`${counted(count, what)} ${count === 1 ? 'is' : 'are'} not counted: ${why}.`];

function leftOutTasks(
  contest: ResolvedContest,
  digest: string,
  samples: readonly Sample[],
  bases: readonly BaseResult[],
): readonly LeftOutTask[] {
  const silent = new Map(
    [...latestBases(bases, digest).values()]
      .filter(({ rated }) => !rated)
      .map(({ task, why }) => [task, why ?? 'Its commands do not distinguish contestants.']),
  );
  const answered = Map.groupBy(samples, ({ task }) => task);
  return contest.tasks.flatMap(({ id: task }): readonly LeftOutTask[] => {
    const base = silent.get(task);
    if (base !== undefined) return [{ task, why: base }];
    const field = new Set(answered.get(task)?.map(({ contestant }) => contestant));
    if (field.size === 0) return [{ task, why: 'Nobody has answered it yet.' }];
    return [];
  });
}
