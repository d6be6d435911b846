import type pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import { newClient } from '../postgres/index.ts';

/** Our open connection to the server; see `announce`. */
export interface Presence {
  isOpen(): boolean;
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
 * however we end. It keeps this process alive only while a query is under way. `onLost` is told once when it breaks.
 */
export async function announce(url: string, onLost: (why: string) => void): Promise<Presence> {
  const client = newClient(url, { name: `runoff ${process.pid}` }) as pg.Client & Referenced;
  let ending = false;
  let open = false;
  let why = 'the connection ended';
  client.on('error', (error) => {
    why = error.message;
  });
  client.on('end', () => {
    if (open && !ending) onLost(why);
    open = false;
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
  open = true;
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
    isOpen: () => open,
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
