import { setTimeout as delay } from 'node:timers/promises';
import { Mutex } from 'async-mutex';
import type pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import type { Log } from '../../ports/index.ts';
import { newClient } from '../postgres/index.ts';

/** Milliseconds before the second try, doubled for each further one up to the maximum; our defaults. */
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 30_000;

export interface KeptConnection {
  /** The current connection; a broken one while the server is down. */
  presence(): ServerConnection;
  /** Stops restarting the server, and waits for a restart in progress. */
  end(): Promise<void>;
}

interface KeepConnectedOptions {
  /** Opens a connection; `onLost` is called when it breaks. */
  readonly connect: (onLost: (why: string) => void) => Promise<ServerConnection>;
  /**
   * Restarts the server, or detects that another process did, and connects; null if it was stopped on purpose. Only one
   * process at a time does this.
   */
  readonly reopen: (connect: () => Promise<ServerConnection>) => Promise<ServerConnection | null>;
  readonly log?: Log;
}

/**
 * Keeps a connection to the server and restarts the server when it dies, on the same port, so that every pool
 * reconnects to the same address. Retries until `end`.
 */
export async function keepConnected({ connect, reopen, log }: KeepConnectedOptions): Promise<KeptConnection> {
  const ended = new AbortController();
  const { signal } = ended;
  let reviving: Promise<void> = Promise.resolve();
  const connected = () => connect(onConnectionLost);

  async function once(): Promise<void> {
    const again = await reopen(connected);
    if (again === null) {
      log?.error({}, 'The embedded database was stopped from outside. Restart Runoff to continue.');
      return;
    }
    presence = again;
    log?.info({}, 'The embedded database is running again.');
  }

  async function revive(): Promise<void> {
    for (let pause = FIRST_RETRY_MS; !signal.aborted; pause = Math.min(pause * 2, MAX_RETRY_MS)) {
      try {
        await once();
        return;
      } catch (error) {
        log?.warn({ err: error, pause }, 'The embedded database could not be restarted yet.');
      }
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  function onConnectionLost(why: string): void {
    if (signal.aborted) return;
    log?.warn({ why }, 'The embedded database stopped; restarting it.');
    reviving = revive();
  }

  let presence = await connected();
  return {
    presence: () => presence,
    async end() {
      ended.abort();
      await reviving;
    },
  };
}

/** This process's open connection to the server; see `announce`. */
export interface ServerConnection {
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
 * Opens a connection that shows the server, and so other processes, that this process uses it: the kernel closes it
 * however the process ends. It keeps this process alive only during a query. `onLost` is called once when it breaks.
 */
export async function openPresence(url: string, onLost: (why: string) => void): Promise<ServerConnection> {
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
      `The embedded database rejected the login: ${(error as Error).message}.`,
      {
        cause: error,
      },
    );
  }
  open = true;
  client.unref();
  // A connection answers one question at a time.
  const asking = new Mutex();
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
    query: (sql, values = []) => asking.runExclusive(() => ask(sql, values)),
    async end() {
      ending = true;
      client.ref();
      // A server that died has already closed the connection.
      await client.end().catch(() => undefined);
    },
  };
}
