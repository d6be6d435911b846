import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../core/model/index.ts';
import type { Operator } from '../core/settings/index.ts';
import type { Log } from '../ports/index.ts';

type ServedPlace = Pick<Operator, 'data' | 'databaseUrl'>;

/** Names the database of the last App of this data folder. */
const recordIn = (data: string): string => join(data, 'served-database');

/** Server and database, without user and password. */
function databaseIn({ databaseUrl }: ServedPlace): string {
  if (!databaseUrl) return 'the embedded database';
  const { host, pathname, searchParams } = new URL(databaseUrl);
  return `${searchParams.get('host') ?? host}${pathname}`;
}

const served = (data: string): Promise<string | null> => readFile(recordIn(data), 'utf8').catch(() => null);

/** Called by the App, which is right about its database. */
export async function recordServedDatabase(place: ServedPlace, log: Log): Promise<void> {
  const own = databaseIn(place);
  if ((await served(place.data)) === own) return;
  await writeFile(recordIn(place.data), own).catch((thrown: unknown) =>
    log.warn({ err: thrown }, 'The name of the database cannot be written to the data folder.'),
  );
}

/**
 * Refuses to prune with another database than that of the App: to it, all artifacts of the App's runs look unused.
 * Fault ENVIRONMENT_INVALID.
 */
export async function requireServedDatabase(place: ServedPlace): Promise<void> {
  const last = await served(place.data);
  const own = databaseIn(place);
  if (last === null || last === own) return;
  throw new Fault(
    'ENVIRONMENT_INVALID',
    `DATABASE_URL: \`runoff serve\` last used ${last} here, and this command would use ${own}, which does not know what the other one needs. Nothing was removed. Set DATABASE_URL as for \`runoff serve\`; if ${last} is no longer in use, delete ${recordIn(place.data)}.`,
  );
}
