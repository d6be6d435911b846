import { DBOS } from '@dbos-inc/dbos-sdk';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { dbRetryConfig } from '@dbos-inc/dbos-sdk/internal/utils';
import { wfQueueRunner } from '@dbos-inc/dbos-sdk/internal/wfqueue';
import type pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import type { Log } from '../../ports/index.ts';

export interface Claims {
  /** Flows of a queue that this process runs at a time, by the queue's name. */
  readonly limits: ReadonlyMap<string, number>;
  /** False: nothing more is taken from any queue. */
  mayClaim(): boolean;
  /** A claim that marks what it takes with this token failed, perhaps after it was committed. */
  onLost(ownerXid: string): void;
}

/**
 * Seconds between two tries of what DBOS repeats while the database is away, at most: its own default is a minute, which
 * a run would stand still after the database is back. Our default.
 */
const MOST_BACKOFF_S = 5;

/**
 * Launches DBOS with limits of this process. DBOS keeps a queue's limits in one row for all processes, and reads it anew
 * every second; what it reads here carries our own number. Done before its first look: `launch` makes the executor before
 * it waits for anything. The import is internal, so that DBOS is pinned to one version exactly.
 */
export async function launchWith({ limits, mayClaim, onLost }: Claims): Promise<void> {
  dbRetryConfig.maxBackoffSec = MOST_BACKOFF_S;
  const launching = DBOS.launch();
  // Where the executor is missing, `launch` says why.
  const database = DBOSExecutor.globalInstance?.systemDatabase;
  if (database === undefined) {
    await launching;
    throw new Fault('INTERNAL', 'DBOS was launched and has no executor.');
  }
  const { listQueues, findAndMarkStartableWorkflows, findAndMarkStartablePartitionedWorkflows } = database;
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
      if (typeof token === 'string' && !isContention(error)) onLost(token);
      throw error;
    }
  };
  database.findAndMarkStartableWorkflows = (...args) => claiming(findAndMarkStartableWorkflows, args);
  database.findAndMarkStartablePartitionedWorkflows = (...args) =>
    claiming(findAndMarkStartablePartitionedWorkflows, args);
  await launching;
}

/** SQLSTATEs of a claim that another process was quicker with: the server says that nothing was taken. */
const isContention = (error: unknown): boolean =>
  ['40001', '55P03'].includes((error as { readonly code?: string }).code ?? '');

/** Milliseconds between two looks for what a lost claim took, and after which there is none any more. Our defaults. */
const LOST_CLAIM_POLL_MS = 1_000;
const LOST_CLAIM_SEARCH_MS = 120_000;

/** Puts flows back into their queues that were claimed by a transaction whose answer was lost. */
export interface LostClaims {
  /** The claim that marks its flows with this token failed; whether it was committed, nobody here knows. */
  lost(ownerXid: string): void;
  stop(): void;
}

/**
 * DBOS marks a flow as taken, commits, and then begins it. Where the connection breaks at the commit, the flow is taken by
 * this process and begun by nobody. The token of each claim is its own, so what bears it was never begun. The look is
 * repeated: a server that is reached again may commit what it received before later than we ask.
 */
export function openLostClaims(pool: pg.Pool, log: Log): LostClaims {
  const claims = new Map<string, number>();
  let looking: NodeJS.Timeout | null = null;
  let stopped = false;

  async function look(): Promise<void> {
    try {
      const { rows } = await pool.query<{ id: string }>(
        `update dbos.workflow_status
            set status = 'ENQUEUED', owner_xid = null, started_at_epoch_ms = null,
                updated_at = (extract(epoch from now()) * 1000)::bigint
          where status = 'PENDING' and owner_xid = any($1::text[])
          returning workflow_uuid as id`,
        [[...claims.keys()]],
      );
      if (rows.length > 0) {
        log.warn(
          { flows: rows.map(({ id }) => id) },
          'The connection broke while flows were taken from a queue; they are back in it.',
        );
      }
      for (const [claim, at] of claims)
        if (performance.now() - at > LOST_CLAIM_SEARCH_MS) claims.delete(claim);
    } catch (thrown) {
      log.info({ why: (thrown as Error).message }, 'Flows whose claim was lost cannot be looked for yet.');
    }
    looking = null;
    lookLater();
  }
  function lookLater(): void {
    if (stopped || looking !== null || claims.size === 0) return;
    looking = setTimeout(() => void look(), LOST_CLAIM_POLL_MS);
    looking.unref();
  }
  return {
    lost(ownerXid) {
      claims.set(ownerXid, performance.now());
      lookLater();
    },
    stop() {
      stopped = true;
      if (looking !== null) clearTimeout(looking);
    },
  };
}

/** Milliseconds between two looks, and how far back a step must go to count: a slower clock is no step. Our defaults. */
const CLOCK_POLL_MS = 1_000;
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
