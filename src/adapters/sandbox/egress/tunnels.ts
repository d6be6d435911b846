import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Maximum number of open connections of one command, and of waiting ones. Our default; most package managers use 50. */
const MAX_TUNNELS = 256;
/** Maximum number of a command's connections to its proxy: with those that are being refused, or have asked for nothing yet. */
export const MAX_CLIENTS = 2 * MAX_TUNNELS + 64;
/**
 * A connection whose host has answered, and that nobody has used for this long, may be closed for a new one, milliseconds.
 * Our default.
 */
const IDLE_MS = 2_000;
/** The same if the host has sent so little since the client's last bytes that its answer may still be due. */
const OWED_IDLE_MS = 15_000;
/** Maximum bytes of a host that may be a handshake alone. Our default: two session tickets of TLS 1.3 have some 600. */
const HANDSHAKE_BYTES = 2_048;
/**
 * The first flight of a client (what it sends without an answer in between) in which its request can be. The answer to
 * the flight before, which begins TLS, is a chain of certificates, and a busy client may take seconds until it goes on.
 */
const REQUEST_FLIGHT = 2;
/** How long a new connection waits for one to end, milliseconds. Our default. */
const WAIT_MS = 20_000;
const ROOM_POLL_MS = 100;

export interface Tunnels {
  /**
   * Resolves when there is room for the client, in the order of the calls; false if there is none in time. Some package
   * managers (Yarn 1) open a connection for each package and leave it open: the one that was idle longest is closed
   * then, as servers do.
   */
  admit(client: Socket): Promise<boolean>;
  /** The client sent bytes. */
  asked(client: Socket): void;
  /** The host sent bytes, which are written to the client. */
  answered(client: Socket): void;
  /** A request of the client is under way: it is not idle until the returned function is called. */
  hold(client: Socket): () => void;
  closeAll(): void;
}

interface Use {
  /** What the client had been sent when it last sent bytes itself. */
  readonly sent: number;
  /** Flights of the client so far. */
  readonly flights: number;
  /** Infinity while a request is under way. */
  readonly since: number;
}

export function openTunnels(): Tunnels {
  const open = new Map<Socket, Use>();
  const waiting = new Set<Socket>();
  const enter = (client: Socket): true => {
    open.set(client, { sent: client.bytesWritten, flights: 0, since: performance.now() });
    client.once('close', () => open.delete(client));
    return true;
  };
  const update = (client: Socket, change: (use: Use) => Partial<Use>): void => {
    const use = open.get(client);
    if (use) open.set(client, { ...use, since: performance.now(), ...change(use) });
  };
  const mayBeAnswered = (client: Socket, { sent, flights }: Use): boolean =>
    flights >= REQUEST_FLIGHT && client.bytesWritten - sent > HANDSHAKE_BYTES;
  const isIdle = ([client, use]: readonly [Socket, Use]): boolean =>
    // What the client has not read yet is no silence.
    client.writableLength === 0 &&
    performance.now() - use.since >= (mayBeAnswered(client, use) ? IDLE_MS : OWED_IDLE_MS);
  const closeIdlest = (): void => {
    const [first] = [...open].filter(isIdle).toSorted(([, one], [, other]) => one.since - other.since);
    if (!first) return;
    open.delete(first[0]);
    first[0].destroy();
  };
  return {
    async admit(client) {
      if (open.size < MAX_TUNNELS && waiting.size === 0) return enter(client);
      if (waiting.size >= MAX_TUNNELS) return false;
      waiting.add(client);
      try {
        const end = performance.now() + WAIT_MS;
        while (performance.now() < end && !client.destroyed && !client.readableEnded) {
          if (waiting.values().next().value === client) {
            if (open.size >= MAX_TUNNELS) closeIdlest();
            if (open.size < MAX_TUNNELS) return enter(client);
          }
          await sleep(ROOM_POLL_MS);
        }
        return false;
      } finally {
        waiting.delete(client);
      }
    },
    asked: (client) =>
      update(client, ({ sent, flights }) => ({
        sent: client.bytesWritten,
        flights: client.bytesWritten > sent ? flights + 1 : flights,
      })),
    answered: (client) => update(client, () => ({})),
    hold(client) {
      update(client, () => ({ since: Number.POSITIVE_INFINITY }));
      // It is answered, whatever was written: by TLS, which the socket does not count.
      return () => update(client, () => ({ sent: Number.NEGATIVE_INFINITY, flights: REQUEST_FLIGHT }));
    },
    closeAll() {
      for (const client of [...open.keys(), ...waiting]) client.destroy();
    },
  };
}
