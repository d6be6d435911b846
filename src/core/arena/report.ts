import { familyOf } from '../judging/index.ts';
import { byCodeUnits, counted, uniqueSorted } from '../model/index.ts';
import { type Agreement, agreementOf, type TwoVerdicts } from './agreement.ts';
import { type Ballot, type JudgeBallots, matchesOf, timesDecided } from './ballots.ts';
import { type Competition, competitionOf, poolsOf } from './competition.ts';
import { type ContestantRow, contestantRow, type FrontPoint, paretoFront, truthMatches } from './measures.ts';
import { alikeMatches } from './pairs.ts';
import { type Match, type RatingTable, rate } from './rating.ts';
import { type ContestRecords, type LeftOutTask, type Standing, standingOf } from './standing.ts';

/** Where ratings come from. Each is calculated by itself. */
const RATING_SOURCES = ['people', 'judges', 'truth'] as const;
export type RatingSource = (typeof RATING_SOURCES)[number];

interface JudgeReport {
  readonly model: string;
  readonly compared: number;
  readonly inconsistent: number;
  readonly unusable: number;
  readonly unfinished: number;
  readonly discarded: string | null;
  /** Contestants whose model is of the judge's own family. */
  readonly ownFamily: readonly string[];
  /** With the votes of people on the same pairs; null without any. */
  readonly withPeople: Agreement | null;
}

/** The result of a contest, as plain JSON. */
export interface ArenaReport {
  readonly version: 1;
  readonly name: string;
  /** The version of the contest. */
  readonly contest: string;
  readonly tasks: number;
  /** Of the contest, or more if `gen --rounds` made more. */
  readonly rounds: number;
  /** Sorted by id; `number` is the place in this list, from 1. */
  readonly contestants: readonly ContestantRow[];
  readonly ratings: Readonly<Record<RatingSource, RatingTable>>;
  /** Votes of people, by kind; `pairs`: distinct pairs that were decided. */
  readonly votes: {
    readonly decided: number;
    readonly ties: number;
    readonly skipped: number;
    readonly pairs: number;
    readonly voters: readonly string[];
    /** Pairs that can be compared, and those of them with identical answers. */
    readonly possible: number;
    readonly alike: number;
  };
  readonly judges: readonly JudgeReport[];
  /** Votes on pairs that execution decides, and how many of them prefer the solved answer. */
  readonly againstTruth: Readonly<
    Record<'people' | 'judges', { readonly pairs: number; readonly solved: number }>
  >;
  readonly front: { readonly quality: FrontQuality; readonly points: readonly FrontPoint[] };
  readonly leftOut: readonly LeftOutTask[];
  /** What Runoff's own decisions are worth; null if there are none. */
  readonly competition: Competition | null;
  readonly notes: readonly string[];
}

/** What the front measures quality by. */
export type FrontQuality = 'pass rate' | 'rating by people' | 'rating by judges';

/** The report does not depend on the order of samples and votes. */
export function arenaReport(records: ContestRecords): ArenaReport {
  const standing = standingOf(records);
  const { contest, decisions = [] } = records;
  const ids = contest.contestants.map(({ id }) => id).toSorted(byCodeUnits);
  const judged = standing.judges.flatMap((judge) => (judge.discarded ? [] : judge.ballots));
  const table = (matches: readonly Match[]) => rate(ids, matches, { seed: contest.seed });
  const ratings = {
    people: table(withAlike(standing, standing.people)),
    judges: table(withAlike(standing, judged)),
    truth: table(truthMatches(contest, standing.samples)),
  };
  const made = [...standing.samples, ...standing.unrated];
  const rounds = made.reduce((most, { round }) => Math.max(most, round), contest.rounds);
  const contestants = ids.map((id, at) => contestantRow(contest, id, { number: at + 1, standing, rounds }));
  const truth = truthByPair(standing);
  return {
    version: 1,
    name: contest.name,
    contest: records.digest,
    tasks: contest.tasks.length,
    rounds,
    contestants,
    ratings,
    votes: votesIn(standing),
    judges: standing.judges.map((judge) => judgeReport(judge, records, standing)),
    againstTruth: { people: preferSolved(standing.people, truth), judges: preferSolved(judged, truth) },
    front: frontOf(contestants, ratings),
    leftOut: standing.leftOut,
    competition: decisions.length === 0 ? null : competitionOf(poolsOf(contest, standing.samples), decisions),
    notes: [
      ...standing.notes,
      ...fieldNotes(contestants, `runoff arena gen${rounds > contest.rounds ? ` --rounds ${rounds}` : ''}`),
    ],
  };
}

function withAlike({ pairs }: Standing, ballots: readonly Ballot[]): readonly Match[] {
  const decided = timesDecided(ballots);
  return [...matchesOf(ballots), ...alikeMatches(pairs, new Set(decided.keys()))];
}

function votesIn({ people, pairs }: Standing): ArenaReport['votes'] {
  const decided = people.filter(({ score }) => score !== null);
  return {
    decided: decided.length,
    ties: people.filter(({ score }) => score === 0.5).length,
    skipped: people.length - decided.length,
    pairs: timesDecided(people).size,
    voters: uniqueSorted(people.map(({ voter }) => voter.replace(/^person /, ''))),
    possible: pairs.length,
    alike: pairs.filter(({ alike }) => alike).length,
  };
}

function judgeReport(
  { ballots, ...judge }: JudgeBallots,
  { contest }: ContestRecords,
  { people }: Standing,
): JudgeReport {
  const own = new Map(ballots.map((ballot) => [ballot.pair.key, ballot.score]));
  const both = people.flatMap(({ pair, score }): readonly TwoVerdicts[] => {
    const verdict = own.get(pair.key);
    return score === null || verdict === undefined || verdict === null
      ? []
      : [{ task: pair.task, pair: pair.key, one: score, other: verdict }];
  });
  const family = familyOf(judge.model);
  return {
    ...judge,
    ownFamily: contest.contestants
      .filter(({ model }) => familyOf(model) === family)
      .map(({ id }) => id)
      .toSorted(byCodeUnits),
    withPeople: agreementOf(both, contest.seed),
  };
}

/** The score of `a` for each pair of which execution solved exactly one answer, by key. */
function truthByPair({ pairs, samples }: Standing): ReadonlyMap<string, 0 | 1> {
  const solved = new Map(
    samples.flatMap(({ id, verification }) => (verification ? [[id, verification.solved] as const] : [])),
  );
  return new Map(
    pairs.flatMap(({ key, a, b }) => {
      const [one, two] = [solved.get(a.id), solved.get(b.id)];
      return one === undefined || two === undefined || one === two ? [] : [[key, one ? 1 : 0] as const];
    }),
  );
}

function preferSolved(
  ballots: readonly Ballot[],
  truth: ReadonlyMap<string, 0 | 1>,
): { readonly pairs: number; readonly solved: number } {
  const on = ballots.filter(({ pair, score }) => score !== null && truth.has(pair.key));
  return { pairs: on.length, solved: on.filter(({ pair, score }) => score === truth.get(pair.key)).length };
}

function frontOf(
  contestants: readonly ContestantRow[],
  ratings: ArenaReport['ratings'],
): ArenaReport['front'] {
  if (contestants.some(({ passRate }) => passRate !== null)) {
    const points = contestants.map(({ number, id, passRate, passInterval, usdEach }) => ({
      number,
      id,
      usd: usdEach,
      quality: passRate,
      interval: passInterval,
    }));
    return { quality: 'pass rate', points: paretoFront(points) };
  }
  const source = ratings.people.groups.length > 0 ? 'people' : 'judges';
  // Ratings of two groups are not comparable: only the largest one is drawn.
  const rated = new Map(ratings[source].groups[0]?.map((one) => [one.contestant, one]));
  const points = contestants.map(({ number, id, usdEach }) => {
    const rating = rated.get(id);
    return { number, id, usd: usdEach, quality: rating?.elo ?? null, interval: rating?.eloInterval ?? null };
  });
  return {
    quality: source === 'people' ? 'rating by people' : 'rating by judges',
    points: paretoFront(points),
  };
}

/** `gen`: the command that makes what is missing. */
function fieldNotes(contestants: readonly ContestantRow[], gen: string): readonly string[] {
  const silent = contestants.filter(({ samples }) => samples === 0);
  const missing = silent.flatMap(({ id, leftOut }) => (leftOut === 0 ? [`\`${id}\``] : []));
  const unrated = silent.flatMap(({ id, leftOut }) => (leftOut > 0 ? [`\`${id}\``] : []));
  const partial = contestants.filter(({ samples, expected }) => samples > 0 && samples < expected);
  return [
    ...(contestants.length === 1
      ? ['The contest has one contestant: there is nobody to compare it with.']
      : []),
    ...(missing.length > 0 ? [`Not rated, because nothing was answered yet: ${missing.join(', ')}.`] : []),
    ...(unrated.length > 0
      ? [`Not rated, because only tasks that are left out were answered: ${unrated.join(', ')}.`]
      : []),
    ...partial.map(
      ({ id, samples, expected }) =>
        `\`${id}\` has ${samples} of ${counted(expected, 'answer')}; \`${gen}\` makes the rest.`,
    ),
  ];
}
