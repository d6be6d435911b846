import type pg from 'pg';

/** Node's error codes for a server that cannot be reached. */
const UNREACHABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/**
 * SQLSTATE classes and codes: connection, authorisation, no such database, too many connections, shutdown, a
 * transaction that was idle for too long.
 */
const NO_CONNECTION = /^(08...|28...|3D000|53300|57P0.|25P0[34])$/;
const BROKEN =
  /connection terminated|timeout exceeded when trying to connect|connection error|driver has already been destroyed|after calling end/i;
const READ_ONLY = '25006';
/** SQLSTATEs of a server that answers but cannot write: an outage, which runs wait out. Nothing was written. */
const NO_WRITES: Readonly<Record<string, string>> = {
  '53000': 'it is short of something',
  '53100': 'its disk is full',
  '53200': 'its memory is used up',
  '53400': 'a limit of its configuration is reached',
  [READ_ONLY]: 'it is read-only, as servers are whose disk is nearly full, and stand-bys',
  '58030': 'its disk fails',
};

/** SQLSTATEs of a transaction that was ended so that others could continue; it was rolled back and can be retried. */
const ROLLED_BACK: Readonly<Record<string, string>> = {
  '57014': 'the statement took longer than its limit',
  '55P03': 'a lock was held by others for longer than its limit',
  '40001': 'another transaction changed the same rows',
  '40P01': 'it was in a deadlock with another transaction',
};

/**
 * What the database cannot do at present, as a sentence, for an error of `pg` after which the same work can be done
 * again; null for all others. Such messages contain hosts and users, never a password.
 */
export function outageOf(thrown: unknown): string | null {
  const { code = '', message = '' } = (thrown ?? {}) as { code?: string; message?: string };
  const short = NO_WRITES[code];
  if (short !== undefined) return `The database takes no writes: ${short} (${message}).`;
  const gaveWay = ROLLED_BACK[code];
  if (gaveWay !== undefined) return `The database ended a transaction: ${gaveWay} (${message}).`;
  if (UNREACHABLE_CODES.has(code) || NO_CONNECTION.test(code) || BROKEN.test(message))
    return `The database cannot be reached: ${message || code}.`;
  return null;
}

/**
 * Closes a connection whose server turned out to be read-only as soon as it is free: after a fail-over it leads to the
 * old server, and the pool of a busy process would keep it.
 */
export function leaveReadOnlyServers(pool: pg.Pool): void {
  const left = new WeakSet<pg.ClientBase>();
  pool.on('connect', (client) => {
    client.connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code === READ_ONLY) left.add(client);
    });
  });
  pool.on('release', (_error, client) => {
    // The pool drops a connection that is being closed.
    if (left.has(client)) void client.end();
  });
}
