import { MAX_INCONSISTENT } from '../judging/index.ts';
import { byCodeUnits, counted } from '../model/index.ts';
import { pairKey, type SamplePair } from './pairs.ts';
import type { Match } from './rating.ts';
import type { CastVote, Voter } from './records.ts';

/** What one voter says about one pair of answers. */
export interface Ballot {
  readonly pair: SamplePair;
  /** `person NAME` or `judge MODEL`. */
  readonly voter: string;
  /** From the point of view of the pair's `a`; null if the voter skipped it. */
  readonly score: Match['score'] | null;
}

export const voterKey = (voter: Voter): string =>
  voter.kind === 'person' ? `person ${voter.name}` : `judge ${voter.model}`;

/** The latest vote of each person on each pair; `votes` are in order of time. */
export function personBallots(
  votes: readonly CastVote[],
  pairs: ReadonlyMap<string, SamplePair>,
): readonly Ballot[] {
  const latest = new Map<string, Ballot>();
  for (const vote of votes) {
    const pair = pairs.get(pairKey(vote.left, vote.right));
    if (vote.by.kind !== 'person' || !pair) continue;
    const voter = voterKey(vote.by);
    latest.set(JSON.stringify([voter, pair.key]), { pair, voter, score: scoreForA(vote, pair) });
  }
  return [...latest.values()];
}

/** For `a`; null for a skipped pair. */
function scoreForA({ left, verdict }: CastVote, { a }: SamplePair): Match['score'] | null {
  if (verdict === 'skip') return null;
  if (verdict === 'tie') return 0.5;
  return (verdict === 'left') === (left === a.id) ? 1 : 0;
}

/** One judge, and what it says about the pairs that it saw in both orders. */
export interface JudgeBallots {
  readonly model: string;
  /** Of its answers about a pair that contradict each other, the score is a tie. */
  readonly ballots: readonly Ballot[];
  /** Pairs with two usable answers, and how many of them changed with the order. */
  readonly compared: number;
  readonly inconsistent: number;
  /** Pairs with an answer that could not be used, and pairs that were shown in one order only so far. */
  readonly unusable: number;
  readonly unfinished: number;
  /** Why none of its ballots count, as a sentence; null if they do. */
  readonly discarded: string | null;
}

/** By model. A verdict counts if both orders were asked: one alone cannot be told from a preference for a place. */
export function judgeBallots(
  votes: readonly CastVote[],
  pairs: ReadonlyMap<string, SamplePair>,
): readonly JudgeBallots[] {
  const ofJudges = votes.flatMap((vote) =>
    vote.by.kind === 'judge' ? [{ vote, model: vote.by.model }] : [],
  );
  return [...Map.groupBy(ofJudges, ({ model }) => model)]
    .toSorted(([x], [y]) => byCodeUnits(x, y))
    .map(([model, own]) =>
      judgeBallotsOf(
        model,
        own.map(({ vote }) => vote),
        pairs,
      ),
    );
}

function judgeBallotsOf(
  model: string,
  votes: readonly CastVote[],
  pairs: ReadonlyMap<string, SamplePair>,
): JudgeBallots {
  /** By pair, the latest answer for each order. */
  const answers = new Map<string, Map<string, Match['score'] | null>>();
  for (const vote of votes) {
    const pair = pairs.get(pairKey(vote.left, vote.right));
    if (!pair) continue;
    const orders = answers.get(pair.key) ?? new Map<string, Match['score'] | null>();
    answers.set(pair.key, orders.set(vote.left, scoreForA(vote, pair)));
  }
  const both = [...answers].filter(([, orders]) => orders.size === 2);
  const usable = both.flatMap(([key, orders]) => {
    const [one = null, two = null] = orders.values();
    return one === null || two === null ? [] : [{ pair: pairs.get(key) as SamplePair, one, two }];
  });
  const inconsistent = usable.filter(({ one, two }) => one !== two).length;
  const discarded =
    usable.length >= MIN_COMPARED && inconsistent / usable.length > MAX_INCONSISTENT
      ? `${inconsistent} of its ${counted(usable.length, 'verdict')} changed with the order of the answers, so none of them counts.`
      : null;
  return {
    model,
    ballots: usable.map(({ pair, one, two }) => ({
      pair,
      voter: voterKey({ kind: 'judge', model }),
      score: one === two ? one : 0.5,
    })),
    compared: usable.length,
    inconsistent,
    unusable: both.length - usable.length,
    unfinished: answers.size - both.length,
    discarded,
  };
}

/** With fewer pairs, a share says nothing about a judge. Our default. */
const MIN_COMPARED = 4;

export const matchesOf = (ballots: readonly Ballot[]): readonly Match[] =>
  ballots.flatMap(({ pair, score }) =>
    score === null ? [] : [{ task: pair.task, a: pair.a.contestant, b: pair.b.contestant, score }],
  );

/** How often each pair was decided, by key. */
export function timesDecided(ballots: readonly Ballot[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { pair, score } of ballots) {
    if (score !== null) times.set(pair.key, (times.get(pair.key) ?? 0) + 1);
  }
  return times;
}
