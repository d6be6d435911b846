import { createHash } from 'node:crypto';
import {
  type BaseResult,
  type CastVote,
  type ContestRecords,
  contestDigest,
  type ResolvedContest,
  Sample,
  sampleId,
  type TestCounts,
  type Verification,
  VoteRecord,
  type Voter,
  voteId,
} from '../../../src/core/arena/index.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const TESTS: TestCounts = {
  passed: 3,
  failed: 0,
  skipped: 0,
  ok: true,
  reported: true,
  seconds: 1,
  failures: [],
};
export const SOLVED: Verification = {
  applied: true,
  built: true,
  tests: TESTS,
  hiddenTests: null,
  solved: true,
  why: null,
  change: { files: 1, additions: 1, deletions: 1 },
};
export const UNSOLVED: Verification = {
  ...SOLVED,
  tests: { ...TESTS, passed: 2, failed: 1, ok: false, failures: ['adds'] },
  solved: false,
  why: '1 of 3 tests failed',
};

export const contestOf = (
  contestants: readonly string[],
  tasks: ResolvedContest['tasks'],
  over: Partial<ResolvedContest> = {},
): ResolvedContest => ({
  name: 'spring',
  contestants: contestants.map((id) => ({
    id,
    agent: 'none',
    model: `maker/${id}`,
    prompt: 'plain',
    instructions: 'Answer.',
  })),
  tasks,
  rounds: 1,
  seed: 1,
  temperature: 0,
  repair: false,
  budget: 5,
  limits: { parallel: 1, time: 60, tokens: 100 },
  votes: { results: 'after' },
  judges: [],
  ...over,
});

export const textTask = (id: string, prompt = `What is ${id}?`): ResolvedContest['tasks'][number] => ({
  id,
  kind: 'text',
  prompt,
});
export const repoTask = (id: string, statement = `Fix ${id}.`): ResolvedContest['tasks'][number] => ({
  id,
  kind: 'repo',
  base: { template: id },
  statement,
  verify: ['npm test'],
  start: 'a'.repeat(40),
  hidden: null,
});

/** A contest whose samples and votes are added one by one. */
export class Field {
  readonly contest: ResolvedContest;
  readonly digest: string;
  readonly samples: Sample[] = [];
  readonly bases: BaseResult[] = [];
  readonly votes: VoteRecord[] = [];
  #at = Date.parse('2026-11-24T12:00:00Z');

  constructor(contest: ResolvedContest) {
    this.contest = contest;
    this.digest = contestDigest(contest, sha256);
  }

  get records(): ContestRecords {
    const { contest, digest, samples, bases, votes } = this;
    return { contest, digest, samples, bases, votes };
  }

  answer(contestant: string, task: string, answer: string | null, over: Partial<Sample> = {}): Sample {
    const entered = this.contest.contestants.find(({ id }) => id === contestant);
    const kind = this.contest.tasks.find(({ id }) => id === task)?.kind;
    const named = { contest: this.digest, task, contestant, round: over.round ?? 1 };
    const sample = Sample.parse({
      version: 1,
      id: sampleId(named, sha256),
      ...named,
      agent: entered?.agent ?? 'none',
      model: entered?.model ?? 'maker/unknown',
      prompt: entered?.prompt ?? 'plain',
      seed: 1,
      parameters: { temperature: 0, maxTokens: 100, repair: false, timeSeconds: 60 },
      versions: { runoff: '1', agent: null },
      price: { input: 1, output: 2 },
      question: sha256(task),
      outcome: answer === null ? 'failed' : 'answered',
      why: answer === null ? 'The provider did not answer.' : null,
      form: kind === 'repo' ? 'diff' : 'text',
      answer,
      verification: null,
      usage: { calls: 1, tokensIn: 10, tokensOut: 20, usd: 0.01 },
      seconds: 2,
      repaired: false,
      reusedFrom: null,
      at: this.#now(),
      ...over,
    });
    this.samples.push(sample);
    return sample;
  }

  vote(left: Sample, right: Sample, verdict: CastVote['verdict'], by = 'kim', over: Partial<CastVote> = {}) {
    return this.#cast(left, right, verdict, { kind: 'person', name: by }, over);
  }

  judge(left: Sample, right: Sample, verdict: CastVote['verdict'], model: string) {
    return this.#cast(left, right, verdict, { kind: 'judge', model }, {});
  }

  undo(vote: CastVote): void {
    const record = { version: 1, kind: 'undo', vote: vote.id, by: vote.by, at: this.#now() } as const;
    this.votes.push(VoteRecord.parse({ ...record, id: voteId(record, sha256) }));
  }

  #cast(
    left: Sample,
    right: Sample,
    verdict: CastVote['verdict'],
    by: Voter,
    over: Partial<CastVote>,
  ): CastVote {
    const record = {
      version: 1,
      kind: 'vote',
      contest: this.digest,
      task: left.task,
      left: left.id,
      right: right.id,
      verdict,
      by,
      resultsShown: false,
      at: this.#now(),
      ...over,
    } as const;
    const vote = VoteRecord.parse({ ...record, id: voteId(record, sha256) }) as CastVote;
    this.votes.push(vote);
    return vote;
  }

  #now(): string {
    this.#at += 1_000;
    return new Date(this.#at).toISOString();
  }
}
