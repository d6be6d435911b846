import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/adapters/database/index.ts';

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  /** Runs one statement on a connection of its own, for looking behind the scenes. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Ends whoever is still connected and removes the database. */
  drop(): Promise<void>;
}

async function once(url: string, sql: string, values: readonly unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Connections that are just closing get a moment: pools do not wait for them, and a forced end is an error there. */
async function remove(home: string, name: string): Promise<void> {
  for (let look = 0; look < 60; look += 1) {
    const left = await once(home, 'select 1 from pg_stat_activity where datname = $1 limit 1', [name]);
    if (left.length === 0) break;
    await delay(25);
  }
  await once(home, `drop database if exists ${name} with (force)`);
}

/** Nothing in a test run has to survive a power cut: without waiting for the disk it takes half the time. */
async function start(): Promise<EmbeddedPostgres> {
  const started = await startEmbeddedPostgres({ dir: inject('postgresDir') });
  await once(started.url('postgres'), 'alter system set fsync = off');
  await once(started.url('postgres'), 'select pg_reload_conf()');
  return started;
}

/** One attachment for each worker of the test run; it ends with the worker. */
const server = (() => {
  let started: Promise<EmbeddedPostgres> | undefined;
  return () => {
    started ??= start();
    return started;
  };
})();

/**
 * An empty database on the test run's own Postgres, which the first call starts; or a copy of another one, to which
 * nobody may be connected.
 */
export async function freshDatabase(options: { readonly copyOf?: TestDatabase } = {}): Promise<TestDatabase> {
  const postgres = await server();
  const home = postgres.url('postgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  if (options.copyOf === undefined) await postgres.ensureDatabase(name);
  else await once(home, `create database ${name} template ${options.copyOf.name}`);
  const url = postgres.url(name);
  return {
    name,
    url,
    query: (sql, values) => once(url, sql, values),
    drop: () => remove(home, name),
  };
}
