import { byCodeUnits } from '../model/index.ts';
import { wilsonByTask } from './chance.ts';
import { solvedOf } from './measures.ts';
import type { Interval } from './rating.ts';
import { DECISION_CLASSES, type DecisionClass, type PoolDecision, type Sample } from './records.ts';
import { roundOf } from './standing.ts';
import type { ResolvedContest, Sha256 } from './versions.ts';

/** The answers to one task in one round, among which Runoff chooses. */
export interface SamplePool {
  /** The ids of its samples: what a decision is about. */
  readonly key: string;
  readonly task: string;
  /** Null: the answers are the same in all rounds. */
  readonly round: number | null;
  /** Sorted by id. */
  readonly samples: readonly Sample[];
}

const keyOfIds = (ids: readonly string[]): string => ids.join(' ');

/** Pools of the repository tasks, each with the answers of at least two contestants whose outcome is known. */
export function poolsOf(
  contest: Pick<ResolvedContest, 'tasks' | 'temperature'>,
  samples: readonly Sample[],
): readonly SamplePool[] {
  const known = Map.groupBy(
    samples.filter((one) => solvedOf(one) !== null),
    ({ task }) => task,
  );
  return contest.tasks
    .filter(({ kind }) => kind === 'repo')
    .flatMap(({ id: task }) => {
      const answers = known.get(task) ?? [];
      const made = new Set(answers.map((one) => roundOf(contest, one)).filter((round) => round !== null));
      const rounds = made.size === 0 ? [null] : [...made].toSorted((a, b) => a - b);
      return rounds.flatMap((round): readonly SamplePool[] => {
        const own = answers
          .filter((one) => [null, round].includes(roundOf(contest, one)))
          .toSorted((a, b) => byCodeUnits(a.id, b.id));
        const contestants = new Set(own.map(({ contestant }) => contestant)).size;
        return contestants < 2 ? [] : [{ key: keyOfIds(own.map(({ id }) => id)), task, round, samples: own }];
      });
    });
}

/** The id of the decision on a pool. */
export const decisionId = (contest: string, { key }: SamplePool, sha256: Sha256): string =>
  `d${sha256(JSON.stringify(['d', contest, key])).slice(0, 16)}`;

/** How often decisions of one class were right. */
interface ClassRow {
  readonly class: DecisionClass;
  readonly pools: number;
  /** The pick solves the task; of `none`: no answer does. */
  readonly right: number;
  readonly interval: Interval | null;
  /** Of a toss-up: one of the answers that a person is asked about solves the task. */
  readonly amongRight: number;
}

export const WAYS = ['runoff', 'single', 'random', 'smallest', 'best', 'ceiling'] as const;
export type Way = (typeof WAYS)[number];

/** What one way of getting a change would have solved, and cost. */
interface WayRow {
  readonly way: Way;
  /** Pools; an expected number where chance decides. */
  readonly solved: number;
  /**
   * US dollars for contestants, as if each pool were asked by itself: an answer that is in several counts in each. What
   * execution costs in time is not counted.
   */
  readonly usd: number;
  readonly usdPerSolved: number | null;
}

export interface Competition {
  readonly pools: number;
  readonly tasks: number;
  /** Contestants of a pool, on average. */
  readonly contestants: number;
  readonly classes: readonly ClassRow[];
  readonly ways: readonly WayRow[];
  /** The contestant that solved most of these pools, known only afterwards; of several, the cheapest. */
  readonly best: string | null;
  /** Pools that nobody has decided yet, which are not counted. */
  readonly undecided: number;
}

/**
 * What competing is worth: what Runoff's decisions solve by executed truth, and for how many dollars, beside other ways of
 * choosing. Does not depend on the order of pools and decisions.
 */
export function competitionOf(pools: readonly SamplePool[], decisions: readonly PoolDecision[]): Competition {
  const byKey = new Map(decisions.map((one) => [keyOfIds(one.samples), one]));
  const decided = pools.flatMap((pool) => {
    const decision = byKey.get(pool.key);
    return decision === undefined ? [] : [{ pool, decision }];
  });
  const best = bestOf(decided.map(({ pool }) => pool));
  const samples = decided.reduce((sum, { pool }) => sum + pool.samples.length, 0);
  return {
    pools: decided.length,
    tasks: new Set(decided.map(({ pool }) => pool.task)).size,
    contestants: decided.length === 0 ? 0 : samples / decided.length,
    classes: DECISION_CLASSES.map((name) => classRow(name, decided)),
    ways: WAYS.map((way) => wayRow(way, decided, best)),
    best,
    undecided: pools.length - decided.length,
  };
}

interface DecidedPool {
  readonly pool: SamplePool;
  readonly decision: PoolDecision;
}

const isSolved = ({ samples }: SamplePool, id: string | null): boolean =>
  samples.some((one) => one.id === id && solvedOf(one) === true);

function classRow(name: DecisionClass, decided: readonly DecidedPool[]): ClassRow {
  const own = decided.filter(({ decision }) => decision.class === name);
  const results = own.map(({ pool, decision }) => ({
    task: pool.task,
    isRight: name === 'none' ? !pool.samples.some((one) => solvedOf(one)) : isSolved(pool, decision.pick),
  }));
  return {
    class: name,
    pools: own.length,
    right: results.filter(({ isRight }) => isRight).length,
    interval: own.length === 0 ? null : wilsonByTask(results),
    amongRight: own.filter(({ pool, decision }) => decision.among.some((id) => isSolved(pool, id))).length,
  };
}

function wayRow(way: Way, decided: readonly DecidedPool[], best: string | null): WayRow {
  const results = decided.map((one) => resultOf(way, one, best));
  const total = (of: (result: Result) => number) =>
    results
      .map(of)
      .toSorted((a, b) => a - b)
      .reduce((sum, one) => sum + one, 0);
  const [solved, usd] = [total((one) => one.solved), total((one) => one.usd)];
  return { way, solved, usd, usdPerSolved: solved === 0 ? null : usd / solved };
}

interface Result {
  /** 0 to 1. */
  readonly solved: number;
  readonly usd: number;
}

function resultOf(way: Way, { pool, decision }: DecidedPool, best: string | null): Result {
  const { samples } = pool;
  const all = samples.reduce((sum, { usage }) => sum + usage.usd, 0);
  const share = (of: readonly Sample[]) =>
    of.length === 0 ? 0 : of.filter((one) => solvedOf(one)).length / of.length;
  switch (way) {
    case 'runoff':
      return { solved: isSolved(pool, decision.pick) ? 1 : 0, usd: all };
    case 'single':
      return { solved: share(samples), usd: all / samples.length };
    case 'random':
      return { solved: share(samples.filter((one) => one.verification?.applied)), usd: all };
    case 'smallest':
      return { solved: share(smallestIn(samples)), usd: all };
    case 'best': {
      const own = samples.filter(({ contestant }) => contestant === best);
      const usd = own.reduce((sum, { usage }) => sum + usage.usd, 0);
      return { solved: share(own), usd };
    }
    case 'ceiling':
      return { solved: samples.some((one) => solvedOf(one)) ? 1 : 0, usd: all };
  }
}

/** All of the smallest size, because nothing tells them apart. */
function smallestIn(samples: readonly Sample[]): readonly Sample[] {
  const sizes = samples.flatMap((one) => {
    const change = one.verification?.change;
    return change ? [{ one, size: change.additions + change.deletions }] : [];
  });
  const least = Math.min(...sizes.map(({ size }) => size));
  return sizes.filter(({ size }) => size === least).map(({ one }) => one);
}

function bestOf(pools: readonly SamplePool[]): string | null {
  const totals = new Map<string, { solved: number; usd: number }>();
  for (const one of pools.flatMap(({ samples }) => samples)) {
    const { solved, usd } = totals.get(one.contestant) ?? { solved: 0, usd: 0 };
    totals.set(one.contestant, {
      solved: solved + (solvedOf(one) ? 1 : 0),
      usd: usd + one.usage.usd,
    });
  }
  const [first] = [...totals].toSorted(
    ([a, one], [b, other]) => other.solved - one.solved || one.usd - other.usd || byCodeUnits(a, b),
  );
  return first?.[0] ?? null;
}
