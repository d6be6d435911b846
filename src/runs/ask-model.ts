import { z } from 'zod';
import {
  type ArtifactRef,
  asFault,
  type FaultCode,
  NO_USAGE,
  type RunId,
  type Task,
  type Usage,
  type Usd,
} from '../core/model/index.ts';
import type { CapName, Gateway, Lease, Model, ModelRoute } from '../ports/index.ts';
import { type Remember, repositoryKeyOf, type World } from './context.ts';
import { throwIfCancelled, unlessDamaged } from './stage.ts';

export interface ModelCallParts {
  readonly gateway: Pick<Gateway, 'open' | 'route'>;
  readonly model: Model;
  readonly signal: AbortSignal;
}

/** Who pays, as in `Grant`. */
export interface Payer {
  readonly runId: RunId;
  readonly repository: string;
  /** US dollars for the whole run. */
  readonly runCapUsd: Usd;
  /** Token cap of each spender for models without a known price; absent: such models are not asked. */
  readonly capTokens?: number;
}

export interface ModelCall<T> {
  /** Name of the caller in the ledger. */
  readonly spender: string;
  /** `provider/model`. */
  readonly model: string;
  readonly capUsd: Usd;
  readonly instructions: string;
  readonly prompt: string;
  /** As in `ModelQuestion`. */
  readonly sharedChars?: number;
  readonly schema: z.ZodType<T>;
  /** How often a model may correct an invalid answer; absent: the adapter's default. */
  readonly repairs?: number;
}

type ModelReply<T> = {
  /** Of this spender in this run, earlier calls included. */ readonly usage: Usage;
} & (
  | { readonly kind: 'answer'; readonly value: T }
  | {
      readonly kind: 'nothing';
      /** One sentence for people. */
      readonly why: string;
      /** The cap that prevented the call; null if none did. */
      readonly cap: CapName | null;
    }
);

const TTL_MS = 10 * 60_000;

/** Faults that leave a question unanswered, which makes the result worse but does not fail the run. */
const NO_ANSWER: ReadonlySet<FaultCode> = new Set([
  'MODEL_UNKNOWN',
  'MODEL_KEY_MISSING',
  'MODEL_UNAVAILABLE',
  'MODEL_PRICE_UNKNOWN',
  'MODEL_MISMATCH',
  'BUDGET_TOO_SMALL',
  'DAY_BUDGET_REACHED',
]);

/**
 * Asks one model once, within a cap. Failures of the model or its provider are values; rejects only when the run is
 * cancelled.
 */
export async function askModel<T>(
  parts: ModelCallParts,
  payer: Payer,
  call: ModelCall<T>,
): Promise<ModelReply<T>> {
  try {
    return await askThrough(parts, payer, call);
  } catch (thrown) {
    const fault = asFault(thrown);
    if (!NO_ANSWER.has(fault.code)) throw thrown;
    return { kind: 'nothing', why: fault.message, cap: CAPS[fault.code] ?? null, usage: NO_USAGE };
  }
}

/** A model to be asked in a run, and its cost limits. */
export interface ModelLeaseTerms {
  /** Name of the caller in the ledger. */
  readonly spender: string;
  /** `provider/model`. */
  readonly model: string;
  readonly capUsd: Usd;
  /** Lifetime in milliseconds. */
  readonly ttlMs: number;
}

/** Opens a lease. Rejects with the gateway's fault if the model is unavailable. */
export async function openModelLease(
  gateway: ModelCallParts['gateway'],
  { runId, repository, runCapUsd, capTokens }: Payer,
  { model, ...terms }: ModelLeaseTerms,
): Promise<{ readonly route: ModelRoute; readonly lease: Lease }> {
  const tokens = capTokens === undefined ? {} : { capTokens };
  const route = gateway.route(model, tokens);
  const lease = await gateway.open({ ...terms, runId, repository, models: [model], runCapUsd, ...tokens });
  return { route, lease };
}

const CAPS: Partial<Record<FaultCode, CapName>> = { BUDGET_TOO_SMALL: 'run', DAY_BUDGET_REACHED: 'day' };

async function askThrough<T>(
  parts: ModelCallParts,
  payer: Payer,
  call: ModelCall<T>,
): Promise<ModelReply<T>> {
  const { spender, model, capUsd, ...question } = call;
  const { route, lease } = await openModelLease(parts.gateway, payer, {
    spender,
    model,
    capUsd,
    ttlMs: TTL_MS,
  });
  const answer = await parts.model
    .ask({ route, lease, ...question, signal: parts.signal })
    .finally(() => lease.close());
  // Otherwise cancellation would be mistaken for an unanswered question.
  throwIfCancelled(parts.signal);
  const usage = lease.usage();
  if (answer.kind === 'answer') return { kind: 'answer', value: answer.value, usage };
  return { kind: 'nothing', why: lease.refusal() ?? answer.why, cap: lease.capReached(), usage };
}

/** Who pays for the questions of a run. */
export function payerOf({ runId, origin, settings }: Pick<Task, 'runId' | 'origin' | 'settings'>): Payer {
  const { run, tokens } = settings.budget;
  return {
    runId,
    repository: repositoryKeyOf(origin),
    runCapUsd: run,
    ...(tokens === undefined ? {} : { capTokens: tokens }),
  };
}

/** A stored answer to one key, null if there is none that can be read, and what stores another one. */
interface AnswerEntry {
  readonly text: string | null;
  keep(answer: ArtifactRef): Promise<unknown>;
}

const rememberIn =
  (artifacts: World['artifacts'], entryOf: (key: string) => Promise<AnswerEntry>): Remember =>
  async <T>(key: string, work: () => Promise<T>, keeps: (result: T) => boolean = () => true): Promise<T> => {
    const { text, keep } = await entryOf(key);
    // The caller that chose the key determines the type.
    if (text !== null) return JSON.parse(text) as T;
    const answer = await work();
    if (keeps(answer)) await keep(await artifacts.put(JSON.stringify(answer)));
    return answer;
  };

/** Maximum length of a key stored as text, in characters; longer keys are stored as a hash and an artifact. */
const MAX_ANSWER_CHARS = 200;
const StoredAnswer = z.object({ sha256: z.string(), bytes: z.number() });

/** Stores results for a run, across crashes. */
export const rememberAnswers = (
  { store, artifacts }: Pick<World, 'store' | 'artifacts'>,
  runId: RunId,
): Remember =>
  rememberIn(artifacts, async (key) => {
    const name = `answer:${key.length > MAX_ANSWER_CHARS ? (await artifacts.put(key)).sha256 : key}`;
    const { intent } = await store.intend(runId, name);
    const kept = intent.state === 'done' ? StoredAnswer.safeParse(intent.result) : null;
    return {
      // A damaged entry is computed again: the gateway has the models' answers.
      text: kept?.success ? await unlessDamaged(artifacts.get(kept.data)) : null,
      keep: (answer) => store.fulfil(runId, name, answer),
    };
  });

/** The same for work that is no run. `scope` names what may share answers. */
export const keepAnswers = (
  { store, artifacts }: Pick<World, 'artifacts' | 'store'>,
  scope: string,
): Remember =>
  rememberIn(artifacts, async (key) => {
    const name = (await artifacts.put(key)).sha256;
    const known = await store.kept(scope, name);
    return {
      text: known ? await artifacts.get(known) : null,
      keep: (answer) => store.keep(scope, name, answer),
    };
  });
