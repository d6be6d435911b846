import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import pg from 'pg';
import type { Log } from '../../ports/index.ts';

export interface HeartbeatOptions {
  /** Milliseconds between two signs of life; default 10 000. */
  readonly everyMs: number;
  /** Milliseconds without a sign of life after which an executor counts as gone for good; default 60 000. */
  readonly staleMs: number;
}

export interface Heartbeat {
  stop(): Promise<void>;
}

/** Its own schema: it belongs neither to the product's tables nor to DBOS. To be called under the launch lock. */
export async function createHeartbeatTable(client: pg.ClientBase): Promise<void> {
  await client.query('create schema if not exists runoff_engine');
  await client.query(
    'create table if not exists runoff_engine.executor (executor_id text primary key, seen timestamptz not null)',
  );
}

async function beat(pool: pg.Pool, executorId: string, staleMs: number, log: Log): Promise<void> {
  await pool.query(
    `insert into runoff_engine.executor values ($1, now())
     on conflict (executor_id) do update set seen = excluded.seen`,
    [executorId],
  );
  // Deleted by exactly one of the living, so the work of a dead executor is handed on once.
  const { rows } = await pool.query<{ executor_id: string }>(
    `delete from runoff_engine.executor where seen < now() - $1 * interval '1 millisecond' returning executor_id`,
    [staleMs],
  );
  const gone = rows.map((row) => row.executor_id);
  if (gone.length === 0) return;
  const handles = await DBOSExecutor.globalInstance?.recoverPendingWorkflows(gone);
  log.warn(
    { gone, flows: handles?.map((handle) => handle.workflowID) ?? [] },
    'Executors gave no sign of life; their flows go on elsewhere.',
  );
}

/**
 * Signs of life of this executor, and the search for those that stopped giving them. DBOS itself only takes up the
 * flows of an executor that comes back under its own name. Executors that never beat are never looked for: a run of
 * the command line belongs to its own process.
 */
export async function startHeartbeat(
  url: string,
  executorId: string,
  options: HeartbeatOptions,
  log: Log,
): Promise<Heartbeat> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    idleTimeoutMillis: 1_000,
    application_name: 'runoff heartbeat',
  });
  // The next beat says so if the server is gone.
  pool.on('error', () => undefined);
  // The pool stops listening when it closes a connection; one that breaks just then must not end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const once = () => beat(pool, executorId, options.staleMs, log);
  await once();
  let last = Promise.resolve();
  const timer = setInterval(() => {
    last = last
      .then(once)
      .catch((error: Error) => log.warn({ why: error.message }, 'A sign of life could not be written.'));
  }, options.everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await last;
      await pool.end();
    },
  };
}
