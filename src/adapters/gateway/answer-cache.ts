import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type ArtifactRef, asFault } from '../../core/model/index.ts';
import type { Artifacts, Clock, Grant, KeptAnswer, Log, Store } from '../../ports/index.ts';
import type { AdmittedCall } from './admission.ts';
import { isObject } from './bodies/index.ts';

/** Where finished answers are stored. */
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

/** Which answer of a lease is requested. */
export interface AnswerKey {
  readonly question: string;
  /** Null: the next one that is free. */
  readonly number: number | null;
}

/** The answers that one spender in one run got earlier, from any lease. */
export interface AnswerCache {
  /** The finished answer to this call, once; null if it must be paid for. Never rejects. */
  take(call: AdmittedCall): Promise<{ readonly asked: AnswerKey; readonly answer: Finished | null }>;
  /** Stores the body, and waits for a while if the disk is full. Null if it cannot be stored. Never rejects. */
  keep(asked: AnswerKey, answer: Finished): Promise<KeptAnswer | null>;
}

/**
 * Maximum number of bytes of a stored answer, and of all answers that one lease adds: a free model must not fill our
 * disk. Our defaults.
 */
export const MAX_STORED_BYTES = 8 * 2 ** 20;
const MAX_LEASE_BYTES = 128 * 2 ** 20;

type Whose = Pick<Grant, 'runId' | 'spender'>;
type AnswerCacheParts = Answers & { readonly clock: Pick<Clock, 'now' | 'sleep'>; readonly log: Log };

/**
 * Milliseconds between tries to store an answer on a full disk; the coder does not get the end of the answer until
 * then. Our default: 30 seconds in all, less than a coder waits for a slow answer.
 */
const FULL_DISK_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 14_500];

/**
 * Reads stored answers once: no other lease asks for this spender while this one is open. Rejects if they cannot be
 * read.
 */
export async function openAnswerCache(
  { artifacts, store, clock, log }: AnswerCacheParts,
  whose: Whose,
): Promise<AnswerCache> {
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
          'A stored answer cannot be read; the model is called again.',
        );
        return { asked, answer: null };
      }
    },

    async keep({ question, number }, { status, headers, body }) {
      if (!isUtf8(body) || bytes + body.length > MAX_LEASE_BYTES) return null;
      bytes += body.length;
      try {
        const kept = await put(body.toString('utf8'));
        return { question, number: number ?? next(question), status, headers, body: kept, at: clock.now() };
      } catch (error) {
        const { code } = asFault(error);
        log.error(
          { run: runId, spender, code, err: error },
          'A model answer could not be stored; after a crash it is paid for again.',
        );
        return null;
      }
    },
  };
}

/**
 * Fields that tell the provider who asks and where to look in its caches. They do not change the answer, and clients
 * make them up.
 */
const ABOUT_THE_CLIENT: ReadonlySet<string> = new Set([
  'metadata',
  'client_metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
]);

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\\.?';
const DAY = '(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?';
const CLOCK = '\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?';

/**
 * Differences between repetitions of the same work: dates, times and durations (above all of tests), the port and key
 * of the lease, and random ids of the client. Questions of one coder that differ only in these are the same.
 */
const CHANCE: readonly (readonly [RegExp, string])[] = [
  [/gw-[A-Za-z0-9_-]{43}/g, 'KEY'],
  [/\b(?:127\.0\.0\.1|localhost):\d{2,5}\b/g, 'GATEWAY'],
  [/(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/gi, 'UUID'],
  [new RegExp(`\\b\\d{4}-\\d{2}-\\d{2}(?:[T ]${CLOCK})?(?: ?(?:Z|[+-]\\d{2}:?\\d{2}))?`, 'g'), 'TIME'],
  [new RegExp(`\\b${DAY}${MONTH} {1,2}\\d{1,2}(?:,? \\d{4}|,? ${CLOCK}){0,2}\\b`, 'g'), 'TIME'],
  [new RegExp(`\\b${DAY}\\d{1,2} ${MONTH} \\d{4}\\b`, 'g'), 'TIME'],
  [/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?: ?[AP]M)?\b/g, 'TIME'],
  [/\b(?:\d+m ?)?\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|min|minutes?)\b/g, 'TIME'],
  // Milliseconds since 1970, for the years 2020 to 2033, which some clients put into ids.
  [/(?<!\d)1[6-9]\d{11}(?!\d)/g, 'TIME'],
  // Codex gives the output of each command a random name.
  [/\bChunk ID: [0-9a-f]+/g, 'CHUNK'],
  [/\bduration_ms["\\:]* ?\d+(?:\.\d+)?/g, 'TIME'],
];

/**
 * SHA-256, in hex, of what a call asks: provider, model, path and the whole conversation, without what its client
 * varies from one start to the next.
 */
function questionOf({ provider, model, endpoint, body }: AdmittedCall): string {
  const asked = Object.fromEntries(Object.entries(body).filter(([name]) => !ABOUT_THE_CLIENT.has(name)));
  const text = JSON.stringify([provider, model, endpoint.path, endpoint.query, asked], steady);
  return createHash('sha256').update(text).digest('hex');
}

/** Objects with sorted keys, texts without random parts. */
function steady(_key: string, value: unknown): unknown {
  if (typeof value === 'string')
    return CHANCE.reduce((kept, [chance, word]) => kept.replaceAll(chance, word), value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
