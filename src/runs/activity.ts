import type { ActivityStep, ChecksView } from '../core/reports/index.ts';
import type { RunRecord } from '../ports/index.ts';
import type { World } from './context.ts';

/**
 * Stores what `work` is executing, for whoever watches the run. A display must not stop a run: `onStep` never rejects
 * or waits, and a step is not stored if the next one begins before. When this settles, nothing is being stored any
 * more. `checks`: the run's, without a step, for the caller to store with its result.
 */
export async function recordActivity<T>(
  { announcer, clock, log, store }: Pick<World, 'announcer' | 'clock' | 'log' | 'store'>,
  { id, checks: { step: _left, ...checks } = {} }: Pick<RunRecord, 'id' | 'checks'>,
  work: (onStep: (step: ActivityStep) => void) => Promise<T>,
): Promise<{ readonly result: T; readonly checks: ChecksView }> {
  let next: ChecksView['step'];
  let writing: Promise<void> | null = null;
  const write = async (): Promise<void> => {
    while (next !== undefined) {
      const step = next;
      next = undefined;
      try {
        await store.updateRun(id, { checks: { ...checks, step } }, step.since);
        announcer.soon(id);
      } catch (thrown) {
        log.warn({ err: thrown, run: id }, 'a step could not be stored');
      }
    }
    writing = null;
  };
  const onStep = (step: ActivityStep): void => {
    if (!('done' in step) || step.done === 0) log.info({ run: id, step }, 'a step begins');
    next = { ...step, since: clock.now() };
    writing ??= write();
  };
  try {
    return { result: await work(onStep), checks };
  } finally {
    next = undefined;
    await writing;
  }
}
