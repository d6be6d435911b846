import { Mutex } from 'async-mutex';
import { z } from 'zod';
import { Fault } from '../../core/model/index.ts';
import type { Fence } from '../../ports/index.ts';

const MAX_WORDS = 400;
const TOKEN_PATTERN = /\b(?:gh[a-z]_\w+|github_pat_\w+|v1\.[0-9a-f]{40}|eyJ[\w-]+\.[\w-]+\.[\w-]+)/g;

/** The text on one line, shortened, and without anything that looks like a GitHub token. */
export const redacted = (text: string): string =>
  text.replace(TOKEN_PATTERN, '[token]').replace(/\s+/g, ' ').trim().slice(0, MAX_WORDS);

const HttpError = z.object({
  message: z.string(),
  status: z.number(),
  response: z
    .object({
      headers: z.record(z.string(), z.unknown()).default({}),
      data: z.unknown(),
    })
    .optional(),
});
type HttpError = z.infer<typeof HttpError>;

/** Errors of the GraphQL client, whose status is success. */
const GraphQlError = z.object({
  name: z.literal('GraphqlResponseError'),
  errors: z.array(z.object({ type: z.string().optional(), message: z.string() })).min(1),
});

/** HTTP statuses of redirects. */
export const MOVED: readonly number[] = [301, 302, 307, 308];
/** HTTP statuses of what is not there: it never was, was deleted, or was moved. */
export const GONE: readonly number[] = [404, 410, ...MOVED];

/** A redirect to another address. It is not followed: the caller determines what it means. */
export class Moved extends Error {
  readonly status: number;
  readonly response: { readonly headers: Readonly<Record<string, unknown>>; readonly data: unknown };
  constructor(response: { readonly status: number; readonly headers: object; readonly data: unknown }) {
    super('It has another address now.');
    this.name = 'Moved';
    this.status = response.status;
    this.response = { headers: { ...response.headers }, data: response.data };
  }
}

const RefusalBody = z.object({
  message: z.string(),
  errors: z
    .array(z.union([z.string(), z.object({ message: z.string() }), z.object({ code: z.string() })]))
    .optional()
    .catch(undefined),
});

/** The HTTP status of a client error; undefined if there was no response. */
export function statusOf(error: unknown): number | undefined {
  const parsed = HttpError.safeParse(error);
  return parsed.success && parsed.data.response ? parsed.data.status : undefined;
}

/** Null if the call is refused with one of these statuses, which its caller expects. */
export async function unless<T>(
  statuses: number | readonly number[],
  call: () => Promise<T>,
): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    const status = statusOf(error);
    if (status !== undefined && [statuses].flat().includes(status)) return null;
    throw error;
  }
}

/**
 * When GitHub's rate limit ends, in milliseconds since 1970; null if the error is another one. If GitHub names no time,
 * its REST documentation on rate limits asks to wait a minute.
 */
function limitedUntil(error: unknown, now: number): number | null {
  const graph = GraphQlError.safeParse(error);
  if (graph.success)
    return graph.data.errors.some(({ type }) => type === 'RATE_LIMITED') ? now + 60_000 : null;
  const parsed = HttpError.safeParse(error);
  if (!parsed.success) return null;
  const { status, message, response } = parsed.data;
  if ((status !== 403 && status !== 429) || !response) return null;
  const after = Number(response.headers['retry-after']);
  if (Number.isFinite(after) && after > 0) return now + after * 1000;
  const reset = Number(response.headers['x-ratelimit-reset']);
  if (String(response.headers['x-ratelimit-remaining']) === '0' && Number.isFinite(reset)) {
    // By GitHub's clock: this machine's may be wrong, which would cause a wait of an hour or none.
    const sent = Date.parse(String(response.headers.date));
    return Number.isFinite(sent) ? now + reset * 1000 - sent : reset * 1000;
  }
  return status === 429 || /rate limit/i.test(message) ? now + 60_000 : null;
}

/** The fault behind an error of a call. `doing` completes "GitHub … while we tried to …". */
function toFault(error: unknown, doing: string, now: number): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    const where = issue ? ` (${issue.path.join('.') || 'answer'}: ${issue.message})` : '';
    return unavailable(`GitHub answered in an unexpected form when asked to ${doing}${where}.`);
  }
  const until = limitedUntil(error, now);
  if (until !== null) return limited(doing, until);
  const graph = GraphQlError.safeParse(error);
  if (graph.success) {
    const messages = graph.data.errors.map(({ message }) => message).join('; ');
    return new Fault('GITHUB_REFUSED', redacted(`GitHub refused to ${doing}: ${messages}`));
  }
  const parsed = HttpError.safeParse(error);
  if (!parsed.success) {
    const message = error instanceof Error ? error.message : String(error);
    return new Fault('INTERNAL', redacted(`Could not ${doing}: ${message}`));
  }
  return httpFault(parsed.data, doing);
}

function httpFault({ status, message, response }: HttpError, doing: string): Fault {
  if (!response) return unavailable(`GitHub did not answer when asked to ${doing}: ${message}.`);
  if (status >= 500 || status === 408) {
    return unavailable(`GitHub answered ${status} when asked to ${doing}.`);
  }
  // Says something about the token, or about GitHub's check of tokens, and nothing about what was asked.
  if (status === 401)
    return unavailable(`GitHub answered 401 when asked to ${doing}: ${words(response.data)}`);
  return new Fault(
    'GITHUB_REFUSED',
    redacted(`GitHub refused to ${doing} (${status}): ${words(response.data)}`),
  );
}

/** GitHub's own message, without links to its documentation. */
function words(data: unknown): string {
  const parsed = RefusalBody.safeParse(data);
  if (!parsed.success) return 'no reason given.';
  const details = (parsed.data.errors ?? []).map((detail) => {
    if (typeof detail === 'string') return detail;
    return 'message' in detail ? detail.message : detail.code;
  });
  return [parsed.data.message, ...details].join('; ');
}

const limited = (doing: string, until: number): Fault =>
  unavailable(
    `GitHub's rate limit is reached, so Runoff could not ${doing}. Try again after ${new Date(until).toISOString()}.`,
  );

/** Runoff's own limit is reached before GitHub's. */
const spent = (doing: string, until: number): Fault =>
  unavailable(
    `The App has reached GitHub's limit for writes, so Runoff did not ${doing}. Try again after ${new Date(until).toISOString()}.`,
  );

const unavailable = (message: string): Fault => new Fault('GITHUB_UNAVAILABLE', redacted(message));

/**
 * Limits on an installation's writes. GitHub documents at most 80 a minute and 500 an hour that create content, and
 * asks for a second between any two (docs.github.com, "Rate limits for the REST API"). All writes are counted, with a
 * margin of a fifth to a quarter, because a restarted process does not know earlier writes.
 */
export const PACE = { perMinute: 60, perHour: 400, gapMs: 1000, reserved: 100 } as const;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Waits that take longer are reported instead. */
const MAX_WAIT_MS = MINUTE_MS;

/**
 * When the next write may be sent. `sent` holds the times of earlier ones, oldest first. One that `yields` leaves the
 * hour's last writes to others. All times in milliseconds by one clock.
 */
export function nextTurn(sent: readonly number[], yields: boolean): number {
  const perHour = PACE.perHour - (yields ? PACE.reserved : 0);
  return Math.max(
    (sent.at(-1) ?? Number.NEGATIVE_INFINITY) + PACE.gapMs,
    freed(sent, PACE.perMinute, MINUTE_MS),
    freed(sent, perHour, HOUR_MS),
  );
}

/** Time at which one more call stays within `most` per window. */
const freed = (sent: readonly number[], most: number, windowMs: number): number =>
  (sent.at(-most) ?? Number.NEGATIVE_INFINITY) + windowMs;

/** Rate limiter of one installation: GitHub's requested waits, and the writes of the last hour. */
export interface Pace {
  /** Runs a call; errors become faults. Rate limits that it encounters are recorded. */
  run<T>(doing: string, call: () => Promise<T>): Promise<T>;
  /**
   * Runs writes one after another when their turn comes; rejects if that would take over a minute, so that the caller
   * decides how to wait. `yields`: a write that can be skipped, which rejects when few writes are left in the hour.
   */
  write<T>(doing: string, call: () => Promise<T>, yields?: boolean): Promise<T>;
}

export interface PaceParts {
  /** Milliseconds since 1970, compared with GitHub's timestamps. */
  now(): number;
  /** Monotonic milliseconds, for send times and waits. */
  elapsed(): number;
  sleep(ms: number): Promise<unknown>;
  /** False: only waits requested by GitHub are observed. */
  readonly spaced: boolean;
  /** Asked right before a write is sent. */
  readonly fence?: Fence | undefined;
}

export function openPace({ now, elapsed, sleep, spaced, fence }: PaceParts): Pace {
  let until = Number.NEGATIVE_INFINITY;
  let sent: readonly number[] = [];
  const writes = new Mutex();

  const run: Pace['run'] = async (doing, call) => {
    try {
      return await call();
    } catch (error) {
      const free = limitedUntil(error, now());
      if (free !== null) until = Math.max(until, elapsed() + free - now());
      throw toFault(error, doing, now());
    }
  };
  async function turn(doing: string, yields: boolean): Promise<void> {
    const at = (): number => Math.max(until, spaced ? nextTurn(sent, yields) : Number.NEGATIVE_INFINITY);
    const onTheWall = (moment: number): number => now() + moment - elapsed();
    const wait = at() - elapsed();
    if (until - elapsed() > MAX_WAIT_MS) throw limited(doing, onTheWall(until));
    const late = yields && nextTurn(sent, true) > nextTurn(sent, false);
    if (spaced && (late || wait > MAX_WAIT_MS)) throw spent(doing, onTheWall(at()));
    // Timers may fire a little early.
    for (let left = wait; left > 0; left = at() - elapsed()) await sleep(left);
    sent = [...sent.filter((time) => elapsed() - time < HOUR_MS), elapsed()];
  }
  return {
    run,
    write: (doing, call, yields = false) => {
      const inTurn = async () => {
        await turn(doing, yields);
        await fence?.check();
        return run(doing, call);
      };
      return spaced ? writes.runExclusive(inTurn) : inTurn();
    },
  };
}
