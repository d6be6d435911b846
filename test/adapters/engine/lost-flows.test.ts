import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import type pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchLostFlows } from '../../../src/adapters/engine/lost-flows.ts';
import { silent } from '../../world/silent-log.ts';

const LOOK_MS = 20_000;
const OUTAGE_MS = 600_000;
const executor = DBOSExecutor.globalInstance;

beforeEach(() => {
  vi.useFakeTimers();
  // No flow of the database runs in this process.
  DBOSExecutor.globalInstance = {
    systemDatabase: { checkForRunningWorkflow: () => false },
  } as unknown as DBOSExecutor;
});
afterEach(() => {
  vi.useRealTimers();
  DBOSExecutor.globalInstance = executor;
});

/** Watches a database that answers nothing for a while, and then has one flow of this process. */
function watch(silentMs: number, putBack: readonly string[]) {
  const asked: ('looked' | 'put back')[] = [];
  const warned: unknown[] = [];
  const back = new Promise((resolve) => setTimeout(resolve, silentMs));
  const query = async (sql: string) => {
    await back;
    const isLook = sql.startsWith('select');
    asked.push(isLook ? 'looked' : 'put back');
    return { rows: isLook ? [{ id: 'r1', owner: 'claim' }] : putBack.map((id) => ({ id })) };
  };
  const watching = watchLostFlows({ query } as unknown as pg.Pool, {
    executorId: 'box-1',
    mayClaim: () => true,
    log: { ...silent, warn: (fields) => void warned.push(fields) },
  });
  return { asked, warned, stop: watching.stop };
}

test('after minutes without an answer, a flow is lost no sooner than after three looks at their usual distance', async () => {
  const { asked, warned, stop } = watch(OUTAGE_MS, ['r1']);
  await vi.advanceTimersByTimeAsync(OUTAGE_MS);
  expect(asked).toEqual(['looked']);
  await vi.advanceTimersByTimeAsync(LOOK_MS);
  expect(asked).toEqual(['looked', 'looked']);
  await vi.advanceTimersByTimeAsync(LOOK_MS);
  expect(asked).toEqual(['looked', 'looked', 'looked', 'put back']);
  expect(warned).toEqual([{ flows: ['r1'] }]);
  stop();
  await vi.advanceTimersByTimeAsync(10 * LOOK_MS);
  expect(asked).toHaveLength(4);
});

test('nothing is said of a flow that somebody else took in the meantime', async () => {
  const { asked, warned, stop } = watch(0, []);
  await vi.advanceTimersByTimeAsync(3 * LOOK_MS);
  stop();
  expect(asked).toContain('put back');
  expect(warned).toEqual([]);
});
