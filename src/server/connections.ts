import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Holding, toDrop } from './body-budget.ts';

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
  /** Keeps the connection open for a request that is being answered. Returns the function that ends this. */
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
      return () => {
        entry.working -= 1;
      };
    },
  };
}
