import pg from 'pg';
import { type ConnectionLimits, LIMITS, withSettings } from './limits.ts';
import { askForLife, cutWhenSilent } from './silence.ts';

export interface ConnectOptions {
  /** As the server shows it. */
  readonly name: string;
  /** Absent: our defaults. */
  readonly limits?: ConnectionLimits | undefined;
  /** Further settings of its sessions, e.g. who it is. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PoolOptions extends ConnectOptions {
  /** Connections at most. They are opened on demand and closed after ten idle seconds. */
  readonly size: number;
  /** How values of columns are read; absent: as `pg` does. */
  readonly types?: pg.CustomTypesConfig;
}

/** Milliseconds without traffic after which the kernel asks a peer whether it is there. Our default. */
const KEEP_ALIVE_MS = 15_000;
/** Milliseconds between two signs of life of a connection that only listens or holds a lock. Our default. */
const SIGN_OF_LIFE_MS = 10_000;

function configOf(url: string, { name, limits = LIMITS, settings }: ConnectOptions): pg.ClientConfig {
  return {
    connectionString: withSettings(url, limits, settings),
    application_name: name,
    connectionTimeoutMillis: limits.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/** One that waits for notifications has no query under way: its death would not be noticed. */
function askListeners(client: pg.Client, everyMs: number): void {
  const query = client.query.bind(client) as (...given: readonly unknown[]) => unknown;
  let listens = false;
  client.query = ((...given: readonly unknown[]) => {
    if (!listens && /^\s*listen\s/i.test(String(given[0]))) {
      listens = true;
      askForLife(client, everyMs);
    }
    return query(...given);
  }) as typeof client.query;
}

/** A pool none of whose connections waits longer than its limits. */
export function openPool(url: string, options: PoolOptions): pg.Pool {
  const { size, types, limits = LIMITS } = options;
  const pool = new pg.Pool({ ...configOf(url, options), max: size, ...(types ? { types } : {}) });
  // An idle connection broke: the pool drops it by itself, and the next query says so if there is no server.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    // The pool stops listening when it closes a connection; one that breaks just then must not end the process.
    client.on('error', () => undefined);
    cutWhenSilent(client, limits.silenceMs);
    askListeners(client, Math.min(SIGN_OF_LIFE_MS, limits.silenceMs));
  });
  return pool;
}

/** A connection that is not made yet. */
export function newClient(url: string, options: ConnectOptions): pg.Client {
  const { limits = LIMITS } = options;
  const client = new pg.Client(configOf(url, options));
  // What goes wrong is told by the query it happens to; without a listener it would end the process.
  client.on('error', () => undefined);
  cutWhenSilent(client, limits.silenceMs);
  return client;
}

/** A connection of its own; rejects as `pg` does. With `holds` it is asked for signs of life. */
export async function openClient(
  url: string,
  options: ConnectOptions & { readonly holds?: boolean },
): Promise<pg.Client> {
  const { limits = LIMITS, holds = false } = options;
  const client = newClient(url, options);
  await client.connect();
  if (holds) askForLife(client, Math.min(SIGN_OF_LIFE_MS, limits.silenceMs));
  return client;
}
