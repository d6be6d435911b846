import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Maximum number of open connections of one command, and of waiting ones. Our default; most package managers use 50. */
const MAX_TUNNELS = 256;
/** A connection that nobody has used for this long may be closed for a new one, milliseconds. Our default. */
const IDLE_MS = 2_000;
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
  /** The client sent bytes: it waits for an answer, however long. So does one that never received any. */
  asked(client: Socket): void;
  /** The host sent bytes. */
  answered(client: Socket): void;
  closeAll(): void;
}

interface Use {
  owed: boolean;
  since: number;
}

export function openTunnels(): Tunnels {
  const open = new Map<Socket, Use>();
  const waiting = new Set<Socket>();
  const enter = (client: Socket): true => {
    open.set(client, { owed: true, since: performance.now() });
    client.once('close', () => open.delete(client));
    return true;
  };
  const used = (client: Socket, owed: boolean): void => {
    const use = open.get(client);
    if (use) Object.assign(use, { owed, since: performance.now() });
  };
  const closeIdlest = (): void => {
    const [first] = [...open]
      .filter(([, { owed, since }]) => !owed && performance.now() - since >= IDLE_MS)
      .toSorted(([, one], [, other]) => one.since - other.since);
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
        while (performance.now() < end && !client.destroyed) {
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
    asked: (client) => used(client, true),
    answered: (client) => used(client, false),
    closeAll() {
      for (const client of [...open.keys(), ...waiting]) client.destroy();
    },
  };
}
