import { ensureSystemDatabase } from '@dbos-inc/dbos-sdk/internal/system_database';
import { GlobalLogger } from '@dbos-inc/dbos-sdk/internal/telemetry/logs';
import type { Log } from '../../ports/index.ts';
import { withLaunchLock } from './connection.ts';
import { dbosLog } from './dbos-log.ts';

/** Makes the engine's tables in this version, as a launch does, without launching. Fault: DATABASE_UNAVAILABLE. */
export async function prepareEngineSchema(databaseUrl: string, log: Log): Promise<void> {
  await withLaunchLock(databaseUrl, async () => {
    await ensureSystemDatabase(databaseUrl, new GlobalLogger(undefined, { logger: dbosLog(log) }));
  });
}
