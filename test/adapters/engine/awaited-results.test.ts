import { Error as DbosErrors } from '@dbos-inc/dbos-sdk';
import { expect, test } from 'vitest';
import { awaitLocalResult } from '../../../src/adapters/engine/dbos-internals.ts';
import { silent } from '../../world/silent-log.ts';

type Ask = Parameters<typeof awaitLocalResult>[0];

/** A database that has the result from the `at`th millisecond on, by a clock that only sleeping moves. */
function database(at: number) {
  const clock = { ms: 0 };
  const asked: number[] = [];
  const ask: Ask = async () => {
    asked.push(clock.ms);
    return clock.ms >= at ? { output: 'done', serialization: null } : undefined;
  };
  const sleep = async (ms: number) => {
    clock.ms += ms;
  };
  return { asked, ask, clock, waiting: { elapsed: () => clock.ms, sleep } };
}

const POLL_MS = 200;

/** The flows of a process that goes on. */
const here = (endOf: () => Promise<void> | null) => ({ endOf, isStopping: () => false });

test('a flow in another process is asked for as often as the caller says', async () => {
  const { asked, ask, waiting } = database(1_000);
  const found = await awaitLocalResult(
    ask,
    here(() => null),
    silent,
    waiting,
  )('child', undefined, 'run', undefined, POLL_MS);
  expect(found?.output).toBe('done');
  expect(asked).toEqual([0, 200, 400, 600, 800, 1_000]);
});

test('one in this process is asked for when it has ended, until its result is stored', async () => {
  const { asked, ask, clock, waiting } = database(60_020);
  let isHere = true;
  const end = Promise.withResolvers<void>();
  const result = awaitLocalResult(
    ask,
    here(() => (isHere ? end.promise : null)),
    silent,
    {
      ...waiting,
      // Nothing but the end of the flow is waited for.
      sleep: (ms, signal) => (signal ? new Promise(() => undefined) : waiting.sleep(ms)),
    },
  )('child', undefined, 'run', undefined, POLL_MS);
  await new Promise(setImmediate);
  expect(asked).toEqual([0]);

  clock.ms = 60_000;
  isHere = false;
  end.resolve();
  expect((await result)?.output).toBe('done');
  expect(asked).toEqual([0, 60_000, 60_010, 60_020]);
});

test('while it runs in this process, the waiting flow learns after seconds that another one has cancelled it', async () => {
  const { clock, waiting } = database(0);
  const ask: Ask = async () => {
    if (clock.ms > 0) throw new DbosErrors.DBOSWorkflowCancelledError('run');
    return undefined;
  };
  const never = new Promise<void>(() => undefined);
  const result = awaitLocalResult(
    ask,
    here(() => never),
    silent,
    waiting,
  )('child', undefined, 'run', undefined, POLL_MS);
  await expect(result).rejects.toBeInstanceOf(DbosErrors.DBOSWorkflowCancelledError);
  expect(clock.ms).toBe(5_000);
});

test('what the database cannot answer is no end of the flow, but of one that waits in a process that stops', async () => {
  const { ask, clock, waiting } = database(5_000);
  let stopping = false;
  const warned: unknown[] = [];
  const log = { ...silent, warn: (fields: unknown) => void warned.push(fields) };
  const broken: Ask = async (...args) => {
    if (clock.ms < 3_000 || stopping) throw new Error('The server has lost its mind.');
    return ask(...args);
  };
  const flows = { endOf: () => null, isStopping: () => stopping };
  const found = await awaitLocalResult(broken, flows, log, waiting)(
    'child',
    undefined,
    'run',
    undefined,
    POLL_MS,
  );
  expect(found?.output).toBe('done');
  // Asked three times without an answer, and told of once: a right that somebody took away does not come back by itself.
  expect(warned).toEqual([{ why: 'The server has lost its mind.' }]);

  stopping = true;
  const left = awaitLocalResult(broken, flows, log, waiting)('child', undefined, 'run', undefined, POLL_MS);
  await expect(left).rejects.toThrow('lost its mind');
});
