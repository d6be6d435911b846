import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { asFault, Fault } from '../../core/model/index.ts';
import type { Clock, Executors, Fence, Log } from '../../ports/index.ts';

export interface Heartbeat {
  /** From now on this process can take over what others left. */
  launched(): void;
  stop(): Promise<void>;
}

/**
 * Signs of life of this executor, also while it waits to be launched, and then the search for those that stopped giving them. DBOS itself only takes up the
 * flows of an executor that comes back under its own name. Executors that never joined are never looked for: a run of
 * the command line belongs to its own process.
 */
export function startHeartbeat(fence: OwnFence, log: Log): Heartbeat {
  const { everyMs, staleMs } = fence.heartbeat;
  let last = Promise.resolve();
  let mayBury = false;
  // Whoever could not be heard for a while may not have heard the others either.
  let quietSince: number | null = null;

  let turned = { now: Date.now(), elapsed: performance.now() };

  /** A machine that slept wakes with all its processes: each must have the time to say that it lives. */
  function overslept(): boolean {
    const before = turned;
    turned = { now: Date.now(), elapsed: performance.now() };
    return Math.max(turned.now - before.now, turned.elapsed - before.elapsed) > everyMs + staleMs / 2;
  }

  async function turn(): Promise<void> {
    if (overslept()) quietSince = performance.now();
    try {
      await fence.beat();
    } catch (thrown) {
      quietSince = performance.now();
      throw thrown;
    }
    if (!mayBury || fence.isGivenUp()) return;
    if (quietSince !== null && performance.now() - quietSince < staleMs) return;
    quietSince = null;
    await buryOthers(fence, staleMs, log);
  }

  const beatAndLook = () => {
    last = last
      .then(turn)
      .catch((error: Error) => log.warn({ why: error.message }, 'A sign of life could not be written.'));
  };
  beatAndLook();
  const timer = setInterval(beatAndLook, everyMs);
  return {
    launched() {
      mayBury = true;
      beatAndLook();
    },
    async stop() {
      clearInterval(timer);
      await last;
    },
  };
}

async function buryOthers({ executors }: OwnFence, staleMs: number, log: Log): Promise<void> {
  const flows: string[] = [];
  const gone = await executors.bury(staleMs, async (ids) => {
    const handles = (await DBOSExecutor.globalInstance?.recoverPendingWorkflows([...ids])) ?? [];
    flows.push(...handles.map((handle) => handle.workflowID));
  });
  // Whoever ended properly and left nothing is no news.
  if (flows.length === 0) return;
  log.warn({ gone, flows }, 'Executors gave no sign of life; their flows go on elsewhere.');
}

export interface HeartbeatOptions {
  /** Milliseconds between two signs of life; default 10 000. */
  readonly everyMs: number;
  /** Milliseconds without a sign of life after which an executor counts as gone for good; default 60 000. */
  readonly staleMs: number;
}

export const HEARTBEAT: HeartbeatOptions = { everyMs: 10_000, staleMs: 60_000 };

/** Of the time until others take over, as much is left for what was let through. Our default: a quarter. */
const MARGIN = 0.25;

export interface FenceOptions {
  readonly executors: Executors;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly log: Log;
  /** See the type for the defaults. */
  readonly heartbeat?: HeartbeatOptions | undefined;
  /** Called once, when others have taken over: the process must end. */
  readonly onGivenUp: () => void;
}

/** Knows how long ago the last sign of life of this process was. */
export interface OwnFence extends Fence {
  readonly executors: Executors;
  readonly heartbeat: HeartbeatOptions;
  /** Gives a sign of life. Rejects with DATABASE_UNAVAILABLE. */
  beat(): Promise<void>;
  /** The last sign of life is so fresh that nobody can have taken over. Asks nobody. */
  isFresh(): boolean;
  isGivenUp(): boolean;
}

/**
 * The fence of one process. Both clocks count: one goes on while the machine sleeps and can be set, the other stands still
 * while it sleeps and cannot. Where either says that it is long ago, the database decides.
 */
export function openFence(options: FenceOptions): OwnFence {
  const { executors, clock, log, onGivenUp, heartbeat = HEARTBEAT } = options;
  const freshMs = heartbeat.staleMs * (1 - MARGIN);
  const moment = () => ({ now: clock.now(), elapsed: clock.elapsed() });
  let last: ReturnType<typeof moment> | null = null;
  let isGivenUp = false;
  let beating: Promise<void> | null = null;

  async function beatOnce(): Promise<void> {
    // Of its beginning: the database notes a later one.
    const at = moment();
    if ((await executors.beat()) === 'alive') {
      last = at;
      return;
    }
    if (isGivenUp) return;
    isGivenUp = true;
    log.error({}, 'Others have taken over the work of this process, which gave no sign of life; it ends.');
    onGivenUp();
  }

  function beat(): Promise<void> {
    beating ??= beatOnce().finally(() => {
      beating = null;
    });
    return beating;
  }

  function isFresh(): boolean {
    if (isGivenUp || last === null) return false;
    // Set back, a clock says nothing: the other one does.
    return clock.elapsed() - last.elapsed < freshMs && clock.now() - last.now < freshMs;
  }

  return {
    executors,
    heartbeat,
    beat,
    isFresh,
    isGivenUp: () => isGivenUp,
    async check() {
      // The answer to a beat that was under way may have been read long after it was given: then it is asked again.
      for (let looks = 0; looks < MOST_LOOKS && !isFresh() && !isGivenUp; looks += 1) await beat();
      if (!isGivenUp && !isFresh()) {
        throw new Fault('DATABASE_UNAVAILABLE', 'The database takes too long to take a sign of life.');
      }
      if (isGivenUp) throw new Fault('GIVEN_UP', 'Others have taken over the work of this process.');
    },
  };
}

/** Beats until one is answered in time. */
const MOST_LOOKS = 3;

/** Milliseconds between two tries to learn whether a step is still ours. Our default. */
const ASK_AGAIN_MS = 1_000;

/** Whether what a step brought may be kept; waits while the database cannot tell. */
export async function isOurs(fence: Fence, sleep: (ms: number) => Promise<unknown>): Promise<boolean> {
  for (;;) {
    try {
      await fence.check();
      return true;
    } catch (thrown) {
      if (asFault(thrown).code === 'GIVEN_UP') return false;
      await sleep(ASK_AGAIN_MS);
    }
  }
}
