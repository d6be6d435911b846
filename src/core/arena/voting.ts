import { type Ballot, matchesOf, timesDecided, voterKey } from './ballots.ts';
import { mostInformative, type SamplePair, sidesOf } from './pairs.ts';
import type { Match } from './rating.ts';
import type { CastVote, Sample, TestCounts, Verification, VoteRecord, Voter } from './records.ts';
import type { Standing } from './standing.ts';
import type { ResolvedContest, ResolvedTask } from './versions.ts';

/** One blind comparison as a voter sees it. */
export interface BallotQuestion {
  readonly pair: SamplePair;
  readonly task: ResolvedTask;
  readonly left: Sample;
  readonly right: Sample;
}

interface Asking {
  readonly contest: Pick<ResolvedContest, 'tasks' | 'seed'>;
  readonly standing: Standing;
}

/** Pairs of different answers that a voter has neither decided nor skipped. */
export function openPairs(
  { pairs }: Standing,
  ballots: readonly Ballot[],
  voter: string,
): readonly SamplePair[] {
  const done = new Set(ballots.filter((one) => one.voter === voter).map(({ pair }) => pair.key));
  return pairs.filter(({ key, alike }) => !alike && !done.has(key));
}

/** The most informative open pair of a voter, with its sides; null if nothing is open. */
export function nextQuestion(
  asking: Asking,
  ballots: readonly Ballot[],
  voter: Voter,
): BallotQuestion | null {
  const { contest, standing } = asking;
  const pair = mostInformative(openPairs(standing, ballots, voterKey(voter)), {
    matches: matchesOf(ballots),
    asked: timesDecided(ballots),
    seed: contest.seed,
  });
  return pair && ballotQuestion(asking, pair);
}

/**
 * Several pairs, the most informative first, for those who ask about all of them at once: each is chosen as if the ones
 * before it had ended in ties, so that the same pairs are chosen again after an interruption.
 */
export function pairsInTurn(
  { people }: Pick<Standing, 'people'>,
  open: readonly SamplePair[],
  {
    seed,
    limit,
    before = [],
  }: { readonly seed: number; readonly limit: number; readonly before?: readonly SamplePair[] },
): readonly SamplePair[] {
  const chosen: SamplePair[] = [];
  const assumed = before.map(tied);
  let left = open;
  while (chosen.length < limit) {
    const matches = [...matchesOf(people), ...assumed];
    const next = mostInformative(left, { matches, asked: timesDecided(people), seed });
    if (next === null) break;
    chosen.push(next);
    assumed.push(tied(next));
    left = left.filter(({ key }) => key !== next.key);
  }
  return chosen;
}

const tied = ({ task, a, b }: SamplePair): Match => ({
  task,
  a: a.contestant,
  b: b.contestant,
  score: 0.5,
});

/** A pair with the sides that everybody is shown. */
export function ballotQuestion({ contest, standing }: Asking, pair: SamplePair): BallotQuestion | null {
  const sides = sidesOf(pair, contest.seed);
  const task = contest.tasks.find(({ id }) => id === pair.task);
  const sample = (id: string) => standing.samples.find((one) => one.id === id);
  const [left, right] = [sample(sides.left.id), sample(sides.right.id)];
  return task && left && right ? { pair, task, left, right } : null;
}

/** The voter's last vote on a version of the contest that counts; null if there is none. */
export function lastVote(votes: readonly VoteRecord[], contest: string, voter: Voter): CastVote | null {
  const undone = new Set(votes.flatMap((one) => (one.kind === 'undo' ? [one.vote] : [])));
  const own = votes
    .filter((one) => one.kind === 'vote')
    .filter(
      ({ id, by, contest: of }) => of === contest && voterKey(by) === voterKey(voter) && !undone.has(id),
    );
  // Sorting is stable: of votes at the same millisecond, the last line is the last.
  return own.toSorted((x, y) => Date.parse(x.at) - Date.parse(y.at)).at(-1) ?? null;
}

/** `applied, built, tests: 12 of 12 pass, hidden tests: 2 of 3 pass`. What was executed for one answer. */
export function executedText(verification: Verification | null): string {
  if (verification === null) return 'nothing was executed';
  const { applied, built, tests, hiddenTests, why } = verification;
  const parts = [
    applied ? 'applied' : 'did not apply',
    ...(built === null ? [] : [built ? 'built' : 'did not build']),
    ...countsText('tests', tests),
    ...countsText('hidden tests', hiddenTests),
  ];
  return `${verification.solved ? 'solved' : 'not solved'}: ${parts.join(', ')}${why === null ? '' : ` (${why})`}`;
}

function countsText(what: string, counts: TestCounts | null): readonly string[] {
  if (counts === null) return [];
  const { passed, failed, ok, reported } = counts;
  if (!reported) return [`${what}: ${ok ? 'pass' : 'fail'}`];
  return [
    `${what}: ${passed} of ${passed + failed} pass${ok || failed > 0 ? '' : ', but the command failed'}`,
  ];
}
