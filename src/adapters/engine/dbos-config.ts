import type { DBOSConfig, DLogger } from '@dbos-inc/dbos-sdk';
import { ensureSystemDatabase } from '@dbos-inc/dbos-sdk/internal/system_database';
import { GlobalLogger } from '@dbos-inc/dbos-sdk/internal/telemetry/logs';
import type pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import type { ExecutorFacts, Log } from '../../ports/index.ts';
import { type ConnectionLimits, LIMITS, LONG_WORK, openPool } from '../postgres/index.ts';
import type { OwnFence } from './heartbeat.ts';
import { withLaunchLock } from './locks.ts';

/** One queue for all machines. The limit of a repository stands in the database, and the last process to launch writes it. */
export interface CoderQueue {
  readonly name: string;
  /** Candidates that this process codes at a time; 0: it takes none. */
  readonly perWorker: number;
  /** Candidates of one repository that are coded at a time, over all processes. */
  readonly perPartition: number;
  /** Runs whose candidates this process builds and tests at a time; 0: it takes none. Default 2. */
  readonly examinations?: number;
}

export interface DbosEngineOptions {
  /** The same database as the store's, or another. DBOS keeps its tables in the schema `dbos`. */
  readonly databaseUrl: string;
  /**
   * Unique among living processes and the same after a restart (host and slot, or `cli-<run>`): at launch the
   * executor takes up what it left unfinished. A second process of a name that is in use is refused.
   */
  readonly executorId: string;
  /** Pinned by hand: flows of another version are left alone, so it changes only when flows may not be resumed; default `1`. */
  readonly applicationVersion?: string;
  /** Null: a process of its own, which runs all its flows itself and shares no work with any other. */
  readonly queue: CoderQueue | null;
  /** Runs that this process works on at a time; default 8. Runs that wait for people are not counted. */
  readonly runsAtOnce?: number;
  /** False: runs that never had a place go on waiting in line. Asked when a place is free; absent: always true. */
  readonly mayBegin?: () => boolean;
  /** Without a queue: candidates at a time in this process; default 3. */
  readonly directConcurrency?: number;
  /** With a queue: false for a process that takes candidates only, and leaves runs to others; default true. */
  readonly takesRuns?: boolean;
  /**
   * With a queue: how others see that this process lives. Without: nobody looks for it, and it looks for nobody.
   */
  readonly among?: { readonly fence: OwnFence; readonly facts: Pick<ExecutorFacts, 'host' | 'version'> };
  /** How long a connection waits; absent: our defaults. */
  readonly limits?: ConnectionLimits | undefined;
  readonly log: Log;
}

/** Runs wait on a queue without limit: it decides which processes take them up. How many go on at a time, `line.ts` says. */
export const RUN_QUEUE = 'runs';
/** Where runs wait for a process that builds and tests their candidates. */
export const EXAMINATION_QUEUE = 'examinations';
/** Our default: an examination builds and tests on several cores by itself. */
export const DEFAULT_EXAMINATIONS = 2;
/** Our default: a waiting flow is picked up after half of it on average, for two queries a round. */
export const QUEUE_POLL_MS = 100;
/** Connections at most; half of them may look for results. */
const POOL_SIZE = 6;

/** Processes that share work share this name; DBOS hands flows only to processes of the same name and version. */
const SHARED_NAME = 'runoff';

/**
 * The server keeps no limit for a statement or a lock here: DBOS tries again what broke with its connection, and ends the
 * flow whose statement was refused. A connection on which nothing comes is cut.
 */
const engineLimits = (limits: ConnectionLimits = LIMITS): ConnectionLimits => ({
  ...limits,
  statementMs: 0,
  lockMs: 0,
});

/** The connections of DBOS. Whoever launched it closes them. */
export const openEnginePool = ({ databaseUrl, executorId, limits }: DbosEngineOptions): pg.Pool =>
  openPool(databaseUrl, {
    size: POOL_SIZE,
    name: `runoff engine ${executorId}`,
    limits: engineLimits(limits),
  });

/** What each process decides for itself. A queue of which it takes nothing is missing. */
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
    // Under a name of its own, so that nobody else takes up what this process left unfinished.
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

/** Makes the engine's tables in this version, as a launch does, without launching. Fault: DATABASE_UNAVAILABLE. */
export async function prepareEngineSchema(databaseUrl: string, log: Log): Promise<void> {
  await withLaunchLock(databaseUrl, () => migrateEngine(databaseUrl, log));
}

/** The same for whoever has the launch lock. An index of a large table may take longer than other statements may. */
export async function migrateEngine(databaseUrl: string, log: Log): Promise<void> {
  const pool = openPool(databaseUrl, { size: 1, name: 'runoff engine (migrations)', limits: LONG_WORK });
  try {
    await ensureSystemDatabase(databaseUrl, new GlobalLogger(undefined, { logger: dbosLog(log) }), pool);
  } catch (error) {
    const { message } = error as Error;
    throw new Fault('DATABASE_UNAVAILABLE', `The engine's tables could not be made: ${message}.`, {
      cause: error,
    });
  } finally {
    await pool.end();
  }
}

/** DBOS's own log on ours: its chatter is dropped, and so are stack traces, which may quote what a flow worked on. */
const dbosLog = (log: Log): DLogger => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (entry) => log.warn({ engine: 'dbos' }, firstLogLine(entry)),
  error: (entry) => log.error({ engine: 'dbos' }, firstLogLine(entry)),
});

const firstLogLine = (entry: unknown): string => String(entry).split('\n', 1)[0] ?? '';
