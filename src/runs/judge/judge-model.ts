import type { z } from 'zod';
import { asFault, type FaultCode, NO_USAGE, type Usage } from '../../core/model/index.ts';
import type { Answer, Clock, Gateway, Lease, Model, ModelRoute, Random } from '../../ports/index.ts';
import { type ModelLeaseTerms, openModelLease, type Payer } from '../ask-model.ts';

/** Milliseconds for one answer; a judge that takes longer is lost. Our default. */
export const JUDGE_ANSWER_MS = 5 * 60_000;
/** A model that failed as often, and never answered, is not asked again. Our default. */
const MAX_FAILURES = 3;

/** What asking judges takes of the world. */
export interface JudgeModelParts {
  readonly gateway: Pick<Gateway, 'route' | 'open'>;
  readonly model: Model;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly random: Pick<Random, 'nonce'>;
  /** `provider/model` names that may be asked, the preferred first. */
  readonly models: readonly string[];
  readonly payer: Payer;
  /**
   * Runs `work` once for a key within the run, and gives back what it gave then: an answer that is paid for is not paid
   * for twice. What it gives is plain JSON. A rejection is not remembered.
   */
  remember<T>(key: string, work: () => Promise<T>): Promise<T>;
  readonly signal: AbortSignal;
}

/** One model that is asked several questions. */
export interface JudgeModel {
  /** Never rejects for what the model did; rejects when the run was cancelled. */
  ask<T>(question: JudgeQuestion<T>): Promise<Answer<T>>;
  /** Of this spender in this run, earlier leases included. */
  usage(): Usage;
  close(): Promise<void>;
}

interface JudgeQuestion<T> {
  readonly instructions: string;
  readonly prompt: string;
  readonly schema: z.ZodType<T>;
}

/** These say that one model cannot be asked; the others can. */
const MODEL_UNAVAILABLE: ReadonlySet<FaultCode> = new Set([
  'MODEL_UNKNOWN',
  'MODEL_KEY_MISSING',
  'MODEL_PRICE_UNKNOWN',
  'MODEL_MISMATCH',
]);

/** Where a model cannot be asked at all, every answer is a failure that says why. */
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

/** Ends when its time is over or the run is cancelled, also where the model does not. */
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
