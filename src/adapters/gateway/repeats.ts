import type { IncomingHttpHeaders } from 'node:http';

/** Calls to a provider for one question at most. Our default. */
export const MOST_TRIES = 3;
/** Milliseconds: the first wait is up to the first number, each further one up to twice as long, none over the second. Our defaults. */
const WAIT = { first: 1_000, most: 20_000 } as const;
/** Milliseconds that a provider may have us wait; who asks for more gets no further call. Our default. */
const MOST_ASKED_MS = 60_000;

/** Nothing was done, or may be asked for once more: too early, in conflict, too many, or the provider's own fault. */
export const passing = (status: number): boolean => [408, 409, 425, 429].includes(status) || status >= 500;

/**
 * Milliseconds before the next try; null where there is none. Where the provider does not say how long, it is drawn evenly
 * from below a limit that doubles ("full jitter", AWS Architecture Blog, "Exponential Backoff and Jitter"), so that many
 * that were refused together do not come back together.
 */
export function waitAfter(
  tries: number,
  asked: number | null,
  chance: () => number = Math.random,
): number | null {
  if (tries >= MOST_TRIES) return null;
  if (asked !== null) return asked <= MOST_ASKED_MS ? asked : null;
  return chance() * Math.min(WAIT.most, WAIT.first * 2 ** (tries - 1));
}

/** Milliseconds that an answer asks to be left alone for; null where it does not say. `now`: milliseconds since 1970. */
export function askedToWait(headers: IncomingHttpHeaders, now: number): number | null {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const after = headers['retry-after'];
  if (after === undefined) return null;
  const seconds = Number(after);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(after) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : null;
}
