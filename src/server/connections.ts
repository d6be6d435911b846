import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Holding, toDrop } from './body-budget.ts';

/**
 * The sender, for sharing out memory and connections: the IPv4 address, or the /64 network of the IPv6 address, which is
 * what one customer has. Behind a reverse proxy all senders are one.
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
  /** Keeps the connection from being closed for others while a request is answered; returns what ends that. */
  busy(socket: Socket): () => void;
}

/**
 * Keeps at most `most` connections. Node's own `maxConnections` would refuse the newest, and so GitHub. Here one more closes
 * the oldest of the sender that has the most; never one whose request has arrived whole and waits for its answer, and where
 * all do, the new one.
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
