import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The memory shared by all request bodies that are being read or processed. */
export interface BodyBudget {
  /** Registers a body that begins to arrive. `dropped` is called when its memory is given to others; from then on it no longer counts. */
  open(sender: string, dropped: () => void): HeldBody;
  /** Bytes held now. */
  readonly held: number;
}

export interface HeldBody {
  /** Sets how many bytes it holds in total. Returns false when they exceed the budget; the body then no longer counts. */
  hold(bytes: number): boolean;
  /** The body is complete and is being processed: from now on it is not dropped. */
  keep(): void;
  /** The body is no longer needed. */
  release(): void;
}

/**
 * A budget of `maxBytes`. When a body needs more than is left, unfinished bodies are dropped, each time the oldest of the
 * sender that holds the most, until it fits. Complete bodies are kept until they are released.
 */
export function openBodyBudget(maxBytes: number): BodyBudget {
  interface Entry extends Holding {
    weight: number;
    droppable: boolean;
    readonly dropped: () => void;
  }
  const entries = new Set<Entry>();
  let held = 0;

  function remove(entry: Entry): void {
    if (entries.delete(entry)) held -= entry.weight;
  }
  function hold(entry: Entry, bytes: number): boolean {
    if (!entries.has(entry)) return false;
    held += bytes - entry.weight;
    entry.weight = bytes;
    while (held > maxBytes) {
      const victim = toDrop(entries) ?? entry;
      remove(victim);
      if (victim === entry) return false;
      victim.dropped();
    }
    return true;
  }
  return {
    open(sender, dropped) {
      const entry: Entry = { sender, weight: 0, droppable: true, dropped };
      entries.add(entry);
      return {
        hold: (bytes) => hold(entry, bytes),
        keep: () => {
          entry.droppable = false;
        },
        release: () => remove(entry),
      };
    },
    get held() {
      return held;
    },
  };
}

/** What one sender holds of a resource that all senders share. */
interface Holding {
  readonly sender: string;
  /** In the unit of the resource: bytes, or 1 for a connection. */
  readonly weight: number;
  /** False while it is being processed. */
  readonly droppable: boolean;
}

/**
 * What to drop to free the resource for others: the oldest holding of the sender that holds the most, so that a sender
 * that holds little is never first. `holdings` are in the order in which they began. Null if nothing can be dropped.
 */
export function toDrop<T extends Holding>(holdings: Iterable<T>): T | null {
  const senders = new Map<string, { weight: number; oldest: T | null }>();
  for (const one of holdings) {
    const sender = senders.get(one.sender) ?? { weight: 0, oldest: null };
    senders.set(one.sender, sender);
    sender.weight += one.weight;
    if (one.droppable) sender.oldest ??= one;
  }
  let found: { weight: number; oldest: T } | null = null;
  for (const { weight, oldest } of senders.values()) {
    if (oldest && (!found || weight > found.weight)) found = { weight, oldest };
  }
  return found?.oldest ?? null;
}

/**
 * The sender, for sharing out memory and connections: the IPv4 address, or the /64 network of an IPv6 address, which is
 * what one customer gets. Behind a reverse proxy all senders are the same.
 */
export function senderOf({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string {
  const four = /(?:^|:)(\d+\.\d+\.\d+\.\d+)$/.exec(remoteAddress)?.[1];
  if (four !== undefined) return four;
  const [head = '', tail] = (remoteAddress.split('%')[0] ?? '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const zeros = tail === undefined ? 0 : 8 - groups.length - tail.split(':').filter(Boolean).length;
  return [...groups, ...Array.from({ length: Math.max(0, zeros) }, () => '0')].slice(0, 4).join(':');
}

export interface Connections {
  /** Keeps the connection open for a request that is being answered. Returns the function that ends this, once. */
  busy(socket: Socket): () => void;
}

/**
 * Keeps at most `most` connections. Node's own `maxConnections` would refuse the newest one, which may be GitHub's.
 * Here one more connection closes the oldest one of the sender that has the most, but never one whose complete request
 * is being answered; if all are, the new one is closed.
 */
export function limitConnections(server: Server, most: number): Connections {
  interface Entry extends Holding {
    readonly socket: Socket;
    working: number;
  }
  const entries = new Map<Socket, Entry>();
  server.on('connection', (socket) => {
    entries.set(socket, {
      socket,
      sender: senderOf(socket),
      weight: 1,
      working: 0,
      get droppable() {
        return this.working === 0;
      },
    });
    socket.once('close', () => entries.delete(socket));
    if (entries.size <= most) return;
    const dropped = toDrop(entries.values());
    entries.delete(dropped?.socket ?? socket);
    (dropped?.socket ?? socket).destroy();
  });
  return {
    busy(socket) {
      const entry = entries.get(socket);
      if (!entry) return () => undefined;
      entry.working += 1;
      let isHeld = true;
      return () => {
        if (isHeld) entry.working -= 1;
        isHeld = false;
      };
    },
  };
}
