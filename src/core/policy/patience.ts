/** How much longer than its wall time a coder may take while it makes progress. Our default, tune on dev data. */
const MOST_STRETCH = 1.5;
/** Share of the wall time that is added each time. Our default. */
const STEP = 1 / 4;

/** The times of one coder, milliseconds. */
export interface Times {
  readonly wallMs: number;
  readonly silenceMs: number;
  /** The longest it may take, extensions included. */
  readonly mostMs: number;
}

/** `ceilingSeconds`: what the operator allows a coder at most. */
export function timesOf(
  timeout: { readonly candidate: number; readonly silence: number; readonly extendWhileProgressing: boolean },
  ceilingSeconds: number,
): Times {
  const wall = timeout.candidate;
  const most = timeout.extendWhileProgressing
    ? Math.min(wall * MOST_STRETCH, Math.max(wall, ceilingSeconds))
    : wall;
  return { wallMs: wall * 1000, silenceMs: timeout.silence * 1000, mostMs: Math.floor(most * 1000) };
}

/** The same, for a coder whose run may work for `leftMs` milliseconds more. */
export const timesWithin = (times: Times, leftMs: number): Times => ({
  ...times,
  wallMs: Math.min(times.wallMs, leftMs),
  mostMs: Math.min(times.mostMs, leftMs),
});

/**
 * Milliseconds that a coder gets when its wall time is over; 0 when it has to stop. It must have done something new
 * within the time that counts as silence: one that repeats itself makes no progress.
 */
export function moreTime(
  times: Times,
  now: { readonly elapsedMs: number; readonly sinceProgressMs: number },
): number {
  if (now.sinceProgressMs > times.silenceMs) return 0;
  return Math.max(0, Math.min(times.wallMs * STEP, times.mostMs - now.elapsedMs));
}

/** Milliseconds that a coder may still be silent; 0 when it has to stop. A model that answers it counts as a sign of life. */
export function moreSilence(times: Times, sinceActivityMs: number): number {
  return Math.max(0, times.silenceMs - sinceActivityMs);
}
