import type { z } from 'zod';
import { asFault, type FaultCode, NO_USAGE, type Usage } from '../../core/model/index.ts';
import type { Answer, Clock, Gateway, Lease, Model, ModelRoute, Random } from '../../ports/index.ts';
import { type ModelLeaseTerms, openModelLease, type Payer } from '../ask-model.ts';
import type { Remember } from '../context.ts';

/** Milliseconds for one answer; a judge that takes longer is treated as failed. Our default. */
export const JUDGE_ANSWER_MS = 5 * 60_000;
/** Failures after which a model that has never answered is no longer asked. Our default. */
const MAX_FAILURES = 3;

/** Dependencies of asking judges. */
export interface JudgeModelParts {
  readonly gateway: Pick<Gateway, 'route' | 'open'>;
  readonly model: Model;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly random: Pick<Random, 'nonce'>;
  /** Allowed `provider/model` names, in order of preference. */
  readonly models: readonly string[];
  readonly payer: Payer;
  readonly remember: Remember;
  readonly signal: AbortSignal;
}

/** A model that is asked several questions. */
export interface JudgeModel {
  /** Model failures are values; rejects only when the run is cancelled. */
  ask<T>(question: JudgeQuestion<T>): Promise<Answer<T>>;
  /** Usage of this spender in this run, including earlier leases. */
  usage(): Usage;
  close(): Promise<void>;
}

interface JudgeQuestion<T> {
  readonly instructions: string;
  readonly prompt: string;
  /** As in `ModelQuestion`. */
  readonly sharedChars?: number;
  readonly schema: z.ZodType<T>;
}

/** Faults that make one model unavailable but not the others. */
const MODEL_UNAVAILABLE: ReadonlySet<FaultCode> = new Set([
  'MODEL_UNKNOWN',
  'MODEL_KEY_MISSING',
  'MODEL_PRICE_UNKNOWN',
  'MODEL_MISMATCH',
]);

/** Opens a model for judging. If it is unavailable, every answer is a failure that states the reason. */
export async function openJudgeModel(parts: JudgeModelParts, terms: ModelLeaseTerms): Promise<JudgeModel> {
  try {
    return judgeModelOf(parts, await openModelLease(parts.gateway, parts.payer, terms));
  } catch (thrown) {
    const fault = asFault(thrown);
    if (!MODEL_UNAVAILABLE.has(fault.code)) throw thrown;
    return {
      ask: async () => ({ kind: 'failed', why: fault.message }),
      usage: () => NO_USAGE,
      close: async () => {},
    };
  }
}

function judgeModelOf(
  parts: JudgeModelParts,
  { route, lease }: { readonly route: ModelRoute; readonly lease: Lease },
): JudgeModel {
  const counts = { answers: 0, failures: 0 };
  return {
    async ask(question) {
      parts.signal.throwIfAborted();
      if (counts.answers === 0 && counts.failures >= MAX_FAILURES) {
        return { kind: 'failed', why: `It was not asked any more, after ${counts.failures} failures.` };
      }
      const answer = await withinTime(parts, (signal) =>
        parts.model.ask({ route, lease, ...question, signal }),
      );
      parts.signal.throwIfAborted();
      counts[answer.kind === 'answer' ? 'answers' : 'failures'] += 1;
      return answer;
    },
    usage: () => lease.usage(),
    close: () => lease.close(),
  };
}

/** Rejects when its time is over or the run is cancelled, even if the model does not respond. */
async function withinTime<T>(
  { clock, signal }: JudgeModelParts,
  ask: (signal: AbortSignal) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const ended = new AbortController();
  const late = new AbortController();
  const limit = clock.sleep(JUDGE_ANSWER_MS, AbortSignal.any([ended.signal, signal])).then((): Answer<T> => {
    late.abort();
    return { kind: 'failed', why: `It gave no answer within ${JUDGE_ANSWER_MS / 60_000} minutes.` };
  });
  try {
    return await Promise.race([ask(AbortSignal.any([signal, late.signal])), limit]);
  } finally {
    ended.abort();
  }
}
