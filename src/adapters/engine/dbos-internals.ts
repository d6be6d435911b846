import { setTimeout as delay } from 'node:timers/promises';
import { DBOS, Error as DbosErrors } from '@dbos-inc/dbos-sdk';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { dbRetryConfig } from '@dbos-inc/dbos-sdk/internal/utils';
import { wfQueueRunner } from '@dbos-inc/dbos-sdk/internal/wfqueue';
import { Fault } from '../../core/model/index.ts';
import type { Log } from '../../ports/index.ts';

/**
 * Milliseconds between two polls of a queue that only other processes may have filled. Our default: a second is short
 * compared with a coder's minutes.
 */
const IDLE_POLL_MS = 1_000;
/**
 * Milliseconds for which a queue is polled more often after a change in this process, because the database learns of the
 * end of a flow a little later, and between two of these polls. Our defaults.
 */
const BUSY_MS = 1_000;
const BUSY_POLL_MS = 100;
/** Milliseconds for which every poll is made after such a change: what was put into a queue is there at once. */
const PROMPT_MS = 200;

/** Decides which polls of a queue ask the database. */
export interface PollSchedule {
  /** This process has put a flow into a queue, or one of its flows has ended. */
  expectWork(): void;
  /** Whether this poll of a queue asks the database. */
  isDue(queue: string): boolean;
}

export function openPollSchedule(elapsed = () => performance.now()): PollSchedule {
  const last = new Map<string, number>();
  let changedAt = elapsed();
  return {
    expectWork() {
      changedAt = elapsed();
    },
    isDue(queue) {
      const now = elapsed();
      const since = now - changedAt;
      const pause = since <= PROMPT_MS ? 0 : since <= BUSY_MS ? BUSY_POLL_MS : IDLE_POLL_MS;
      if (now - (last.get(queue) ?? Number.NEGATIVE_INFINITY) < pause) return false;
      last.set(queue, now);
      return true;
    },
  };
}

type AwaitResult = DBOSExecutor['systemDatabase']['awaitWorkflowResult'];

/** Seconds in which DBOS asks the database for a result once. */
const ONCE_S = 0.001;
/** How often a flow that waits for one of this process asks the database all the same: another process may cancel it. */
const FALLBACK_POLL_MS = 5_000;
/** DBOS stores a flow's result a moment after its end: how often, and for how long, it is then asked for. Our defaults. */
const STORED_POLL_MS = 10;
const STORED_MS = 1_000;
/** Milliseconds between two checks of a flow in another process, if the caller does not say. */
const REMOTE_POLL_MS = 1_000;

interface LocalFlows {
  /** Resolves when this flow has ended in this process; null if it does not run here. */
  endOf(id: string): Promise<void> | null;
  /** True: flows of this process do not continue. */
  isStopping(): boolean;
}

/**
 * Waits for the result of another flow. If that one runs in this process, its end is known here, so the database is asked
 * then, and every 5 s in case another process cancels it; else as often as the caller says. If the database cannot be
 * asked, that says nothing about the flow, so it is asked again: its caller would take any error for the end of the flow.
 * The log has the first of such errors in a row, as one may last until somebody reads of it.
 */
export function awaitLocalResult(
  ask: AwaitResult,
  { endOf, isStopping }: LocalFlows,
  log: Log,
  { elapsed = () => performance.now(), sleep = wait }: WaitingClock = {},
): AwaitResult {
  let isFailing = false;
  const askAgain: AwaitResult = async (...args) => {
    try {
      const found = await ask(...args);
      isFailing = false;
      return found;
    } catch (error) {
      if (error instanceof DbosErrors.DBOSError || isStopping()) throw error;
      if (!isFailing) {
        const why = (error as Error).message;
        log.warn({ why }, 'The database was asked for the result of a flow and cannot answer; trying again.');
      }
      isFailing = true;
      await sleep(REMOTE_POLL_MS);
      return undefined;
    }
  };
  return async (id, timeoutS, caller, timer, pollMs = REMOTE_POLL_MS, failIfMissing) => {
    if (timeoutS !== undefined) return ask(id, timeoutS, caller, timer, pollMs, failIfMissing);
    for (let storedBy = Number.NEGATIVE_INFINITY; ; ) {
      const found = await askAgain(id, ONCE_S, caller, timer, pollMs, failIfMissing);
      if (found !== undefined) return found;
      const end = endOf(id);
      if (end === null) await sleep(elapsed() < storedBy ? STORED_POLL_MS : pollMs);
      else {
        const ended = new AbortController();
        await Promise.race([end, sleep(FALLBACK_POLL_MS, ended.signal)]);
        ended.abort();
        storedBy = elapsed() + STORED_MS;
      }
    }
  };
}

interface WaitingClock {
  elapsed?(): number;
  /** Also resolves when the signal aborts. */
  sleep?(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A process that ends does not wait for what the signal would have ended. */
const wait = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, signal ? { signal, ref: false } : {}).catch(() => undefined);

interface ClaimOptions {
  readonly schedule: PollSchedule;
  readonly flows: LocalFlows;
  /** Number of flows of a queue that this process executes at a time, by the queue's name. */
  readonly limits: ReadonlyMap<string, number>;
  /** False: nothing more is claimed from any queue. */
  mayClaim(): boolean;
  /** Called if a claim that marks its flows with this token failed, perhaps after its commit. */
  onUnanswered(ownerXid: string): void;
  readonly log: Log;
}

/**
 * Maximum seconds between two retries of DBOS while the database is down. DBOS's own default is a minute, and a run
 * would wait that long after the database is back. Our default.
 */
const MAX_BACKOFF_S = 5;

/**
 * Launches DBOS with this process's own limits. DBOS keeps a queue's limits in one row for all processes and reads it
 * every second; we replace the number in what it reads. This happens before its first poll, because `launch` creates the
 * executor before it waits for anything. The schedule leaves out most polls of an idle process, and results of flows of this
 * process are asked for when these end. The import is internal, so DBOS is pinned to one exact version.
 */
export async function launchDbos({
  schedule,
  flows,
  limits,
  mayClaim,
  onUnanswered,
  log,
}: ClaimOptions): Promise<void> {
  dbRetryConfig.maxBackoffSec = MAX_BACKOFF_S;
  const launching = DBOS.launch();
  // If there is no executor, `launch` reports the reason.
  const database = DBOSExecutor.globalInstance?.systemDatabase;
  if (database === undefined) {
    await launching;
    throw new Fault('INTERNAL', 'DBOS was launched and has no executor.');
  }
  const { listQueues, getQueuePartitions, awaitWorkflowResult } = database;
  const { findAndMarkStartableWorkflows, findAndMarkStartablePartitionedWorkflows } = database;
  database.listQueues = async (...args) =>
    (await listQueues.apply(database, args)).map((row) => {
      const own = limits.get(row.name);
      return own === undefined ? row : { ...row, workerConcurrency: own };
    });
  const claiming = async <A extends unknown[]>(
    claim: (...args: A) => Promise<string[]>,
    args: A,
  ): Promise<string[]> => {
    if (!mayClaim()) return [];
    try {
      return await claim.apply(database, args);
    } catch (error) {
      // The token of the claim is the last argument of both.
      const token = args.at(-1);
      if (typeof token === 'string' && !isContention(error)) onUnanswered(token);
      throw error;
    }
  };
  database.awaitWorkflowResult = awaitLocalResult(
    (...args) => awaitWorkflowResult.apply(database, args),
    flows,
    log,
  );
  database.getQueuePartitions = async (name) =>
    schedule.isDue(name) ? getQueuePartitions.call(database, name) : [];
  database.findAndMarkStartableWorkflows = async (...args) => {
    const [{ name }, , , partition] = args;
    // Its partitions were read a moment ago, by the poll of the queue.
    if (partition === undefined && !schedule.isDue(name)) return [];
    return claiming(findAndMarkStartableWorkflows, args);
  };
  database.findAndMarkStartablePartitionedWorkflows = async (...args) =>
    schedule.isDue(args[0].name) ? claiming(findAndMarkStartablePartitionedWorkflows, args) : [];
  await launching;
}

/** SQLSTATEs of a claim that lost against another process: nothing was claimed. */
const isContention = (error: unknown): boolean =>
  ['40001', '55P03'].includes((error as { readonly code?: string }).code ?? '');

/**
 * Milliseconds between two checks, and how far back the clock must go to count: a clock that is slow was not set. Our
 * defaults.
 */
const CLOCK_POLL_MS = 1_000;
const CLOCK_STEP_MS = 3_000;

/**
 * DBOS schedules its polling by the wall clock: if that is set back by an hour, it claims nothing for an hour. So we
 * restart its loop whenever the clock is set back. The imports are internal, so DBOS is pinned to one exact version.
 */
export function watchWallClock(queues: readonly string[], log: Log): { stop(): Promise<void> } {
  const offset = (): number => Date.now() - performance.now();
  let last = offset();
  let working: Promise<void> = Promise.resolve();
  let dispatching: Promise<void> = Promise.resolve();

  async function restart(): Promise<void> {
    const executor = DBOSExecutor.globalInstance;
    if (executor === undefined) return;
    // Ends the loop and waits for what it has just claimed.
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
    if (back < CLOCK_STEP_MS) return;
    log.warn({ backMs: Math.round(back) }, 'The clock was set back. Polling of the queues restarts.');
    working = working.then(restart).catch((error: unknown) => {
      log.error(
        { err: error },
        'Polling of the queues could not be restarted after the clock was set back. Restart Runoff.',
      );
    });
  }, CLOCK_POLL_MS);
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
