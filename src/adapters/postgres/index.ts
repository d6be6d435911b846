import pg from 'pg';
import { leaveReadOnlyServers } from './outages.ts';

export { outageOf } from './outages.ts';

export interface ConnectOptions {
  /** As the server shows it. */
  readonly name: string;
  /** Absent: our defaults. */
  readonly limits?: ConnectionLimits | undefined;
  /** Further session settings, e.g. the application name. */
  readonly settings?: Readonly<Record<string, string>>;
}

interface PoolOptions extends ConnectOptions {
  /** Maximum number of connections. They are opened on demand and closed after ten idle seconds. */
  readonly size: number;
  /** Parsers of column values; absent: those of `pg`. */
  readonly types?: pg.CustomTypesConfig;
}

/** Milliseconds without traffic after which the kernel probes the peer. Our default. */
const KEEP_ALIVE_MS = 15_000;
/** Milliseconds between pings of a connection that only listens or holds a lock. Our default. */
const PING_INTERVAL_MS = 10_000;

function clientConfigOf(url: string, { name, limits = LIMITS, settings }: ConnectOptions): pg.ClientConfig {
  return {
    connectionString: withSettings(url, limits, settings),
    application_name: name,
    connectionTimeoutMillis: limits.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/** A connection that only waits for notifications runs no query, so its failure would not be noticed. */
function pingListeners(client: pg.Client, everyMs: number): void {
  const query = client.query.bind(client) as (...given: readonly unknown[]) => unknown;
  let listens = false;
  client.query = ((...given: readonly unknown[]) => {
    if (!listens && /^\s*listen\s/i.test(String(given[0]))) {
      listens = true;
      pingRegularly(client, everyMs);
    }
    return query(...given);
  }) as typeof client.query;
}

/** A pool with time-outs on all its connections. */
export function openPool(url: string, options: PoolOptions): pg.Pool {
  const { size, types, limits = LIMITS } = options;
  const pool = new pg.Pool({ ...clientConfigOf(url, options), max: size, ...(types ? { types } : {}) });
  // An idle connection broke: the pool drops it, and the next query reports an unavailable server.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    // The pool stops listening when it closes a connection; one that breaks just then must not end the process.
    client.on('error', () => undefined);
    cutWhenSilent(client, limits.silenceMs);
    pingListeners(client, Math.min(PING_INTERVAL_MS, limits.silenceMs));
  });
  leaveReadOnlyServers(pool);
  return pool;
}

/** A connection that is not made yet. */
export function newClient(url: string, options: ConnectOptions): pg.Client {
  const { limits = LIMITS } = options;
  const client = new pg.Client(clientConfigOf(url, options));
  // Errors are reported by the query that they affect; without a listener they would end the process.
  client.on('error', () => undefined);
  cutWhenSilent(client, limits.silenceMs);
  return client;
}

export interface ClientOptions extends ConnectOptions {
  /** Whether it holds a lock: it is pinged regularly. */
  readonly holds?: boolean;
  /**
   * Milliseconds without a ping after which the server ends the session, so that a frozen process does not keep its
   * lock. Servers before Postgres 14 have no such limit. Absent: none.
   */
  readonly frozenMs?: number;
}

/** Opens a single connection; rejects as `pg` does. */
export async function openClient(url: string, options: ClientOptions): Promise<pg.Client> {
  const { limits = LIMITS, holds = false, frozenMs } = options;
  const client = newClient(url, options);
  await client.connect();
  if (frozenMs !== undefined) {
    await client.query(LIMIT_IDLE, [String(frozenMs)]).catch(async (error) => {
      await client.end();
      throw error;
    });
  }
  const pingMs = Math.min(PING_INTERVAL_MS, limits.silenceMs, (frozenMs ?? Number.POSITIVE_INFINITY) / 3);
  if (holds) pingRegularly(client, pingMs);
  return client;
}

/** Sets no parameter that the server does not know, or that the URL sets. */
const LIMIT_IDLE = `select set_config(name, $1, false) from pg_settings
  where name = 'idle_session_timeout' and source <> 'client'`;

/**
 * Tries to take the database's lock of this number, without waiting for it; it is released when the connection ends.
 */
export async function tryLock(client: pg.Client, key: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [key]);
  return rows[0]?.taken ?? false;
}

/**
 * Connection time-outs in milliseconds. A server that accepts connections but does not respond (a firewall that drops
 * packets, a frozen process, hanging storage) looks like a slow one: only time-outs can tell them apart.
 */
export interface ConnectionLimits {
  /** Maximum time to open a connection, or to get a free one from a pool. */
  readonly connectMs: number;
  /**
   * Maximum silence of the server during a query; then the connection is closed, and its queries fail with ETIMEDOUT.
   */
  readonly silenceMs: number;
  /** Maximum duration of a statement, enforced by the server, so that abandoned work ends. 0: none. */
  readonly statementMs: number;
  /** Maximum wait for a lock, enforced by the server. 0: none. */
  readonly lockMs: number;
  /** Maximum idle time of a transaction, enforced by the server: a frozen process must not keep its locks. */
  readonly idleInTransactionMs: number;
}

/** Our defaults. The server's limits are shorter than the connection's, so that a slow server reports the reason. */
export const LIMITS: ConnectionLimits = {
  connectMs: 10_000,
  silenceMs: 15_000,
  statementMs: 12_000,
  lockMs: 10_000,
  idleInTransactionMs: 10_000,
};

/** For long operations on a large database: migrations, indexes, retention. Our default. */
export const LONG_WORK: ConnectionLimits = {
  ...LIMITS,
  silenceMs: 3_600_000,
  statementMs: 0,
  lockMs: 0,
  idleInTransactionMs: 600_000,
};

/** Session settings with which the server detects within half a minute that a client has vanished. */
const TCP_SETTINGS = [
  ['tcp_keepalives_idle', 15],
  ['tcp_keepalives_interval', 5],
  ['tcp_keepalives_count', 3],
  ['tcp_user_timeout', 30_000],
] as const;

/** A space would begin the next option. */
const escapeOption = (value: string): string => value.replaceAll(/[\\\s]/g, '\\$&');

/** The URL with these session settings. Settings in the URL itself win, since the operator chose them. */
function withSettings(
  url: string,
  limits: ConnectionLimits,
  own: Readonly<Record<string, string>> = {},
): string {
  const address = new URL(url);
  const given = address.searchParams.get('options') ?? '';
  const bounds: readonly (readonly [string, number])[] = [
    ...TCP_SETTINGS,
    ['idle_in_transaction_session_timeout', limits.idleInTransactionMs],
    ['statement_timeout', limits.statementMs],
    ['lock_timeout', limits.lockMs],
  ];
  // Whole names: `deadlock_timeout` sets no `lock_timeout`.
  const isGiven = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(given);
  const added = bounds.flatMap(([name, value]) => (isGiven(name) ? [] : [`-c ${name}=${value}`]));
  const named = Object.entries(own).map(([name, value]) => `-c ${name}=${escapeOption(value)}`);
  address.searchParams.set('options', [given, ...added, ...named].join(' ').trim());
  return address.href;
}

/** Milliseconds for closing a connection in an orderly way. Our default. */
const GOODBYE_MS = 2_000;
/**
 * Milliseconds for reading bytes that arrived while this process was suspended, before the limit counts. Our default.
 */
const CATCH_UP_MS = 500;

interface Counted {
  readonly bytesRead?: number;
}

/**
 * The error of queries on a silent connection, with the code for an unresponsive peer, which callers treat as an
 * outage.
 */
const timedOut = (ms: number): Error =>
  Object.assign(new Error(`nothing came for ${ms} ms`), { code: 'ETIMEDOUT' });

/**
 * Closes a connection if the server sends nothing for `silenceMs` during a query. `pg`'s own limit (`query_timeout`)
 * fails the query but leaves the connection and later queries waiting for ever. Call it before the first query.
 */
function cutWhenSilent(client: pg.Client, silenceMs: number): void {
  const { connection } = client;
  const read = (): number => (connection.stream as Counted).bytesRead ?? 0;
  let timer: NodeJS.Timeout | null = null;
  let before = 0;

  function stop(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  }
  function listen(): void {
    before = read();
    timer = setTimeout(suspect, silenceMs);
  }
  function suspect(): void {
    if (read() === before) timer = setTimeout(cutOrListen, CATCH_UP_MS);
    else listen();
  }
  function cutOrListen(): void {
    if (read() !== before) {
      listen();
      return;
    }
    timer = null;
    connection.stream.destroy(timedOut(silenceMs));
  }

  const query = client.query.bind(client) as (...given: readonly unknown[]) => unknown;
  client.query = ((...given: readonly unknown[]) => {
    if (timer === null) listen();
    return query(...given);
  }) as typeof client.query;
  client.on('drain', stop);
  client.on('end', stop);
  cutWhenNotClosed(client);
}

/** Closing a connection must not wait for an unresponsive server. */
function cutWhenNotClosed(client: pg.Client): void {
  const end = client.end.bind(client) as (...given: readonly unknown[]) => unknown;
  let ended = false;
  client.once('end', () => {
    ended = true;
  });
  client.end = ((...given: readonly unknown[]) => {
    if (!ended) {
      const timer = setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS);
      client.once('end', () => clearTimeout(timer));
    }
    return end(...given);
  }) as typeof client.end;
}

/** Pings a connection that only listens or holds a lock. A silent one is closed, which its users see as its end. */
function pingRegularly(client: pg.Client, everyMs: number): void {
  const timer = setInterval(() => void client.query('select 1').catch(() => undefined), everyMs);
  timer.unref();
  client.once('end', () => clearInterval(timer));
}
