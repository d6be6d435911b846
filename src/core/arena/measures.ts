import { wilsonByTask } from './chance.ts';
import { meetings } from './pairs.ts';
import { isAsked } from './plan.ts';
import type { Interval, Match } from './rating.ts';
import type { Sample } from './records.ts';
import { roundOf, type Standing } from './standing.ts';
import type { ResolvedContest } from './versions.ts';

/** What one contestant did, apart from votes. Tasks that are left out count in `leftOut` and `usd` alone. */
export interface ContestantRow {
  /** Place in the list of contestants, from 1: its mark in the picture. */
  readonly number: number;
  readonly id: string;
  readonly agent: string;
  readonly model: string;
  readonly prompt: string;
  readonly samples: number;
  /** Samples of a finished contest: one for each rated task and round. */
  readonly expected: number;
  /** Samples of tasks that are left out. */
  readonly leftOut: number;
  readonly answered: number;
  /** Answers that cannot be used: refusals, prose instead of a diff, and none at all. */
  readonly refused: number;
  readonly notADiff: number;
  readonly failed: number;
  /** Samples of repository tasks whose outcome is known, and how many are solved. */
  readonly verified: number;
  readonly solved: number;
  /** Of these, by exit codes alone: what decided wrote no report of tests. */
  readonly solvedByExitCode: number;
  /** 0 to 1, with a 95% interval (`wilsonByTask`); null if nothing was verified. */
  readonly passRate: number | null;
  readonly passInterval: Interval | null;
  /**
   * US dollars of all samples, and on average of one of a rated task. An answer that was reused counts with its original
   * price.
   */
  readonly usd: number;
  readonly usdEach: number | null;
  /** Seconds until the answer, on average of those where they are known. */
  readonly secondsEach: number | null;
  /** Dollars and seconds spent on repository tasks, for each solved sample; null if none is solved. */
  readonly usdPerSolved: number | null;
  readonly secondsPerSolved: number | null;
}

/** `rounds`: of the contest, or more if more were made. */
export function contestantRow(
  contest: ResolvedContest,
  id: string,
  {
    number,
    standing: { samples, unrated },
    rounds,
  }: {
    readonly number: number;
    readonly standing: Pick<Standing, 'samples' | 'unrated'>;
    readonly rounds: number;
  },
): ContestantRow {
  const { agent = '', model = '', prompt = '' } = contest.contestants.find((one) => one.id === id) ?? {};
  const own = samples.filter(({ contestant }) => contestant === id);
  const count = (outcome: Sample['outcome']) => own.filter((one) => one.outcome === outcome).length;
  const leftOut = unrated.filter(({ contestant }) => contestant === id);
  const onRepositories = own.filter(({ form }) => form === 'diff');
  const known = onRepositories.filter((one) => solvedOf(one) !== null);
  const results = known.map((one) => ({ task: one.task, isRight: solvedOf(one) === true }));
  const solved = results.filter(({ isRight }) => isRight).length;
  const byExitCode = known.filter((one) => solvedOf(one) === true && isByExitCode(one)).length;
  const perSolved = (sum: number | null) => (solved === 0 || sum === null ? null : sum / solved);
  const each = (sum: number | null) => (own.length === 0 || sum === null ? null : sum / own.length);
  return {
    number,
    id,
    agent,
    model,
    prompt,
    samples: own.length,
    expected: expectedSamples(contest, { agent }, { samples, rounds }),
    leftOut: leftOut.length,
    answered: count('answered'),
    refused: count('refused'),
    notADiff: count('not-a-diff'),
    failed: count('failed'),
    verified: known.length,
    solved,
    solvedByExitCode: byExitCode,
    passRate: known.length === 0 ? null : solved / known.length,
    passInterval: known.length === 0 ? null : wilsonByTask(results),
    usd: dollarsOf([...own, ...leftOut]),
    usdEach: each(dollarsOf(own)),
    secondsEach: each(secondsOf(own)),
    usdPerSolved: perSolved(dollarsOf(known)),
    secondsPerSolved: perSolved(secondsOf(known)),
  };
}

function expectedSamples(
  contest: ResolvedContest,
  contestant: Pick<ContestantRow, 'agent'>,
  { samples, rounds }: { readonly samples: readonly Sample[]; readonly rounds: number },
): number {
  const rated = new Set(samples.map(({ task }) => task));
  const tasks = contest.tasks.filter(({ id }) => rated.has(id));
  return Array.from({ length: rounds }, (_, at) =>
    tasks.filter((task) => isAsked(contest, task, contestant, at + 1)),
  ).flat().length;
}

/** Sorted, so that the order of the samples does not show in the last digit. */
const sumInOrder = (numbers: readonly number[]): number =>
  numbers.toSorted((x, y) => x - y).reduce((sum, one) => sum + one, 0);
const dollarsOf = (samples: readonly Sample[]): number => sumInOrder(samples.map(({ usage }) => usage.usd));

/** Of answers whose time is not known, the mean of the others; null if none is known. */
function secondsOf(samples: readonly Sample[]): number | null {
  const known = samples.flatMap(({ seconds }) => seconds ?? []);
  return known.length === 0 ? null : sumInOrder(known) * (samples.length / known.length);
}

/**
 * Whether a sample of a repository task is solved; null if that is not known, because it was not verified. A refusal,
 * prose instead of a diff, and an agent that left no patch solve nothing.
 */
export function solvedOf({ form, outcome, verification }: Sample): boolean | null {
  if (form !== 'diff') return null;
  return outcome === 'answered' ? (verification?.solved ?? null) : false;
}

/** Whether exit codes alone say if a verified sample solves its task. */
const isByExitCode = ({ verification }: Sample): boolean =>
  (verification?.hiddenTests ?? verification?.tests)?.reported === false;

/** Wins by execution: of two contestants on one task in one round, one solved it and the other did not. */
export function truthMatches(
  contest: Pick<ResolvedContest, 'temperature'>,
  samples: readonly Sample[],
): readonly Match[] {
  const known = samples.flatMap((sample) => {
    const solved = solvedOf(sample);
    const { task, contestant } = sample;
    return solved === null ? [] : [{ task, contestant, round: roundOf(contest, sample), solved }];
  });
  return meetings(known)
    .filter(({ a, b }) => a.solved !== b.solved)
    .map(({ a, b }) => ({
      task: a.task,
      a: a.contestant,
      b: b.contestant,
      score: a.solved ? 1 : 0,
    }));
}

/** A contestant in the picture of quality and cost. */
export interface FrontPoint {
  readonly number: number;
  readonly id: string;
  /** US dollars for one answer, on average. */
  readonly usd: number;
  readonly quality: number;
  readonly interval: Interval | null;
  /** No other contestant is at least as good and at most as expensive, and better in one of the two. */
  readonly onFront: boolean;
}

/** Without contestants whose quality or cost is unknown; the cheapest first. */
export function paretoFront(
  points: readonly (Omit<FrontPoint, 'onFront' | 'usd' | 'quality'> & {
    readonly usd: number | null;
    readonly quality: number | null;
  })[],
): readonly FrontPoint[] {
  const known = points.flatMap(({ usd, quality, ...rest }) =>
    usd === null || quality === null ? [] : [{ ...rest, usd, quality }],
  );
  return known
    .map((point) => ({
      ...point,
      onFront: !known.some(
        ({ usd, quality }) =>
          usd <= point.usd && quality >= point.quality && (usd < point.usd || quality > point.quality),
      ),
    }))
    .toSorted((x, y) => x.usd - y.usd || y.quality - x.quality || x.number - y.number);
}
