import type { DBOSConfig, DLogger } from '@dbos-inc/dbos-sdk';
import { ensureSystemDatabase } from '@dbos-inc/dbos-sdk/internal/system_database';
import { GlobalLogger } from '@dbos-inc/dbos-sdk/internal/telemetry/logs';
import type pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import type { ExecutorFacts, Log } from '../../ports/index.ts';
import { type ConnectionLimits, LIMITS, LONG_WORK, openPool, outageOf } from '../postgres/index.ts';
import type { OwnFence } from './heartbeat.ts';
import { withLaunchLock } from './locks.ts';

/**
 * One queue for all machines. The limit per repository is in the database, and the process that launches last writes
 * it.
 */
export interface CoderQueue {
  readonly name: string;
  /** Candidates that this process codes at a time; 0: none. */
  readonly perWorker: number;
  /** Candidates of one repository that are coded at a time, in all processes together. */
  readonly perPartition: number;
  /** Runs whose candidates this process builds and tests at a time; 0: none. Default 2. */
  readonly examinations?: number;
}

export interface DbosEngineOptions {
  /** The store's database, or another one. DBOS keeps its tables in the schema `dbos`. */
  readonly databaseUrl: string;
  /**
   * Unique among active processes, and the same after a restart (host and role, or `cli-<run>`): at launch the executor
   * resumes its unfinished flows. A second process with a name that is in use is refused.
   */
  readonly executorId: string;
  /**
   * Set by hand. Flows of another version are not resumed, so it changes only if flows must not be resumed; default
   * `1`.
   */
  readonly applicationVersion?: string;
  /** Null: a process that executes all its flows itself and shares no work with others. */
  readonly queue: CoderQueue | null;
  /** Runs that this process executes at a time; default 8. Runs that wait for people do not count. */
  readonly runsAtOnce?: number;
  /** False: runs that never had a slot keep waiting. Called when a slot is free. Default: always true. */
  readonly mayBegin?: () => boolean;
  /** Without a queue: candidates at a time in this process; default 3. */
  readonly directConcurrency?: number;
  /** With a queue: false for a process that executes candidates only and leaves runs to others; default true. */
  readonly takesRuns?: boolean;
  /**
   * With a queue: how others see that this process is alive. Without a queue, no other process checks, and this one
   * checks no other.
   */
  readonly among?: { readonly fence: OwnFence; readonly facts: Pick<ExecutorFacts, 'host' | 'version'> };
  /** Milliseconds between two looks for flows that ended here without a record; default 20,000. */
  readonly lostFlowLookMs?: number;
  /** How long a connection waits. Default: our defaults. */
  readonly limits?: ConnectionLimits | undefined;
  readonly log: Log;
}

/** The queue of runs has no limit; it decides which process takes a run. `run-queue.ts` limits how many are active. */
export const RUN_QUEUE = 'runs';
/** The queue of runs whose candidates are to be built and tested. */
export const EXAMINATION_QUEUE = 'examinations';
/** Our default: one examination uses several cores by itself. */
export const DEFAULT_EXAMINATIONS = 2;
/**
 * Our default: a flow that this process has put into a queue starts after half of this time on average. Each poll costs
 * two queries, so most of an idle process are left out (`PollSchedule`).
 */
export const QUEUE_POLL_MS = 25;
/** Maximum number of connections; up to half of them may wait for results. */
const POOL_SIZE = 6;

/** Processes that share work use this name: DBOS passes flows only to processes of the same name and version. */
export const SHARED_NAME = 'runoff';

/**
 * No server limits for statements and locks here: those that wait in a queue would only be repeated. A silent connection
 * is closed.
 */
const engineLimits = (limits: ConnectionLimits = LIMITS): ConnectionLimits => ({
  ...limits,
  statementMs: 0,
  lockMs: 0,
});

/** The connections of DBOS. The caller that launched it closes them. */
export function openEnginePool({ databaseUrl, executorId, limits }: DbosEngineOptions): pg.Pool {
  const pool = openPool(databaseUrl, {
    size: POOL_SIZE,
    name: `runoff engine ${executorId}`,
    limits: engineLimits(limits),
  });
  markOutages(pool);
  return pool;
}

/**
 * DBOS repeats what failed in an outage, and fails the flow of any other error, for good if it cannot record that. Its
 * list of outages is shorter than ours: it lacks a name that does not resolve, as while a container restarts, and a
 * server that is read-only. Since it also looks at the cause of an error, each of our outages gets one that it knows.
 */
function markOutages(pool: pg.Pool): void {
  const mark = (error: Error): void => {
    // Queries of a closed pool are no outage.
    if (pool.ending || outageOf(error) === null) return;
    error.cause = Object.assign(new Error('outage', { cause: error.cause }), { code: 'ECONNREFUSED' });
  };
  const connect = pool.connect.bind(pool) as (done?: Connected) => Promise<pg.PoolClient>;
  pool.connect = ((done?: Connected) => {
    if (!done) {
      return connect().catch((error) => {
        mark(error);
        throw error;
      });
    }
    return connect((error, ...rest) => {
      if (error) mark(error);
      done(error, ...rest);
    });
  }) as typeof pool.connect;
  // Before `pg` itself hears of an error and passes it to the query.
  pool.on('connect', ({ connection }) => {
    connection.prependListener('error', mark);
    connection.prependListener('errorMessage', mark);
  });
}

type Connected = Parameters<typeof pg.Pool.prototype.connect>[0];

/** The limits that each process sets for itself. A queue of which it takes nothing is missing. */
export function queueLimitsOf({ name, perWorker, examinations = DEFAULT_EXAMINATIONS }: CoderQueue) {
  const all = new Map([
    [name, perWorker],
    [EXAMINATION_QUEUE, examinations],
  ]);
  return new Map([...all].filter(([, most]) => most > 0));
}

export function dbosConfigOf(options: DbosEngineOptions, pool: pg.Pool): DBOSConfig {
  const { databaseUrl, executorId, applicationVersion = '1', queue, takesRuns = true, log } = options;
  const alone = queue === null;
  return {
    // A separate name, so that no other process resumes its unfinished flows.
    name: alone ? executorId : SHARED_NAME,
    // A version belongs to one name.
    applicationVersion: alone ? `${applicationVersion} ${executorId}` : applicationVersion,
    executorID: executorId,
    systemDatabaseUrl: databaseUrl,
    systemDatabasePool: pool,
    listenQueues: alone ? [] : [...(takesRuns ? [RUN_QUEUE] : []), ...queueLimitsOf(queue).keys()],
    enablePatching: true,
    enableOTLP: false,
    logger: dbosLog(log),
  };
}

/** Creates the engine's tables of this version, as a launch does, without launching. Fault: DATABASE_UNAVAILABLE. */
export async function prepareEngineSchema(databaseUrl: string, log: Log): Promise<void> {
  await withLaunchLock(databaseUrl, () => migrateEngine(databaseUrl, log));
}

/**
 * The same for a caller that holds the launch lock. An index of a large table may take longer than other statements
 * may.
 */
export async function migrateEngine(databaseUrl: string, log: Log): Promise<void> {
  const pool = openPool(databaseUrl, { size: 1, name: 'runoff engine (migrations)', limits: LONG_WORK });
  try {
    await ensureSystemDatabase(databaseUrl, new GlobalLogger(undefined, { logger: dbosLog(log) }), pool);
  } catch (error) {
    const { message } = error as Error;
    throw new Fault('DATABASE_UNAVAILABLE', `The engine's tables could not be created: ${message}.`, {
      cause: error,
    });
  } finally {
    await pool.end();
  }
}

/** Writes DBOS's own log to ours, without its debug output and without stack traces, which may quote data of a flow. */
const dbosLog = (log: Log): DLogger => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (entry) => log.warn({ engine: 'dbos' }, firstLogLine(entry)),
  error: (entry) => log.error({ engine: 'dbos' }, firstLogLine(entry)),
});

const firstLogLine = (entry: unknown): string => String(entry).split('\n', 1)[0] ?? '';
