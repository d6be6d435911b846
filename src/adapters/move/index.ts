import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import { LONG_WORK, newClient, tryLock } from '../postgres/index.ts';
import {
  copySequences,
  copyTable,
  hasRows,
  listTables,
  SCHEMAS,
  type TableColumns,
  tableSum,
  VERSION_TABLES,
} from './tables.ts';

/** A server process outlives the connection that it served by a moment. Our defaults. */
const USERS_WAIT_MS = 2_000;
const USERS_POLL_MS = 50;

/** Number of the advisory lock of a move, on both of its databases. */
const MOVE_LOCK = '7346003';

export interface MovedTable {
  readonly table: string;
  readonly rows: number;
}

interface MoveOptions {
  readonly from: string;
  readonly to: string;
  /** Number of the advisory lock under which engines launch. */
  readonly launchLock: string;
  /** Brings the tables of a database to the version of this program; not called in a dry run. */
  readonly prepare: (url: string) => Promise<void>;
  /** Looks only: both databases stay as they are. */
  readonly dryRun: boolean;
  readonly onTable: (table: string, rows: number, of: number) => void;
}

async function connected<T>(
  url: string,
  which: 'source' | 'destination',
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = newClient(url, { name: 'runoff move', limits: LONG_WORK });
  try {
    await client.connect();
    // Checksums compare texts, and those of times depend on this.
    await client.query(
      `set timezone = 'UTC'; set idle_in_transaction_session_timeout = 0; set statement_timeout = 0`,
    );
  } catch (error) {
    // Advice about DATABASE_URL would mislead whoever mistyped the other address.
    const code = which === 'source' ? 'DATABASE_UNAVAILABLE' : 'MOVE_REFUSED';
    const { message } = error as Error;
    throw new Fault(code, `The ${which} database cannot be reached: ${message}.`, { cause: error });
  }
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Who is connected besides us, in words; any of them could write. The server knows it, whatever machine it is on. */
async function usersOf(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; from: string; count: number }>(
    `select coalesce(nullif(application_name, ''), 'another program') as name,
            coalesce(host(client_addr), 'this machine') as from, count(*)::int as count
     from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend'
       and application_name is distinct from 'runoff move'
     group by 1, 2 order by 1, 2`,
  );
  return rows.map(({ name, from, count }) => `${name} on ${from} (${count})`);
}

async function refuseWhileUsed(client: pg.Client, which: string): Promise<void> {
  const until = performance.now() + USERS_WAIT_MS;
  for (;;) {
    const users = await usersOf(client);
    if (users.length === 0) return;
    if (performance.now() > until) {
      throw new Fault(
        'MOVE_REFUSED',
        `The ${which} database is in use: ${users.join(', ')}. A move needs exclusive access.`,
      );
    }
    await delay(USERS_POLL_MS);
  }
}

async function holdLaunches(client: pg.Client, lock: string, which: string): Promise<void> {
  if (await tryLock(client, lock)) return;
  throw new Fault(
    'MOVE_REFUSED',
    `A Runoff process is starting on the ${which} database just now, or another move is under way.`,
  );
}

/** The name of the database, which a start gives it. */
const WRITTEN_BY_A_START: Readonly<Record<string, string>> = { 'runoff.intent': "scope = 'database'" };

/** What a start writes by itself, such as rows about the engine, is no reason to refuse. */
async function refuseUnlessEmpty(client: pg.Client): Promise<void> {
  for (const { name } of await listTables(client)) {
    const counts =
      name === 'dbos.workflow_status' || (name.startsWith('runoff.') && name !== 'runoff.executor');
    if (!counts || VERSION_TABLES.has(name) || !(await hasRows(client, name, WRITTEN_BY_A_START[name])))
      continue;
    throw new Fault(
      'MOVE_REFUSED',
      `The destination has rows in ${name} already: a move never mixes two histories.`,
    );
  }
}

async function sameTables(from: pg.Client, to: pg.Client): Promise<readonly TableColumns[]> {
  const [ours, theirs] = [await listTables(from), await listTables(to)];
  if (!isDeepStrictEqual(ours, theirs)) {
    const differ = ours.filter((table) => !theirs.some((other) => isDeepStrictEqual(other, table)));
    throw new Fault(
      'MOVE_REFUSED',
      `The two databases have different tables (${differ.map(({ name }) => name).join(', ') || 'more at the destination'}). Remove the schemas ${SCHEMAS.join(', ')} at the destination, or name a new database.`,
    );
  }
  return ours.filter(({ name }) => !VERSION_TABLES.has(name));
}

async function copyAll(
  from: pg.Client,
  to: pg.Client,
  onTable: MoveOptions['onTable'],
): Promise<readonly MovedTable[]> {
  const tables = await sameTables(from, to);
  await from.query('begin isolation level repeatable read read only');
  // Before the first query, which takes the snapshot: a command that connects meanwhile and writes would not be copied.
  await from.query(`lock table ${tables.map(({ name }) => name).join(', ')} in share mode`);
  await to.query('begin');
  await to.query('set constraints all deferred');
  await to.query(`truncate ${tables.map(({ name }) => name).join(', ')}`);
  const moved: MovedTable[] = [];
  for (const table of tables) {
    const expected = await tableSum(from, table);
    let rows = 0;
    await copyTable(from, to, table, (count) => {
      rows += count;
      onTable(table.name, rows, expected.rows);
    });
    if (!isDeepStrictEqual(await tableSum(to, table), expected)) {
      throw new Fault(
        'INTERNAL',
        `${table.name} was not copied correctly; nothing was kept at the destination.`,
      );
    }
    moved.push({ table: table.name, rows: expected.rows });
  }
  await copySequences(from, to);
  await to.query('commit');
  await from.query('commit');
  return moved;
}

/**
 * Copies all of Runoff's rows from one database to another, whole or not at all: the destination's part is one
 * transaction. Counts and checksums of every table are compared before it is kept; nothing changes at the source but
 * that its tables are brought to this version. Nobody else may be connected to either.
 * Faults: MOVE_REFUSED, DATABASE_UNAVAILABLE.
 */
export async function moveDatabase(options: MoveOptions): Promise<readonly MovedTable[]> {
  const { prepare, dryRun, onTable } = options;
  return connected(options.from, 'source', (from) =>
    connected(options.to, 'destination', async (to) => {
      await refuseIfSame(from, to);
      await refuseWhileUsed(from, 'source');
      await refuseWhileUsed(to, 'destination');
      await refuseUnlessEmpty(to);
      if (dryRun) return countAll(from);
      for (const url of [options.from, options.to]) await prepare(url);
      await holdLaunches(from, options.launchLock, 'source');
      await holdLaunches(to, options.launchLock, 'destination');
      await refuseWhileUsed(from, 'source');
      await refuseWhileUsed(to, 'destination');
      // Closing the connection undoes what was not committed.
      return copyAll(from, to, onTable);
    }),
  );
}

async function countAll(from: pg.Client): Promise<readonly MovedTable[]> {
  const counted: MovedTable[] = [];
  for (const table of await listTables(from)) {
    if (VERSION_TABLES.has(table.name)) continue;
    counted.push({ table: table.name, rows: (await tableSum(from, table)).rows });
  }
  return counted;
}

/** The same database by another address would be emptied before it is read. */
async function refuseIfSame(from: pg.Client, to: pg.Client): Promise<void> {
  // Whoever waited for the source would move it once more after the first move has ended.
  if ((await tryLock(from, MOVE_LOCK)) && (await tryLock(to, MOVE_LOCK))) return;
  throw new Fault(
    'MOVE_REFUSED',
    'Source and destination are the same database, or another move is under way.',
  );
}
