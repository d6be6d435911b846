import { DBOS } from '@dbos-inc/dbos-sdk';
import type pg from 'pg';
import { SHARED_NAME } from './dbos-config.ts';

/** Number of runs that one statement removes. */
const FORGET_BATCH = 200;

/**
 * Removes the engine's rows of runs that ended before a time (milliseconds since 1970 UTC), and of processes without a
 * queue of which nothing is left. Returns the number of runs. DBOS lists only what belongs to the name of the caller, but
 * runs of the command line belong to the name of a process that never comes back.
 */
export async function forgetEnded(pool: pg.Pool, before: number): Promise<number> {
  let gone = 0;
  for (;;) {
    const { rows } = await pool.query<{ id: string }>(
      `select workflow_uuid as id from dbos.workflow_status
        where name = 'run' and status in ('SUCCESS', 'ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED')
          and completed_at <= $1 and (application_name is null or application_name in ($2, executor_id))
        limit $3`,
      [before, SHARED_NAME, FORGET_BATCH],
    );
    if (rows.length === 0) break;
    await DBOS.deleteWorkflows(
      rows.map(({ id }) => id),
      true,
    );
    gone += rows.length;
  }
  // Each such process has a version of its own, which `dbosConfigOf` names after it.
  await pool.query(
    `delete from dbos.application_versions as version
      where version_name like '% ' || application_name and application_name <> $2 and created_at <= $1
        and not exists (select from dbos.workflow_status where application_name = version.application_name)`,
    [before, SHARED_NAME],
  );
  return gone;
}
