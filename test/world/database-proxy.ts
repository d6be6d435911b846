import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What happens to bytes of one direction. */
export type Passing = 'pass' | 'swallow';

export interface DatabaseProxy {
  /** The same database, through this proxy. */
  readonly url: string;
  /** Bytes to and from the server from now on, of connections that are open and of those to come. */
  let(toServer: Passing, fromServer: Passing): void;
  /** Nobody gets in; who is in stays. */
  refuse(): void;
  /** Ends every connection with a reset. */
  reset(): void;
  /** Milliseconds that each piece of bytes waits before it goes on. */
  delay(ms: number): void;
  /**
   * The server gets the next message that holds `text`, on a connection that sent `after` before, and its answer is
   * swallowed with all that follows there. Once; resolves when that has happened.
   */
  loseAnswerTo(text: string, after?: string): Promise<void>;
  /** The next answer on each connection is cut in its middle, and the connection reset. */
  cutInMessage(): void;
  /** Everything passes again, for new connections; those that were swallowed stay as they are, as behind a real firewall. */
  heal(): void;
  close(): Promise<void>;
}

interface Weather {
  toServer: Passing;
  fromServer: Passing;
  refused: boolean;
  delayMs: number;
  cut: boolean;
  trap: { readonly text: string; readonly after: string; readonly sprung: () => void } | null;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Bytes of it were swallowed: what comes later would make no sense. */
  broken: boolean;
  /** It sent what a trap waits for. */
  primed: boolean;
}

/** A TCP proxy before the database of this address. */
export async function openDatabaseProxy(target: string): Promise<DatabaseProxy> {
  const { hostname, port } = new URL(target);
  const weather: Weather = {
    toServer: 'pass',
    fromServer: 'pass',
    refused: false,
    delayMs: 0,
    cut: false,
    trap: null,
  };
  const pairs = new Set<Pair>();
  const listener: Server = createServer((client) => {
    if (weather.refused) {
      client.resetAndDestroy();
      return;
    }
    join(client, connect(Number(port), hostname), weather, pairs);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(target);
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    let(toServer, fromServer) {
      Object.assign(weather, { toServer, fromServer });
    },
    refuse() {
      weather.refused = true;
    },
    reset() {
      for (const { client, server } of pairs) {
        client.resetAndDestroy();
        server.destroy();
      }
    },
    delay(ms) {
      weather.delayMs = ms;
    },
    loseAnswerTo: (text, after = '') =>
      new Promise((sprung) => {
        weather.trap = { text, after, sprung };
      }),
    cutInMessage() {
      weather.cut = true;
    },
    heal() {
      Object.assign(weather, {
        toServer: 'pass',
        fromServer: 'pass',
        refused: false,
        delayMs: 0,
        cut: false,
      });
    },
    async close() {
      for (const { client, server } of pairs) {
        client.destroy();
        server.destroy();
      }
      const closed = once(listener, 'close');
      listener.close();
      await closed;
    },
  };
}

function join(client: Socket, server: Socket, weather: Weather, pairs: Set<Pair>): void {
  const pair: Pair = { client, server, broken: false, primed: false };
  pairs.add(pair);
  const pass = (to: Socket, bytes: Buffer): void => {
    const write = () => void (to.writable && to.write(bytes));
    if (weather.delayMs > 0) setTimeout(write, weather.delayMs);
    else write();
  };
  client.on('data', (bytes) => {
    const { trap } = weather;
    if (trap !== null && bytes.includes(trap.after)) pair.primed = true;
    if (trap !== null && pair.primed && bytes.includes(trap.text)) {
      weather.trap = null;
      pass(server, bytes);
      pair.broken = true;
      trap.sprung();
    } else if (weather.toServer === 'swallow') pair.broken = true;
    else if (!pair.broken) pass(server, bytes);
  });
  server.on('data', (bytes) => {
    if (weather.fromServer === 'swallow') pair.broken = true;
    if (pair.broken) return;
    if (weather.cut) {
      client.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => client.resetAndDestroy());
      pair.broken = true;
    } else pass(client, bytes);
  });
  const over = (): void => {
    pairs.delete(pair);
  };
  // A firewall tells neither side of the other's end.
  client.on('close', () => {
    over();
    if (!pair.broken) server.destroy();
    else setTimeout(() => server.destroy(), SILENT_END_MS).unref();
  });
  server.on('close', () => void (pair.broken || client.destroy()));
  client.on('error', () => undefined);
  server.on('error', () => undefined);
}

/** Milliseconds after which the server notices that the client of a broken connection is gone. */
const SILENT_END_MS = 3_000;
