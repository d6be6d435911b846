import { DBOS } from '@dbos-inc/dbos-sdk';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { Fault } from '../../core/model/index.ts';

export interface Claims {
  /** Flows of a queue that this process runs at a time, by the queue's name. */
  readonly limits: ReadonlyMap<string, number>;
  /** False: nothing more is taken from any queue. */
  mayClaim(): boolean;
}

/**
 * Launches DBOS with limits of this process. DBOS keeps a queue's limits in one row for all processes, and reads it anew
 * every second; what it reads here carries our own number. Done before its first look: `launch` makes the executor before
 * it waits for anything. The import is internal, so that DBOS is pinned to one version exactly.
 */
export async function launchWith({ limits, mayClaim }: Claims): Promise<void> {
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
  database.findAndMarkStartableWorkflows = async (...args) =>
    mayClaim() ? findAndMarkStartableWorkflows.apply(database, args) : [];
  database.findAndMarkStartablePartitionedWorkflows = async (...args) =>
    mayClaim() ? findAndMarkStartablePartitionedWorkflows.apply(database, args) : [];
  await launching;
}
