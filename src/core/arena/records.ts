import { z } from 'zod';
import { ARENA_VERSION, ArenaId } from './tasks.ts';

/** Files in the folder of a contest that are appended to, one JSON record a line. */
export const SAMPLES_FILE = 'samples.jsonl';
export const BASES_FILE = 'bases.jsonl';
export const VOTES_FILE = 'votes.jsonl';

/** 64 hex digits: what votes and samples of one version of a contest have in common. See `contestDigest`. */
const Digest = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits');
const RecordId = z.string().regex(/^[a-z]{1,2}[0-9a-f]{16}$/, 'is not an id of a record');
const At = z.iso.datetime();
const Count = z.number().int().min(0);
const Usd = z.number().min(0);
const Seconds = z.number().min(0);
/** A sentence for people. */
const Why = z.string().max(4_000);

/** What one test command showed. */
export const TestCounts = z.strictObject({
  passed: Count,
  failed: Count,
  skipped: Count,
  /** Whether the commands succeeded, no test failed, and none was missing that is known without the answer. */
  ok: z.boolean(),
  /** Whether tests were counted in a report; `false`: each command counts as one test. */
  reported: z.boolean(),
  seconds: Seconds,
  /** Failed tests by name, at most 20. */
  failures: z.array(z.string().max(400)).max(20),
});
export type TestCounts = z.infer<typeof TestCounts>;

/** What was executed for one answer to a `repo` task. Null: not reached, or there is none. */
export const Verification = z.strictObject({
  /** Whether the diff applied to the base. */
  applied: z.boolean(),
  /** Null: no build command, or not reached. */
  built: z.boolean().nullable(),
  tests: TestCounts.nullable(),
  hiddenTests: TestCounts.nullable(),
  /** The executed truth, defined at `verificationOf`; by exit codes alone if what decided is not `reported`. */
  solved: z.boolean(),
  /** Why not; null if solved. */
  why: Why.nullable(),
  /** Files and lines that the answer changes; null if it did not apply. */
  change: z.strictObject({ files: Count, additions: Count, deletions: Count }).nullable(),
});
export type Verification = z.infer<typeof Verification>;

const SAMPLE_OUTCOMES = ['answered', 'refused', 'not-a-diff', 'failed'] as const;

/** One answer of one contestant to one task in one round: a line of `samples.jsonl`. */
export const Sample = z.strictObject({
  version: z.literal(ARENA_VERSION),
  /** Derived from contest, task, contestant and round (`sampleId`), so that a repetition is recognised. */
  id: RecordId,
  contest: Digest,
  task: ArenaId,
  contestant: ArenaId,
  /** The parts of the contestant, so that a line can be read by itself. */
  agent: z.string().max(60),
  model: z.string().max(200),
  prompt: z.string().max(61),
  /** 1-based. */
  round: z.number().int().min(1),
  /** Of this round: that of the contest when it was made, plus `round - 1`. */
  seed: z.number().int().min(0),
  /** Null: the agent, or the provider, decides. */
  parameters: z.strictObject({
    temperature: z.number().nullable(),
    maxTokens: Count.nullable(),
    repair: z.boolean(),
    timeSeconds: Seconds,
  }),
  /** Of Runoff; of the agent's program, null without an agent or if it names none. */
  versions: z.strictObject({
    runoff: z.string().max(100),
    agent: z.string().max(200).nullable(),
  }),
  /** Dollars per million tokens when the sample was made; null if unknown. */
  price: z.strictObject({ input: Usd, output: Usd }).nullable(),
  /** SHA-256 of everything that was asked; equal questions at temperature 0 share one paid answer. */
  question: Digest,
  outcome: z.enum(SAMPLE_OUTCOMES),
  /** Why there is no usable answer; null if `answered`. */
  why: Why.nullable(),
  form: z.enum(['text', 'diff']),
  /**
   * The text or unified diff. If the outcome is `refused` or `not-a-diff`, what the model wrote instead. Null if nothing
   * was answered.
   */
  answer: z.string().nullable(),
  /** Of `repo` tasks with a diff; else null. */
  verification: Verification.nullable(),
  usage: z.strictObject({ calls: Count, tokensIn: Count, tokensOut: Count, usd: Usd }),
  /**
   * Until the answer was complete; verification is not counted. Null: it is not known, because the process that asked
   * was killed and the gateway gave the answer again.
   */
  seconds: Seconds.nullable(),
  /** Whether the repair turn was used. */
  repaired: z.boolean(),
  /** The sample whose paid answer this repeats, with its usage and seconds; null for one of its own. */
  reusedFrom: RecordId.nullable(),
  at: At,
});
export type Sample = z.infer<typeof Sample>;

/** What the verify commands show on the base of a task without an answer: a line of `bases.jsonl`. */
export const BaseResult = z.strictObject({
  version: z.literal(ARENA_VERSION),
  /** Derived from contest, task and time: of several lines on a task, the latest counts. */
  id: RecordId,
  contest: Digest,
  task: ArenaId,
  /** The commit that contestants start from, 40 hex digits. */
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  built: z.boolean().nullable(),
  tests: TestCounts.nullable(),
  hiddenTests: TestCounts.nullable(),
  /** SHA-256 of the text of the task's reference; null without one, absent in lines of earlier versions. */
  reference: Digest.nullable().optional(),
  /** Whether the task distinguishes contestants. */
  rated: z.boolean(),
  /** Why it is left out of ratings; null if it is rated. */
  why: Why.nullable(),
  at: At,
});
export type BaseResult = z.infer<typeof BaseResult>;

const Voter = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('person'), name: z.string().min(1).max(200) }),
  z.strictObject({ kind: z.literal('judge'), model: z.string().min(1).max(200) }),
]);
export type Voter = z.infer<typeof Voter>;

export const VERDICTS = ['left', 'right', 'tie', 'skip'] as const;

const CastVote = z.strictObject({
  version: z.literal(ARENA_VERSION),
  kind: z.literal('vote'),
  id: RecordId,
  contest: Digest,
  task: ArenaId,
  /** Ids of the samples, as they were shown. */
  left: RecordId,
  right: RecordId,
  verdict: z.enum(VERDICTS),
  by: Voter,
  /** Whether executed results were shown before the vote. */
  resultsShown: z.boolean(),
  /** A judge's reason. */
  because: z.string().max(4_000).optional(),
  at: At,
});
const UndoneVote = z.strictObject({
  version: z.literal(ARENA_VERSION),
  kind: z.literal('undo'),
  id: RecordId,
  /** The id of the vote that no longer counts. */
  vote: RecordId,
  by: Voter,
  at: At,
});
/** A line of `votes.jsonl`: a vote, or its removal. Lines are never changed. */
export const VoteRecord = z.discriminatedUnion('kind', [CastVote, UndoneVote]);
export type VoteRecord = z.infer<typeof VoteRecord>;
export type CastVote = z.infer<typeof CastVote>;

/** What Runoff decided on the answers of a contest; appended to by `runoff arena decide`. */
export const DECISIONS_FILE = 'decisions.jsonl';

/** The classes of a decision, the surest first. */
export const DECISION_CLASSES = ['clear', 'likely', 'toss-up', 'none'] as const;
export type DecisionClass = (typeof DECISION_CLASSES)[number];

/** What Runoff decided on the answers to one task, without its hidden tests: a line of `decisions.jsonl`. */
export const PoolDecision = z.strictObject({
  version: z.literal(ARENA_VERSION),
  /** Derived from contest, task and samples. */
  id: RecordId,
  contest: Digest,
  task: ArenaId,
  /** 1-based; null: the answers are the same in all rounds. */
  round: z.number().int().min(1).nullable(),
  /** Ids of all samples of the pool, sorted, with those that left no patch. */
  samples: z.array(RecordId).min(1).max(1_000),
  class: z.enum(DECISION_CLASSES),
  /** The sample that would be published, or shown first of a toss-up; null for none. */
  pick: RecordId.nullable(),
  /** The samples that a person would be asked about; empty unless it is a toss-up. */
  among: z.array(RecordId).max(1_000),
  /** Estimated chance that the pick is right, 0 to 1; null for none. */
  chance: z.number().min(0).max(1).nullable(),
  because: Why,
  seconds: Seconds,
  at: At,
});
export type PoolDecision = z.infer<typeof PoolDecision>;

type ArenaRecord = Sample | BaseResult | VoteRecord | PoolDecision;

/** By the letter with which ids begin. */
const SCHEMAS = new Map<string, z.ZodType<ArenaRecord>>([
  ['s', Sample],
  ['b', BaseResult],
  ['v', VoteRecord],
  ['u', VoteRecord],
  ['d', PoolDecision],
]);

/**
 * One line of a file, with its line end. Texts of models and programs that are longer than their field are cut. Throws
 * for what `readRecords` would not accept: one such line would make the whole file unreadable.
 */
export function recordLine(record: ArenaRecord): string {
  const schema = SCHEMAS.get(record.id.charAt(0));
  if (schema === undefined) throw new TypeError(`There is no kind of record for the id ${record.id}.`);
  const issues = schema.safeParse(record).error?.issues ?? [];
  return `${JSON.stringify(schema.parse(issues.reduce(withoutExcess, record)))}\n`;
}

function withoutExcess<T>(record: T, issue: z.core.$ZodIssue): T {
  if (issue.code !== 'too_big' || issue.origin !== 'string') return record;
  const cut = (value: unknown, [key, ...rest]: readonly PropertyKey[]): unknown => {
    if (key === undefined) return `${String(value).slice(0, Number(issue.maximum) - 1)}…`.toWellFormed();
    if (Array.isArray(value)) return value.with(Number(key), cut(value[Number(key)], rest));
    return { ...(value as object), [key]: cut((value as Record<PropertyKey, unknown>)[key], rest) };
  };
  return cut(record, issue.path) as T;
}

interface CountedVotes {
  /** Votes of this version that nobody took back, in order of time; the order of lines does not matter. */
  readonly votes: readonly CastVote[];
  /** Votes for an earlier version of the contest. */
  readonly ofOtherVersions: number;
  /** One sentence for each vote that cannot be counted. */
  readonly problems: readonly string[];
}

/** The votes that count, of the files that several people may have merged. */
export function countedVotes(
  records: readonly VoteRecord[],
  contest: string,
  samples: readonly Pick<Sample, 'id' | 'task' | 'contest'>[],
): CountedVotes {
  const undone = new Set(records.flatMap((one) => (one.kind === 'undo' ? [one.vote] : [])));
  const cast = records.filter((one) => one.kind === 'vote').filter(({ id }) => !undone.has(id));
  const ours = cast.filter((vote) => vote.contest === contest);
  const tasks = new Map(samples.filter((one) => one.contest === contest).map(({ id, task }) => [id, task]));
  const problems = ours.flatMap((vote) => {
    const why = voteProblem(vote, tasks);
    return why === null ? [] : [`${VOTES_FILE}: the vote ${vote.id} ${why}; it is not counted.`];
  });
  const votes = ours
    .filter((vote) => voteProblem(vote, tasks) === null)
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || (a.id < b.id ? -1 : 1));
  return { votes, ofOtherVersions: cast.length - ours.length, problems };
}

function voteProblem({ task, left, right }: CastVote, tasks: ReadonlyMap<string, string>): string | null {
  const missing = [left, right].find((id) => !tasks.has(id));
  if (missing !== undefined) return `is for the sample ${missing}, which does not exist`;
  if (left === right) return 'compares a sample with itself';
  return tasks.get(left) === task && tasks.get(right) === task ? null : 'compares samples of other tasks';
}
