import { DBOS } from '@dbos-inc/dbos-sdk';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { dbRetryConfig } from '@dbos-inc/dbos-sdk/internal/utils';
import { Fault } from '../../core/model/index.ts';

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
