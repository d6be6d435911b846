import { z } from 'zod';
import {
  asFault,
  type FaultCode,
  NO_USAGE,
  type RunId,
  type Task,
  type Usage,
  type Usd,
} from '../core/model/index.ts';
import type { CapName, Gateway, Lease, Model, ModelRoute } from '../ports/index.ts';
import { repositoryKeyOf, type World } from './context.ts';
import { throwIfCancelled, unlessDamaged } from './stage.ts';

export interface ModelCallParts {
  readonly gateway: Pick<Gateway, 'open' | 'route'>;
  readonly model: Model;
  readonly signal: AbortSignal;
}

/** Who pays, as in a `Grant`. */
export interface Payer {
  readonly runId: RunId;
  readonly repository: string;
  /** US dollars of the whole run. */
  readonly runCapUsd: Usd;
  /** Of each spender, for models without a known price; absent: such a model is not asked. */
  readonly capTokens?: number;
}

export interface ModelCall<T> {
  /** Whose call this is in the ledger. */
  readonly spender: string;
  /** `provider/model`. */
  readonly model: string;
  readonly capUsd: Usd;
  readonly instructions: string;
  readonly prompt: string;
  readonly schema: z.ZodType<T>;
  /** How often a model is shown what was wrong with its answer; absent: as often as the adapter does. */
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
      /** The cap that stood in the way; null where none did. */
      readonly cap: CapName | null;
    }
);

const TTL_MS = 10 * 60_000;

/** What goes without an answer is worse, but no fault of the run. */
const NO_ANSWER: ReadonlySet<FaultCode> = new Set([
  'MODEL_UNKNOWN',
  'MODEL_KEY_MISSING',
  'MODEL_UNAVAILABLE',
  'MODEL_PRICE_UNKNOWN',
  'MODEL_MISMATCH',
  'BUDGET_TOO_SMALL',
  'DAY_BUDGET_REACHED',
]);

/** Asks one model once, within a cap. Whatever it or its provider does is a value; rejects only when the run was cancelled. */
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

/** One model that is asked for a run, and what that may cost. */
export interface ModelLeaseTerms {
  /** Whose calls these are in the ledger. */
  readonly spender: string;
  /** `provider/model`. */
  readonly model: string;
  readonly capUsd: Usd;
  /** Milliseconds. */
  readonly ttlMs: number;
}

/** Rejects with the gateway's fault where the model cannot be asked. */
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
  // Otherwise a cancelled question would be taken for one without an answer.
  throwIfCancelled(parts.signal);
  const usage = lease.usage();
  if (answer.kind === 'answer') return { kind: 'answer', value: answer.value, usage };
  return { kind: 'nothing', why: lease.refusal() ?? answer.why, cap: lease.capReached(), usage };
}

/** Who pays for what is asked in a run. */
export function payerOf({ runId, origin, settings }: Pick<Task, 'runId' | 'origin' | 'settings'>): Payer {
  const { run, tokens } = settings.budget;
  return {
    runId,
    repository: repositoryKeyOf(origin),
    runCapUsd: run,
    ...(tokens === undefined ? {} : { capTokens: tokens }),
  };
}

/** Characters of a key that stand in the database; of a longer one it is the hash, by which its text can be found. */
const MAX_ANSWER_CHARS = 200;
const StoredAnswer = z.object({ sha256: z.string(), bytes: z.number() });

/**
 * Does work once for each key of a run, also across a crash: an answer that was paid for is given back, not paid again.
 * Answers are plain JSON. Work that fails is not kept.
 */
export function rememberAnswers(
  { store, artifacts }: Pick<World, 'store' | 'artifacts'>,
  runId: RunId,
): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const name = `answer:${key.length > MAX_ANSWER_CHARS ? (await artifacts.put(key)).sha256 : key}`;
    const { intent } = await store.intend(runId, name);
    const kept = intent.state === 'done' ? StoredAnswer.safeParse(intent.result) : null;
    // One that is damaged is worked out again: the gateway has what models answered.
    const text = kept?.success ? await unlessDamaged(artifacts.get(kept.data)) : null;
    // Whoever chose the key chose the type with it.
    if (text !== null) return JSON.parse(text) as T;
    const answer = await work();
    await store.fulfil(runId, name, await artifacts.put(JSON.stringify(answer)));
    return answer;
  };
}
