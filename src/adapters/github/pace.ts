import type { Fence } from '../../ports/index.ts';
import { limited, limitedUntil, spent, toFault } from './faults.ts';

/**
 * How many writes an installation makes. GitHub documents at most 80 a minute and 500 an hour that create content, and
 * asks for a second between any two (docs.github.com, "Rate limits for the REST API"). We count every write, and stay a
 * fifth to a quarter below: what a process sent before it was restarted is not known to the next one.
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

/** When one more makes no more than `most` within a window. */
const freed = (sent: readonly number[], most: number, windowMs: number): number =>
  (sent.at(-most) ?? Number.NEGATIVE_INFINITY) + windowMs;

/** The pace of one installation: what GitHub asked us to wait for, and what we wrote in the last hour. */
export interface Pace {
  /** Runs a call; what it throws becomes a fault. A limit that it meets is remembered. */
  run<T>(doing: string, call: () => Promise<T>): Promise<T>;
  /**
   * Runs a write when its turn has come, one after the other; rejects where that would take over a minute, so that
   * the wait is the caller's to keep. `yields`: can be done without for now, and rejects when the hour's writes run low.
   */
  write<T>(doing: string, call: () => Promise<T>, yields?: boolean): Promise<T>;
}

export interface PaceParts {
  /** Milliseconds since 1970, to read what GitHub says. */
  now(): number;
  /** Milliseconds by a clock that never jumps: what was sent when, and how long we wait. */
  elapsed(): number;
  sleep(ms: number): Promise<unknown>;
  /** False: only what GitHub itself asks to wait for is waited for. */
  readonly spaced: boolean;
  /** Asked right before a write is sent. */
  readonly fence?: Fence | undefined;
}

export function openPace({ now, elapsed, sleep, spaced, fence }: PaceParts): Pace {
  let until = Number.NEGATIVE_INFINITY;
  let sent: readonly number[] = [];
  let last: Promise<unknown> = Promise.resolve();

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
      if (!spaced) return inTurn();
      const mine = last.then(inTurn, inTurn);
      last = mine;
      return mine;
    },
  };
}
