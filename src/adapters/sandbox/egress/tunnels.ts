import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Maximum number of open connections of one command, and of waiting ones. Our default; most package managers use 50. */
const MAX_TUNNELS = 256;
/** A connection without traffic for this long may be closed for a new one, milliseconds. Our default. */
const IDLE_MS = 2_000;
/** How long a new connection waits for one to end, milliseconds. Our default. */
const WAIT_MS = 20_000;
const ROOM_POLL_MS = 100;

interface Tunnels {
  /**
   * Resolves when there is room for the client; false if there is none in time. Some package managers (Yarn 1) open a
   * connection for each package and leave it open: the one that was idle longest is closed then, as servers do.
   */
  admit(client: Socket): Promise<boolean>;
  closeAll(): void;
}

export function openTunnels(most = MAX_TUNNELS, idleMs = IDLE_MS): Tunnels {
  const open = new Map<Socket, { bytes: number; since: number }>();
  const waiting = new Set<Socket>();
  const enter = (client: Socket): true => {
    open.set(client, { bytes: trafficOf(client), since: performance.now() });
    client.once('close', () => open.delete(client));
    return true;
  };
  const idlest = (): Socket | null => {
    const now = performance.now();
    let found: Socket | null = null;
    let longest = idleMs;
    for (const [client, activity] of open) {
      if (trafficOf(client) !== activity.bytes)
        Object.assign(activity, { bytes: trafficOf(client), since: now });
      if (now - activity.since <= longest) continue;
      longest = now - activity.since;
      found = client;
    }
    return found;
  };
  return {
    async admit(client) {
      if (open.size < most) return enter(client);
      if (waiting.size >= most) return false;
      waiting.add(client);
      try {
        const end = performance.now() + WAIT_MS;
        while (performance.now() < end && !client.destroyed) {
          const idle = open.size < most ? null : idlest();
          if (idle) {
            open.delete(idle);
            idle.destroy();
          }
          if (open.size < most) return enter(client);
          await sleep(ROOM_POLL_MS);
        }
        return false;
      } finally {
        waiting.delete(client);
      }
    },
    closeAll() {
      for (const client of [...open.keys(), ...waiting]) client.destroy();
    },
  };
}

const trafficOf = ({ bytesRead, bytesWritten }: Socket): number => bytesRead + bytesWritten;
