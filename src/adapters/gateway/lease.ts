import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { asFault, Fault, type Usage } from '../../core/model/index.ts';
import type { CapName, Grant, Lease } from '../../ports/index.ts';
import { hashOf, openRooms, type SharedRoom } from './admission.ts';
import { type LeaseContext, leaseListener } from './calls.ts';
import { openRefusalLog } from './refusal-log.ts';

interface LeaseOptions {
  readonly grant: Grant;
  readonly onUsage: ((usage: Usage) => void) | undefined;
  readonly shared: Pick<
    LeaseContext,
    | 'purse'
    | 'recall'
    | 'providers'
    | 'book'
    | 'counter'
    | 'secrets'
    | 'clock'
    | 'log'
    | 'silenceMs'
    | 'mostMs'
    | 'onRefusal'
  >;
  readonly room: SharedRoom;
  readonly dir: string;
  readonly forget: (lease: Lease) => void;
}

export async function openLease({ grant, onUsage, shared, room, dir, forget }: LeaseOptions): Promise<Lease> {
  const { purse, clock, log } = shared;
  const key = `gw-${randomBytes(32).toString('base64url')}`;
  let refusal: string | null = null;
  let cap: CapName | null = null;
  let lastActivity: number | null = null;
  let closing: Promise<void> | undefined;
  const inFlight = new Set<Promise<void>>();
  const refusals = openRefusalLog(log, clock, { run: grant.runId, spender: grant.spender });
  const context: LeaseContext = {
    ...shared,
    grant,
    terms: { keyHash: hashOf(key), expiresAt: clock.elapsed() + grant.ttlMs, models: grant.models },
    note: (why, reached) => {
      refusal = why;
      cap = reached ?? null;
    },
    alive: () => {
      lastActivity = clock.elapsed();
    },
    settled: () => {
      try {
        onUsage?.(purse.usage());
      } catch (error) {
        // A fault of the listener must not interrupt an answer that is paid for.
        log.error({ run: grant.runId, code: asFault(error).code }, 'A usage listener failed.');
      }
    },
    refusals,
    inFlight,
    rooms: openRooms(room),
  };
  // Calls arrive through the socket, outside of any context; their log lines belong to the work that opened the lease.
  const listener = AsyncLocalStorage.bind(leaseListener(context));
  const door = await openDoor(dir, listener).catch(async (error: unknown) => {
    await purse.close();
    throw error;
  });
  const shut = async () => {
    await door.close();
    await Promise.all(inFlight);
    await purse.close();
    refusals.close();
    forget(lease);
  };
  const lease: Lease = {
    socket: door.path,
    key,
    usage: () => purse.usage(),
    refusal: () => refusal,
    capReached: () => cap,
    lastActivity: () => lastActivity,
    close() {
      closing ??= shut();
      return closing;
    },
  };
  return lease;
}

/** The kernel's limit for the address of a unix socket is 108 bytes (unix(7)); a sandbox may add a prefix. */
const LONGEST_PATH = 99;
const NAME = /^gw-[0-9a-f]{12}\.sock$/;
const socketName = () => `gw-${randomBytes(6).toString('hex')}.sock`;
/** Limits the memory that one sandbox can make us use, together with the limit of a body. */
const MOST_CONNECTIONS = 24;
/** Milliseconds for the headers and for a whole request: a sandbox sends from the same machine. Our defaults. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
} as const;

/** Creates the folder of sockets, which others may enter but not list. */
export function prepareSocketFolder(dir: string): void {
  const bytes = Buffer.byteLength(join(dir, socketName()));
  if (bytes > LONGEST_PATH) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      `The gateway's sockets cannot lie in ${dir}: a socket's path would have ${bytes} bytes, and ${LONGEST_PATH} are possible. Choose a data folder with a shorter path.`,
    );
  }
  mkdirSync(dir, { recursive: true, mode: 0o711 });
}

/** Removes sockets on which nobody listens, as left behind by a killed process. */
export async function removeStaleSockets(dir: string): Promise<void> {
  const names = (await readdir(dir)).filter((name) => NAME.test(name));
  for (const path of names.map((name) => join(dir, name))) {
    if (!(await isAlive(path))) await rm(path, { force: true });
  }
}

function isAlive(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.on('connect', () => resolve(true));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  return promise.finally(() => socket.destroy());
}

interface Door {
  readonly path: string;
  /** Closes all connections and removes the socket. */
  close(): Promise<void>;
}

/** A server on a new socket that any user may connect to: in a sandbox the caller has another uid. */
async function openDoor(dir: string, listener: RequestListener): Promise<Door> {
  const path = join(dir, socketName());
  const server: Server = createServer(TIMEOUTS, listener);
  server.maxConnections = MOST_CONNECTIONS;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(path, resolve);
  await promise;
  await chmod(path, 0o666);
  return {
    path,
    async close() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
      await rm(path, { force: true });
    },
  };
}
