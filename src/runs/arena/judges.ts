import {
  type ContestRecords,
  contestantAuthor,
  judgedAnswer,
  judgedOrders,
  judgedTask,
  type NewVote,
  pairsForJudges,
  recordLine,
  type Sample,
  type SamplePair,
  standingOf,
  VOTES_FILE,
  voteId,
} from '../../core/arena/index.ts';
import {
  comparisonQuestion,
  type Identities,
  identitiesOf,
  type JudgeAnswer,
  type ShownCandidate,
} from '../../core/judging/index.ts';
import { inParallel, type Usd } from '../../core/model/index.ts';
import type { ContestFolder, Store } from '../../ports/index.ts';
import { type Remember, stableNonce } from '../context.ts';
import {
  askBothSides,
  JUDGE_ANSWER_MS,
  type JudgeModel,
  type JudgeModelParts,
  openJudgeModel,
} from '../judge/index.ts';

/** Maximum number of concurrent questions. Our default: providers reject more than a few at once. */
const CONCURRENT_QUESTIONS = 4;

export interface ArenaJudging extends Omit<JudgeModelParts, 'models' | 'clock'> {
  readonly clock: JudgeModelParts['clock'] & { now(): number };
  readonly folder: Pick<ContestFolder, 'append' | 'sha256'>;
  readonly records: ContestRecords;
  /** The judges, as `provider/model`. */
  readonly models: readonly string[];
  /** Maximum number of pairs. */
  readonly pairs: number;
  /** US dollars for all judges together in this call. */
  readonly capUsd: Usd;
  readonly store: Pick<Store, 'usage'>;
  /** The text of `judge.md`, or the operator's replacement. */
  readonly instructions: string;
  tell(progress: JudgingProgress): void;
}

interface JudgingProgress {
  /** Answers so far, and answers that are wanted, with those of earlier calls. */
  readonly done: number;
  readonly of: number;
  /** Spent by this call. */
  readonly usd: Usd;
}

interface JudgingEnd {
  readonly pairs: number;
  /** Answers of this call that were stored, and those of them that cannot be used. */
  readonly stored: number;
  readonly unusable: number;
  /** Answers that did not come, and so are asked for the next time; `why`: the first reason, as a sentence. */
  readonly missing: number;
  readonly why: string | null;
  /** Pairs that judges must not see, because an answer names its author in spite of the scrubbing. */
  readonly revealing: number;
  /** Spent by this call. */
  readonly usd: Usd;
}

interface JudgeTurn {
  readonly model: string;
  readonly shown: ShownPair;
  /** Ids of the samples. */
  readonly left: string;
  readonly right: string;
}

/**
 * Has models vote on pairs, blind and in both orders, and stores each answer as it comes. Answers that are stored are
 * not asked for again. Failures of models are values; rejects when it is cancelled, when a vote cannot be stored, and
 * for faults that stop a run.
 */
export async function judgeContest(parts: ArenaJudging): Promise<JudgingEnd> {
  const { records, signal } = parts;
  const standing = standingOf(records);
  const identities = identitiesOf(records.contest.contestants.map(contestantAuthor));
  const session = openJudges(parts, identities);
  const pairs = pairsForJudges(standing, records.contest.seed, parts.pairs);
  const comparable = pairs.flatMap((pair) => shownPair(records, standing.samples, pair, identities) ?? []);
  const asked = judgedOrders(standing.votes);
  const turns = comparable.flatMap((shown) => turnsOf(parts.models, shown));
  const open = turns.filter(({ model, left, right }) => !asked(model, left, right));
  const counts = { stored: 0, unusable: 0, missing: 0, why: null as string | null };
  const tell = async () =>
    parts.tell({
      done: turns.length - open.length + counts.stored,
      of: turns.length,
      usd: await session.usd(),
    });
  try {
    await tell();
    await inParallel(CONCURRENT_QUESTIONS, open, async (turn) => {
      signal.throwIfAborted();
      const answer = await session.ask(turn);
      if (answer.kind === 'unusable' && !answer.answered) {
        counts.missing += 1;
        counts.why ??= answer.why;
      } else {
        await storeAnswer(parts, turn, answer);
        counts.stored += 1;
        counts.unusable += answer.kind === 'unusable' ? 1 : 0;
      }
      await tell();
    });
    if (counts.missing > 0) await session.rememberFailure();
    return {
      ...counts,
      pairs: comparable.length,
      revealing: pairs.length - comparable.length,
      usd: await session.usd(),
    };
  } finally {
    await session.close();
  }
}

function turnsOf(models: readonly string[], shown: ShownPair): readonly JudgeTurn[] {
  const { a, b } = shown.pair;
  return [...new Set(models)].flatMap((model) => [
    { model, shown, left: a.id, right: b.id },
    { model, shown, left: b.id, right: a.id },
  ]);
}

/** A pair as judges see it. */
interface ShownPair {
  readonly pair: SamplePair;
  readonly task: string;
  /** By the id of the sample. */
  readonly sides: ReadonlyMap<string, ShownCandidate>;
}

/** Null if what judges would see names a contestant in spite of the scrubbing. */
function shownPair(
  { contest }: ContestRecords,
  samples: readonly Sample[],
  pair: SamplePair,
  identities: Identities,
): ShownPair | null {
  const task = contest.tasks.find(({ id }) => id === pair.task);
  const shown = ({ id }: { readonly id: string }): ShownCandidate | null => {
    const sample = samples.find((one) => one.id === id);
    return sample
      ? judgedAnswer(sample, identities, { showResults: contest.votes.results === 'before' })
      : null;
  };
  const [first, second] = [shown(pair.a), shown(pair.b)];
  if (!task || !first || !second) return null;
  const text = judgedTask(task);
  if (comparisonQuestion(text, { first, second }, identities, '').kind === 'leak') return null;
  return {
    pair,
    task: text,
    sides: new Map([
      [pair.a.id, first],
      [pair.b.id, second],
    ]),
  };
}

/** Remembers answers, but not that none came: a judge that was down is asked again the next time. */
const rememberGiven =
  ({ remember }: Pick<ArenaJudging, 'remember'>): Remember =>
  (key, work) =>
    remember(key, work, (answer) => !didNotAnswer(answer));

const didNotAnswer = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'answered' in answer && answer.answered === false;

const failureKey = (call: number): string => `judges' failed call ${call}`;

/** Calls in which answers of judges did not come. Questions of the next one differ, so that they are really asked. */
async function failedCalls({ remember }: Pick<ArenaJudging, 'remember'>): Promise<number> {
  let calls = 0;
  const isKnown = (call: number) =>
    remember(
      failureKey(call),
      async () => false,
      (known) => known,
    );
  while (await isKnown(calls)) calls += 1;
  return calls;
}

interface LeasedJudge {
  readonly model: JudgeModel;
  /** US dollars of earlier calls. */
  readonly beforeUsd: Usd;
}

/** Opens the lease of a judge. The cap of a lease counts what its spender has ever spent in the contest. */
async function leaseJudge(parts: ArenaJudging, model: string): Promise<LeasedJudge> {
  const spender = `judge ${model}`;
  const { usd: beforeUsd } = await parts.store.usage(parts.payer.runId, spender);
  const capUsd = beforeUsd + parts.capUsd / new Set(parts.models).size;
  const ttlMs = JUDGE_ANSWER_MS * (1 + 2 * parts.pairs);
  return { model: await openJudgeModel(parts, { spender, model, capUsd, ttlMs }), beforeUsd };
}

/** One lease for each judge, opened on first use. */
function openJudges(parts: ArenaJudging, identities: Identities) {
  const remember = rememberGiven(parts);
  let failedBefore: Promise<number> | null = null;
  // Read for the first question: nothing waits for it where every answer is stored, and the store closes.
  const failuresBefore = (): Promise<number> => {
    failedBefore ??= failedCalls(parts);
    return failedBefore;
  };
  const leased = new Map<string, Promise<LeasedJudge>>();
  const open = (model: string): Promise<LeasedJudge> => {
    const opened = leased.get(model) ?? leaseJudge(parts, model);
    leased.set(model, opened);
    return opened;
  };
  const usdOf = ({ model, beforeUsd }: LeasedJudge): Usd => Math.max(0, model.usage().usd - beforeUsd);
  return {
    async ask({ model, shown: { task, sides }, left, right }: JudgeTurn): Promise<JudgeAnswer> {
      const { model: judgeModel } = await open(model);
      const [first, second] = [sides.get(left), sides.get(right)];
      if (!first || !second) throw new TypeError(`The pair of ${left} and ${right} has two sides.`);
      const names = [left, right] as const;
      const pair = { model, judgeModel, task, sides: { first, second }, identities, names };
      const failed = await failuresBefore();
      const again = `judge ${model} again after ${failed}: ${left} ${right}`;
      const nonce = failed === 0 ? {} : { nonce: await stableNonce(parts, again) };
      return askBothSides({ ...parts, remember }, { ...pair, ...nonce });
    },
    /** To be called where answers did not come: the gateway would give useless ones again, which are paid. */
    rememberFailure: async () =>
      void (await parts.remember(failureKey(await failuresBefore()), async () => true)),
    usd: async () => (await Promise.all(leased.values())).reduce((sum, judge) => sum + usdOf(judge), 0),
    async close() {
      const open = await Promise.allSettled(leased.values());
      await Promise.all(
        open.map((one) => (one.status === 'fulfilled' ? one.value.model.close() : undefined)),
      );
    },
  };
}

const VERDICT_OF = { first: 'left', second: 'right', tie: 'tie' } as const;

/** An answer that cannot be used is stored as a skipped pair, so that it is not paid for again. */
async function storeAnswer(
  { folder, records, clock }: ArenaJudging,
  { model, shown, left, right }: JudgeTurn,
  answer: JudgeAnswer,
): Promise<void> {
  const said =
    answer.kind === 'verdict'
      ? { verdict: VERDICT_OF[answer.verdict.better], because: answer.verdict.because }
      : { verdict: 'skip' as const, because: answer.why };
  const vote: NewVote = {
    version: 1,
    kind: 'vote',
    contest: records.digest,
    task: shown.pair.task,
    left,
    right,
    by: { kind: 'judge', model },
    resultsShown: records.contest.votes.results === 'before',
    at: new Date(clock.now()).toISOString(),
    ...said,
  };
  await folder.append(VOTES_FILE, recordLine({ ...vote, id: voteId(vote, folder.sha256) }));
}
