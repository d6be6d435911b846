import { isOver } from '../lifecycle/index.ts';
import type { RunState } from '../model/index.ts';

/** How long something has not been used. */
export interface Unused {
  readonly ms: number;
  /** In words: `two weeks`. */
  readonly said: string;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Checkouts, installed dependencies and mirrors go after it in any case. Our default. */
export const LONG_UNUSED: Unused = { ms: 14 * DAY, said: 'two weeks' };

/** What goes while a quota is exceeded, step by step. Our defaults; the last keeps what a stage has just prepared. */
const NEARER: readonly Unused[] = [
  LONG_UNUSED,
  { ms: 3 * DAY, said: 'three days' },
  { ms: DAY, said: 'a day' },
  { ms: 6 * HOUR, said: 'six hours' },
  { ms: 10 * MINUTE, said: 'ten minutes' },
];

export type QuotaStep =
  | { readonly kind: 'fits' }
  /** Remove what was not used for so long, and measure again. */
  | { readonly kind: 'prune'; readonly unused: Unused }
  /** There is nothing more to remove: no further run may begin. */
  | { readonly kind: 'full'; readonly why: string };

/** What to do about a folder. `used` and `most`: bytes; `pruned`: how many steps were taken since it was found too big. */
export function quotaStep(used: number, most: number, pruned: number): QuotaStep {
  if (used <= most) return { kind: 'fits' };
  const unused = NEARER[pruned];
  if (unused) return { kind: 'prune', unused };
  return {
    kind: 'full',
    why: `The data folder of this machine has reached MAX_DISK (${sized(used)} of ${sized(most)}); no run begins until runs end, or its operator makes room or raises it.`,
  };
}

const sized = (bytes: number): string =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;

interface AtWork {
  readonly state: RunState;
  /** Milliseconds since 1970 UTC. */
  readonly stages: readonly { readonly startedAt: number }[];
}

const PREPARES_AGAIN: ReadonlySet<RunState> = new Set(['queued', 'awaiting_answer', 'awaiting_approval']);

/**
 * Since when runs at work hold what they prepared, milliseconds since 1970 UTC; infinity where none is at work. A stage
 * prepares what it needs anew, and then opens areas on it for hours, with times between in which no area stands on it.
 */
export const heldSince = (runs: readonly AtWork[]): number =>
  Math.min(
    ...runs
      .filter(({ state }) => !isOver(state) && !PREPARES_AGAIN.has(state))
      .map(({ stages }) => Math.max(0, ...stages.map(({ startedAt }) => startedAt))),
  );
