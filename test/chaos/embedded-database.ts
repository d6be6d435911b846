import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { dataPaths } from '../../src/compose/data-folder.ts';

/** A connection of its own each time: the server may have been killed since. */
export async function ask(data: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: await addressOf(data) });
  // A server that is killed says so here as well.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Of the embedded database in a data folder. */
export async function addressOf(data: string): Promise<string> {
  const text = await readFile(join(dataPaths(data).database, 'pg.json'), 'utf8');
  const { password, port } = JSON.parse(text) as { password: string; port: number };
  return `postgresql://runoff:${password}@127.0.0.1:${port}/runoff`;
}

/** The first process of the embedded database in a data folder; null when it does not run. */
export async function postmaster(data: string): Promise<number | null> {
  const file = join(dataPaths(data).database, 'pg18', 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Number(text.split('\n', 1)[0]);
  if (!pid) return null;
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return line.includes(dataPaths(data).database) ? pid : null;
}
