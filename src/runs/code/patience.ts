import { moreSilence, moreTime, type Times } from '../../core/policy/index.ts';
import type { Clock, ExecSpec, Lease } from '../../ports/index.ts';

/** Steps that are remembered to tell something new from a repetition. Our default, tune on dev data. */
const REMEMBERED = 20;

export interface Patience {
  /** The coder did something. */
  step(text: string): void;
  /** What the sandbox asks when a time is over. */
  readonly onLimit: NonNullable<ExecSpec['onLimit']>;
}

/** Watches one coder from its start on: does it get anywhere, and is it alive? */
export function patienceFor(
  clock: Pick<Clock, 'elapsed'>,
  lease: Pick<Lease, 'lastActivity'>,
  times: Times,
): Patience {
  const startedAt = clock.elapsed();
  const seen: string[] = [];
  // To have been started is no progress, however short the wall time is.
  let progressAt = Number.NEGATIVE_INFINITY;
  return {
    step(text) {
      if (seen.includes(text)) return;
      seen.push(text);
      if (seen.length > REMEMBERED) seen.shift();
      progressAt = clock.elapsed();
    },
    onLimit(limit) {
      const now = clock.elapsed();
      if (limit === 'wall') {
        return moreTime(times, { elapsedMs: now - startedAt, sinceProgressMs: now - progressAt });
      }
      return moreSilence(times, now - (lease.lastActivity() ?? startedAt));
    },
  };
}
