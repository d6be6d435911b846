import { byCodeUnits, counted } from '../model/index.ts';
import type { ArenaContestant, Contest } from './contest.ts';
import type { BaseResult, CastVote, Sample, VoteRecord } from './records.ts';
import { ARENA_VERSION, type RepoTask, type TextTask } from './tasks.ts';

/** A contest with everything that its files refer to. */
export interface ResolvedContest extends Omit<Contest, 'prompts' | 'tasks'> {
  readonly contestants: readonly ResolvedContestant[];
  readonly tasks: readonly ResolvedTask[];
}

export interface ResolvedContestant extends ArenaContestant {
  /** The text of its prompt. */
  readonly instructions: string;
}

export type ResolvedTask = TextTask | ResolvedRepoTask;

/** Its paths are relative to the folder of the contest. */
export type ResolvedRepoTask = RepoTask & {
  /** The commit that contestants start from, or the fingerprint of the template. */
  readonly start: string;
  /** The fingerprint of the hidden tests; null without any. */
  readonly hidden: string | null;
};

/**
 * Everything on which it depends whether two votes can be counted together, as one text: contestants with their prompts,
 * tasks with their content, and parameters. Its SHA-256 is the contest's digest, which every sample and vote holds.
 * Not part of it: name, order, budget, limits of time and parallel work, rounds, judges, how votes are taken, and the
 * seed: each sample has its own, and answers with different ones can be compared as well as different rounds.
 */
const contestIdentity = (contest: ResolvedContest): string =>
  JSON.stringify({
    version: ARENA_VERSION,
    temperature: contest.temperature,
    repair: contest.repair,
    tokens: contest.limits.tokens,
    contestants: byId(contest.contestants).map(({ id, agent, model, prompt, argv, instructions }) => [
      id,
      agent,
      model,
      prompt,
      argv ?? null,
      instructions,
    ]),
    tasks: byId(contest.tasks).map(taskIdentity),
  });

const byId = <T extends { readonly id: string }>(items: readonly T[]): readonly T[] =>
  items.toSorted((a, b) => byCodeUnits(a.id, b.id));

function taskIdentity(task: ResolvedTask): readonly unknown[] {
  const { id, kind } = task;
  if (kind === 'text') return [id, kind, task.prompt];
  const { start, statement, setup, build, verify, hidden, hiddenVerify } = task;
  return [id, kind, start, statement, setup ?? null, build ?? null, verify, hidden, hiddenVerify ?? null];
}

/** The SHA-256 of a text in hexadecimal. */
export type Sha256 = (text: string) => string;

/** The digest of a version of a contest. */
export const contestDigest = (contest: ResolvedContest, sha256: Sha256): string =>
  sha256(contestIdentity(contest));

const recordId = (letter: string, parts: readonly unknown[], sha256: Sha256): string =>
  `${letter}${sha256(JSON.stringify([letter, ...parts])).slice(0, 16)}`;

/** The id of a sample: the same for the same contest, task, contestant and round. */
export const sampleId = (
  { contest, task, contestant, round }: Pick<Sample, 'contest' | 'task' | 'contestant' | 'round'>,
  sha256: Sha256,
): string => recordId('s', [contest, task, contestant, round], sha256);

/** The id of the result of a task's base: it can be executed several times. */
export const baseId = (
  { contest, task, at }: Pick<BaseResult, 'contest' | 'task' | 'at'>,
  sha256: Sha256,
): string => recordId('b', [contest, task, at], sha256);

/** The id of a vote, or of the removal of one (`undo`): a person casts one at a time. */
export const voteId = (record: NewVote, sha256: Sha256): string =>
  record.kind === 'vote'
    ? recordId('v', [record.contest, record.left, record.right, record.by, record.at], sha256)
    : recordId('u', [record.vote, record.by, record.at], sha256);

/** A line of votes that has no id yet. */
export type NewVote = Omit<CastVote, 'id'> | Omit<Exclude<VoteRecord, CastVote>, 'id'>;

/**
 * Why a contest may not go on as it is: votes were cast on another version of it, and nobody has begun this one. Null if
 * it may.
 */
export function changedAfterVotes(
  contest: string,
  votes: readonly VoteRecord[],
  samples: readonly Pick<Sample, 'contest'>[],
): string | null {
  if (samples.some((sample) => sample.contest === contest)) return null;
  const others = votes.filter((one) => one.kind === 'vote' && one.contest !== contest).length;
  return others === 0
    ? null
    : `The contestants, tasks or parameters of the contest changed after ${counted(others, 'vote was', 'votes were')} cast, and votes on different versions cannot be counted together.`;
}
