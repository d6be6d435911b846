/**
 * How long a connection to Postgres waits, in milliseconds. A server that is there and does not answer (a firewall that
 * drops packets, a frozen process, a storage that hangs) looks like a slow one: only time tells.
 */
export interface ConnectionLimits {
  /** For a connection to be made, and for a free one of a pool. */
  readonly connectMs: number;
  /** Without a byte from the server while a query is under way; then the connection is cut, and its queries fail with ETIMEDOUT. */
  readonly silenceMs: number;
  /** For one statement, kept by the server itself: it must not go on with what nobody waits for. 0: none. */
  readonly statementMs: number;
  /** For a lock that others hold, kept by the server. 0: none. */
  readonly lockMs: number;
  /** For a transaction that stands still, kept by the server: a frozen process must not keep its locks. */
  readonly idleInTransactionMs: number;
}

/** Our defaults. The server gives up before the connection is cut, so that a slow server says why. */
export const LIMITS: ConnectionLimits = {
  connectMs: 10_000,
  silenceMs: 15_000,
  statementMs: 12_000,
  lockMs: 10_000,
  idleInTransactionMs: 10_000,
};

/** For work that may take long on a large database: migrations, indexes, retention. Our default. */
export const LONG_WORK: ConnectionLimits = {
  ...LIMITS,
  silenceMs: 3_600_000,
  statementMs: 0,
  lockMs: 0,
  idleInTransactionMs: 600_000,
};

/** Settings of the session that let the server notice within half a minute that a client is gone without a word. */
const NOTICE_GONE = [
  ['tcp_keepalives_idle', 15],
  ['tcp_keepalives_interval', 5],
  ['tcp_keepalives_count', 3],
  ['tcp_user_timeout', 30_000],
] as const;

/** A space would begin the next option. */
const escaped = (value: string): string => value.replaceAll(/[\\\s]/g, '\\$&');

/** The address with these settings for its sessions. What it sets itself stays as it is: that is the operator's will. */
export function withSettings(
  url: string,
  limits: ConnectionLimits,
  own: Readonly<Record<string, string>> = {},
): string {
  const address = new URL(url);
  const given = address.searchParams.get('options') ?? '';
  const bounds: readonly (readonly [string, number])[] = [
    ...NOTICE_GONE,
    ['idle_in_transaction_session_timeout', limits.idleInTransactionMs],
    ['statement_timeout', limits.statementMs],
    ['lock_timeout', limits.lockMs],
  ];
  // Whole names: `deadlock_timeout` sets no `lock_timeout`.
  const isGiven = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(given);
  const added = bounds.flatMap(([name, value]) => (isGiven(name) ? [] : [`-c ${name}=${value}`]));
  const named = Object.entries(own).map(([name, value]) => `-c ${name}=${escaped(value)}`);
  address.searchParams.set('options', [given, ...added, ...named].join(' ').trim());
  return address.href;
}
