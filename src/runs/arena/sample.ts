import type { Semaphore } from 'async-mutex';
import {
  askedIdentity,
  type BaseResult,
  type ContestRecords,
  NO_AGENT,
  type PlannedSample,
  type ResolvedRepoTask,
  recordLine,
  reusable,
  SAMPLES_FILE,
  type Sample,
  type Verification,
} from '../../core/arena/index.ts';
import { asFault, type Usd } from '../../core/model/index.ts';
import type { ContestFolder } from '../../ports/index.ts';
import type { World } from '../context.ts';
import { agentWork } from './agent-work.ts';
import type { AskingPorts, ContestantAnswer } from './asking.ts';
import type { ContestPayer } from './payer.ts';
import { askedText, plainCall } from './plain-call.ts';
import { verifyDiff } from './verdict.ts';
import { openTaskBase, type TaskBase } from './verify.ts';

/** Dependencies of `runoff arena gen`. */
export type GeneratePorts = AskingPorts & Pick<World, 'prompts' | 'store'>;

export type GenerateEvent =
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'base'; readonly base: BaseResult }
  | {
      readonly kind: 'sample';
      readonly sample: Sample;
      readonly done: number;
      readonly total: number;
      /** Spent on the contest so far, without calls under way. */
      readonly usd: Usd;
      /** Estimated milliseconds until the end. */
      readonly leftMs: number;
    }
  | { readonly kind: 'unasked'; readonly sample: PlannedSample; readonly why: string };

export interface GenerateOptions {
  /** Of Runoff, for the record. */
  readonly version: string;
  readonly trust: boolean;
  /** Agrees to a version that earlier votes do not count for. */
  readonly newVersion: boolean;
  readonly tell: (event: GenerateEvent) => void;
  readonly signal: AbortSignal;
}

/** A contest whose samples are being made. */
export interface Generating {
  readonly ports: GeneratePorts;
  readonly folder: ContestFolder;
  readonly loaded: ContestRecords;
  readonly options: GenerateOptions;
  readonly payer: ContestPayer;
  /** With which the names of areas begin; of this folder on this machine. */
  readonly areas: string;
  readonly bases: Map<string, BaseResult>;
  /** Opened once each, when the first sample needs it. */
  readonly opened: Map<string, Promise<TaskBase>>;
  readonly samples: Sample[];
  /** Samples being made whose answers can be used again, by their questions. */
  readonly questions: Map<string, Promise<MadeSample>>;
}

/** The base of a task, opened when it is first needed. */
export function openedBase(
  { ports, folder, options, areas, opened }: Generating,
  task: ResolvedRepoTask,
): Promise<TaskBase> {
  const known = opened.get(task.id);
  if (known) return known;
  const { trust, signal } = options;
  const opening = openTaskBase(ports, folder, task, { runId: areas, trust, signal });
  opened.set(task.id, opening);
  return opening;
}

export type MadeSample =
  /** `paidUsd`: US dollars that were spent on it now. */
  | { readonly sample: Sample; readonly paidUsd: Usd }
  /** `isSpent`: a budget is used up, so that nobody else need be asked. */
  | { readonly why: string; readonly isSpent: boolean };

/**
 * Asks one contestant for one task, verifies the answer, and records the sample. Of equal questions whose answer can be
 * used again, one is asked, and the others wait for it. `verifying` limits how many answers are verified at a time.
 */
export async function makeSample(
  work: Generating,
  planned: PlannedSample,
  verifying: Semaphore,
): Promise<MadeSample> {
  const { ports, folder, loaded, questions } = work;
  const { contest } = loaded;
  const { task, contestant } = planned;
  const base = task.kind === 'repo' ? await openedBase(work, task) : null;
  const text = await askedText(ports, planned, base);
  const question = folder.sha256(askedIdentity(contest, planned, [task.kind, text, base?.commit ?? '']));
  const make = () => answerAndRecord(work, planned, { base, text, question }, verifying);
  if (contest.temperature !== 0 || contestant.agent !== NO_AGENT) return make();
  for (let other = questions.get(question); other; other = questions.get(question))
    // Its failure is told where it was asked.
    await other.catch(() => undefined);
  const made = make().finally(() => questions.delete(question));
  questions.set(question, made);
  return made;
}

interface AskedQuestion {
  readonly base: TaskBase | null;
  readonly text: string;
  readonly question: string;
}

async function answerAndRecord(
  work: Generating,
  planned: PlannedSample,
  { base, text, question }: AskedQuestion,
  verifying: Semaphore,
): Promise<MadeSample> {
  const { ports, loaded, options, payer, areas } = work;
  const { task } = planned;
  const earlier = reusable(work.samples, question);
  const asking = { contest: loaded.contest, payer, areas, signal: options.signal };
  const before = earlier ? null : await ports.store.usage(payer.runId, planned.id);
  const answered = earlier
    ? reusedAnswer(earlier)
    : base === null || planned.contestant.agent === NO_AGENT
      ? await plainCall(ports, asking, planned, { base, text })
      : await agentWork(ports, asking, planned, base);
  if (answered.kind === 'unasked')
    return { why: answered.why, isSpent: answered.cap !== null && answered.cap !== 'spender' };
  const onBase = work.bases.get(task.id) ?? { tests: null, hiddenTests: null };
  const diff = answered.outcome === 'answered' ? answered.answer : null;
  const verification =
    base && diff !== null
      ? await verifying.runExclusive(() => verifyDiff(base, planned.id, diff, onBase))
      : null;
  const sample = sampleOf(work, planned, { answered, question, verification, earlier });
  await appendRecord(work, SAMPLES_FILE, sample);
  work.samples.push(sample);
  return { sample, paidUsd: before === null ? 0 : Math.max(0, sample.usage.usd - before.usd) };
}

const reusedAnswer = (earlier: Sample): ContestantAnswer => ({
  kind: 'answered',
  ...{ outcome: earlier.outcome, answer: earlier.answer, why: earlier.why },
  ...{ usage: earlier.usage, seconds: earlier.seconds, repaired: earlier.repaired },
  temperature: earlier.parameters.temperature,
  agentVersion: earlier.versions.agent,
});

function sampleOf(
  { ports, loaded, options }: Generating,
  { id, task, contestant, round, seed }: PlannedSample,
  made: {
    readonly answered: ContestantAnswer;
    readonly question: string;
    readonly verification: Verification | null;
    readonly earlier: Sample | undefined;
  },
): Sample {
  const { contest, digest } = loaded;
  const { answered, question, verification, earlier } = made;
  const { usd, tokensIn, tokensOut, calls } = answered.usage;
  const isPlain = contestant.agent === NO_AGENT;
  return {
    version: 1,
    ...{ id, contest: digest, task: task.id, contestant: contestant.id },
    ...{ agent: contestant.agent, model: contestant.model, prompt: contestant.prompt, round, seed },
    parameters: {
      temperature: answered.temperature,
      maxTokens: isPlain ? contest.limits.tokens : null,
      repair: isPlain && contest.repair,
      timeSeconds: contest.limits.time,
    },
    versions: { runoff: options.version, agent: answered.agentVersion },
    price: millionPrices(ports, contestant.model),
    question,
    outcome: answered.outcome,
    why: answered.why,
    form: task.kind === 'text' ? 'text' : 'diff',
    answer: answered.answer,
    verification,
    usage: { calls, tokensIn, tokensOut, usd },
    seconds: answered.seconds,
    repaired: answered.repaired,
    reusedFrom: earlier?.id ?? null,
    at: new Date(ports.clock.now()).toISOString(),
  };
}

const MILLION = 1_000_000;

function millionPrices({ gateway }: Pick<World, 'gateway'>, model: string): Sample['price'] {
  const input = gateway.estimate(model, { tokensIn: MILLION, tokensCached: 0, tokensOut: 0 });
  const output = gateway.estimate(model, { tokensIn: 0, tokensCached: 0, tokensOut: MILLION });
  return input === null || output === null ? null : { input, output };
}

/** Milliseconds between tries while the disk is full. */
const FULL_DISK_WAIT_MS = 5_000;

/** Appends one line. Waits for space while the disk is full: what is appended has been paid for. */
export async function appendRecord(
  { ports, folder, options }: Generating,
  file: string,
  record: Sample | BaseResult,
): Promise<void> {
  for (let told = false; ; told = true) {
    try {
      return await folder.append(file, recordLine(record));
    } catch (thrown) {
      const { code, message } = asFault(thrown);
      if (code !== 'DISK_FULL' || options.signal.aborted) throw thrown;
      if (!told) options.tell({ kind: 'note', text: `${message} Waiting until there is some.` });
      await ports.clock.sleep(FULL_DISK_WAIT_MS, options.signal);
    }
  }
}
