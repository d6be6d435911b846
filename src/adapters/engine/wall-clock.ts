import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { wfQueueRunner } from '@dbos-inc/dbos-sdk/internal/wfqueue';
import type { Log } from '../../ports/index.ts';

/** Milliseconds between two looks, and how far back a step must go to count: a slower clock is no step. Our defaults. */
const LOOK_EVERY_MS = 1_000;
const STEP_MS = 3_000;

/**
 * DBOS plans its looks at the queues by the wall clock: set back by an hour, it would take nothing from them for an hour.
 * When the clock is set back, its loop is started anew. The imports are internal, so that DBOS is pinned exactly.
 */
export function watchWallClock(queues: readonly string[], log: Log): { stop(): Promise<void> } {
  const offset = (): number => Date.now() - performance.now();
  let last = offset();
  let working: Promise<void> = Promise.resolve();
  let dispatching: Promise<void> = Promise.resolve();

  async function restart(): Promise<void> {
    const executor = DBOSExecutor.globalInstance;
    if (executor === undefined) return;
    // Ends the loop and waits for what it has just taken.
    await executor.deactivateEventReceivers();
    await dispatching;
    dispatching = wfQueueRunner.dispatchLoop(executor, [...queues]);
    dispatching.catch((error: unknown) =>
      log.error({ err: error }, 'The engine stopped polling its queues. Restart Runoff.'),
    );
  }

  const timer = setInterval(() => {
    const now = offset();
    const back = last - now;
    last = now;
    if (back < STEP_MS) return;
    log.warn({ backMs: Math.round(back) }, 'The clock was set back; polling of the queues is started again.');
    working = working.then(restart).catch((error: unknown) => {
      log.error(
        { err: error },
        'Polling of the queues could not be started again after the clock was set back. Restart Runoff.',
      );
    });
  }, LOOK_EVERY_MS);
  timer.unref();

  return {
    async stop() {
      clearInterval(timer);
      await working;
      wfQueueRunner.stop();
      await dispatching.catch(() => undefined);
    },
  };
}
