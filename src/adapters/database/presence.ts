import pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import type { Log } from '../../ports/index.ts';

/** Our open connection to the server; see `announce`. */
export interface Presence {
  query<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  end(): Promise<void>;
}

/** `@types/pg` lacks these two. */
interface Referenced {
  ref(): void;
  unref(): void;
}

/**
 * Shows the server, and so every other process, that this process uses it: a connection that the kernel closes
 * however we end. It keeps this process alive only while a query is under way.
 */
export async function announce(url: string, log: Log | undefined): Promise<Presence> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `runoff ${process.pid}`,
    connectionTimeoutMillis: 10_000,
  }) as pg.Client & Referenced;
  let ending = false;
  client.on('error', (error) => {
    if (!ending) log?.warn({ why: error.message }, 'The embedded database went away.');
  });
  try {
    await client.connect();
  } catch (error) {
    throw new Fault(
      'DATABASE_UNAVAILABLE',
      `The embedded database does not let us in: ${(error as Error).message}.`,
      {
        cause: error,
      },
    );
  }
  client.unref();
  let last: Promise<unknown> = Promise.resolve();
  async function ask<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[]) {
    client.ref();
    try {
      return (await client.query<Row>(sql, [...values])).rows;
    } finally {
      client.unref();
    }
  }
  return {
    // One after the other: a connection answers one question at a time.
    query<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []) {
      const answer = last.then(() => ask<Row>(sql, values));
      last = answer.catch(() => undefined);
      return answer;
    },
    async end() {
      ending = true;
      client.ref();
      // A server that went away has closed the connection for us.
      await client.end().catch(() => undefined);
    },
  };
}
