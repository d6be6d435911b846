import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import type { Log } from '../../ports/index.ts';
import type { OwnFence } from './fence.ts';

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
