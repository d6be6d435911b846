import { ensureSystemDatabase } from '@dbos-inc/dbos-sdk/internal/system_database';
import { GlobalLogger } from '@dbos-inc/dbos-sdk/internal/telemetry/logs';
import { Fault } from '../../core/model/index.ts';
import type { Log } from '../../ports/index.ts';
import { LONG_WORK, openPool } from '../postgres/index.ts';
import { withLaunchLock } from './connection.ts';
import { dbosLog } from './dbos-log.ts';

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
