import { isUtf8 } from 'node:buffer';
import { type ArtifactRef, asFault } from '../../core/model/index.ts';
import type { Artifacts, Clock, Grant, KeptAnswer, Log, Store } from '../../ports/index.ts';
import type { AdmittedCall } from './admission.ts';
import { questionOf } from './question.ts';

/** Where finished answers are kept. */
export interface Answers {
  readonly artifacts: Artifacts;
  readonly store: Pick<Store, 'keptAnswers'>;
}

/** An answer as it was passed on. */
export interface Finished {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Which answer of a lease is asked for. */
export interface Asked {
  readonly question: string;
  /** Null: the next one that is free. */
  readonly number: number | null;
}

/** What one spender in one run was answered already, by whichever lease. */
export interface Recall {
  /** The finished answer to this call, once; null where it has to be paid. Never rejects. */
  take(call: AdmittedCall): Promise<{ readonly asked: Asked; readonly answer: Finished | null }>;
  /** Stores the body, and waits for a while where the disk is full; null where it cannot be kept. Never rejects. */
  keep(asked: Asked, answer: Finished): Promise<KeptAnswer | null>;
}

/** Bytes of one answer that is kept, and of all that one lease adds: a free model must not fill our disk. Our defaults. */
export const MOST_ANSWER_BYTES = 8 * 2 ** 20;
const MOST_LEASE_BYTES = 128 * 2 ** 20;

type Whose = Pick<Grant, 'runId' | 'spender'>;
type Parts = Answers & { readonly clock: Pick<Clock, 'now' | 'sleep'>; readonly log: Log };

/**
 * Milliseconds between tries to store an answer on a disk that is full; meanwhile the coder does not get its end. Our
 * default: 30 seconds in all, less than a coder waits for a slow answer.
 */
const FULL_DISK_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 14_500];

/** Reads once what is there: nobody else asks for this spender while the lease is open. Rejects when it cannot be read. */
export async function openRecall({ artifacts, store, clock, log }: Parts, whose: Whose): Promise<Recall> {
  const { runId, spender } = whose;
  const nameOf = (question: string, number: number) => `${question} ${number}`;
  const known = new Map(
    (await store.keptAnswers(runId, spender)).map((kept) => [nameOf(kept.question, kept.number), kept]),
  );
  const served = new Map<string, number>();
  let bytes = 0;
  const next = (question: string): number => {
    const number = served.get(question) ?? 0;
    served.set(question, number + 1);
    return number;
  };

  async function put(body: string): Promise<ArtifactRef> {
    for (const wait of FULL_DISK_WAITS_MS) {
      try {
        return await artifacts.put(body);
      } catch (error) {
        if (asFault(error).code !== 'DISK_FULL') throw error;
        await clock.sleep(wait);
      }
    }
    return artifacts.put(body);
  }

  return {
    async take(call) {
      const question = questionOf(call);
      const kept = known.get(nameOf(question, served.get(question) ?? 0));
      if (!kept) return { asked: { question, number: null }, answer: null };
      const asked = { question, number: next(question) };
      try {
        const body = Buffer.from(await artifacts.get(kept.body));
        return { asked, answer: { status: kept.status, headers: kept.headers, body } };
      } catch (error) {
        log.warn(
          { run: runId, spender, err: error },
          'An answer that was kept cannot be read; the model is asked again.',
        );
        return { asked, answer: null };
      }
    },

    async keep({ question, number }, { status, headers, body }) {
      if (!isUtf8(body) || bytes + body.length > MOST_LEASE_BYTES) return null;
      bytes += body.length;
      try {
        const kept = await put(body.toString('utf8'));
        return { question, number: number ?? next(question), status, headers, body: kept, at: clock.now() };
      } catch (error) {
        const { code } = asFault(error);
        log.error(
          { run: runId, spender, code, err: error },
          'An answer could not be kept; after a crash it is paid again.',
        );
        return null;
      }
    },
  };
}
