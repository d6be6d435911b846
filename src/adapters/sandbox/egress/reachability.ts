import type { FailedHost } from '../../../ports/index.ts';

/** Milliseconds between two reports of traffic, our default. */
const TRAFFIC_EVERY_MS = 1_000;
/** Maximum number of hosts stored, our default: a message shows a few. */
const MAX_HOSTS = 20;
/** Milliseconds without an answer after which a host counts as unreachable if the client disconnects; our default. */
const NO_ANSWER_MS = 10_000;

/** Reachability of a command's allowed hosts, derived from its connections. `why` completes "the host …". */
export interface Reachability {
  /** A connection could not be made. */
  failed(host: string, why: string): void;
  /** A connection was made. */
  connected(host: string): Connection;
  /** Hosts whose last connection failed, in the order of the first time. */
  failures(): readonly FailedHost[];
}

interface Connection {
  /** The client sent bytes. */
  asked(): void;
  /** The host sent bytes. */
  answered(): void;
  /** The client closed the connection. */
  ended(): void;
  /** The host closed the connection; `why` if it broke off. */
  lost(why?: string): void;
}

/**
 * A host that responded after a failure counts as reachable: clients retry, and a later failure has another cause.
 * `noAnswerMs`: tests only.
 */
export function openReachability(
  onTraffic: (() => void) | undefined,
  noAnswerMs = NO_ANSWER_MS,
): Reachability {
  const failures = new Map<string, string>();
  /** Connections that wait for a response of their host, with the start of the wait. */
  const owing = new Map<Connection, { readonly host: string; readonly since: number }>();
  let reportedAt = Number.NEGATIVE_INFINITY;
  const failed = (host: string, why: string): void => {
    if (failures.size < MAX_HOSTS || failures.has(host)) failures.set(host, why);
  };
  const reportTraffic = (): void => {
    const now = performance.now();
    if (now - reportedAt < TRAFFIC_EVERY_MS) return;
    reportedAt = now;
    onTraffic?.();
  };
  const giveUp = (connection: Connection): void => {
    const owes = owing.get(connection);
    owing.delete(connection);
    if (owes && performance.now() - owes.since >= noAnswerMs) failed(owes.host, 'does not answer');
  };
  return {
    failed,
    connected(host) {
      let over = false;
      const connection: Connection = {
        asked() {
          if (!over && !owing.has(connection)) owing.set(connection, { host, since: performance.now() });
        },
        answered() {
          owing.delete(connection);
          failures.delete(host);
          reportTraffic();
        },
        ended() {
          over = true;
          giveUp(connection);
        },
        lost(why) {
          const owed = owing.delete(connection);
          if (over) return;
          over = true;
          if (why !== undefined) failed(host, why);
          else if (owed) failed(host, 'closed the connection without an answer');
        },
      };
      return connection;
    },
    failures() {
      // The command may have ended before its connections are closed.
      for (const connection of owing.keys()) giveUp(connection);
      return [...failures].map(([host, why]) => ({ host, why }));
    },
  };
}
