import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { asFault, Fault } from '../../core/model/index.ts';
import type { Clock, Executors, Fence, Log } from '../../ports/index.ts';

export interface Heartbeat {
  /** From now on this process can take over the work of others. */
  launched(): void;
  stop(): Promise<void>;
}

/**
 * Sends the heartbeats of this executor, even before it has launched. After the launch, expires executors whose
 * heartbeats have stopped. DBOS itself resumes only the flows of an executor that returns under its own name. Executors
 * that never joined never expire: a run of the command line belongs to its own process.
 */
export function startHeartbeat(fence: OwnFence, log: Log): Heartbeat {
  const { everyMs, staleMs } = fence.heartbeat;
  let last = Promise.resolve();
  let hasLaunched = false;
  // A process that could not reach the database for a while has not seen the heartbeats of others either.
  let quietSince: number | null = null;

  let lastTurn = { now: Date.now(), elapsed: performance.now() };

  /** After a machine has slept, all its processes wake: each needs time to send a heartbeat. */
  function hasSlept(): boolean {
    const before = lastTurn;
    lastTurn = { now: Date.now(), elapsed: performance.now() };
    return Math.max(lastTurn.now - before.now, lastTurn.elapsed - before.elapsed) > everyMs + staleMs / 2;
  }

  async function turn(): Promise<void> {
    if (hasSlept()) quietSince = performance.now();
    try {
      await fence.beat();
    } catch (thrown) {
      quietSince = performance.now();
      throw thrown;
    }
    if (!hasLaunched || fence.isExpired()) return;
    if (quietSince !== null && performance.now() - quietSince < staleMs) return;
    quietSince = null;
    await expireOthers(fence, staleMs, log);
  }

  const takeTurn = () => {
    last = last
      .then(turn)
      .catch((error: Error) => log.warn({ why: error.message }, 'The heartbeat could not be written.'));
  };
  takeTurn();
  const timer = setInterval(takeTurn, everyMs);
  return {
    launched() {
      hasLaunched = true;
      takeTurn();
    },
    async stop() {
      clearInterval(timer);
      await last;
    },
  };
}

async function expireOthers({ executors }: OwnFence, staleMs: number, log: Log): Promise<void> {
  const flows: string[] = [];
  const gone = await executors.expire(staleMs, async (ids) => {
    const handles = (await DBOSExecutor.globalInstance?.recoverPendingWorkflows([...ids])) ?? [];
    flows.push(...handles.map((handle) => handle.workflowID));
  });
  // An executor that ended properly left no unfinished flows.
  if (flows.length === 0) return;
  log.warn({ gone, flows }, 'Executors sent no heartbeat. Their flows continue in other processes.');
}

export interface HeartbeatOptions {
  /** Milliseconds between two heartbeats; default 10 000. */
  readonly everyMs: number;
  /** Milliseconds without a heartbeat after which an executor expires; default 60 000. */
  readonly staleMs: number;
}

const DEFAULT_HEARTBEAT: HeartbeatOptions = { everyMs: 10_000, staleMs: 60_000 };

/**
 * Share of the time before others take over that is reserved for calls that have passed the fence. Our default: a
 * quarter.
 */
const TAKEOVER_MARGIN = 0.25;

interface FenceOptions {
  readonly executors: Executors;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly log: Log;
  /** Default: see the type. */
  readonly heartbeat?: HeartbeatOptions | undefined;
  /** Called once, when this process has expired: it must end. */
  readonly onExpired: () => void;
}

/** Knows how long ago the last heartbeat of this process was. */
export interface OwnFence extends Fence {
  readonly executors: Executors;
  readonly heartbeat: HeartbeatOptions;
  /** Sends a heartbeat. Rejects with DATABASE_UNAVAILABLE. */
  beat(): Promise<void>;
  /** Whether the last heartbeat is so recent that no process can have taken over. Does not ask the database. */
  isFresh(): boolean;
  isExpired(): boolean;
}

/**
 * The fence of one process. It uses two clocks: the wall clock runs while the machine sleeps but can be set; the
 * monotonic clock cannot be set but stops. If the last heartbeat is old by either clock, the database decides.
 */
export function openFence(options: FenceOptions): OwnFence {
  const { executors, clock, log, onExpired, heartbeat = DEFAULT_HEARTBEAT } = options;
  const freshMs = heartbeat.staleMs * (1 - TAKEOVER_MARGIN);
  const moment = () => ({ now: clock.now(), elapsed: clock.elapsed() });
  let last: ReturnType<typeof moment> | null = null;
  let expired = false;
  let beating: Promise<void> | null = null;

  async function beatOnce(): Promise<void> {
    // The time of the start: the database records a later one.
    const at = moment();
    if ((await executors.beat()) === 'alive') {
      last = at;
      return;
    }
    if (expired) return;
    expired = true;
    log.error({}, 'This process sent no heartbeat, so others have taken over its work. It ends.');
    onExpired();
  }

  function beat(): Promise<void> {
    beating ??= beatOnce().finally(() => {
      beating = null;
    });
    return beating;
  }

  function isFresh(): boolean {
    if (expired || last === null) return false;
    // If the wall clock was set back, only the monotonic clock detects an old heartbeat.
    return clock.elapsed() - last.elapsed < freshMs && clock.now() - last.now < freshMs;
  }

  return {
    executors,
    heartbeat,
    beat,
    isFresh,
    isExpired: () => expired,
    async check() {
      // The answer to a heartbeat may have been read long after it was sent; then another one is sent.
      for (let beats = 0; beats < MAX_BEATS && !isFresh() && !expired; beats += 1) await beat();
      if (!expired && !isFresh()) {
        throw new Fault('DATABASE_UNAVAILABLE', 'The database takes too long to record a heartbeat.');
      }
      if (expired) throw new Fault('EXECUTOR_EXPIRED', 'Others have taken over the work of this process.');
    },
  };
}

/** Maximum number of heartbeats until one is answered in time. */
const MAX_BEATS = 3;

/** Milliseconds between two checks whether a step is still ours. Our default. */
const FENCE_RETRY_MS = 1_000;

/** Whether a step's result may be stored; waits while the database cannot decide. */
export async function ownsWork(fence: Fence, sleep: (ms: number) => Promise<unknown>): Promise<boolean> {
  for (;;) {
    try {
      await fence.check();
      return true;
    } catch (thrown) {
      if (asFault(thrown).code === 'EXECUTOR_EXPIRED') return false;
      await sleep(FENCE_RETRY_MS);
    }
  }
}
