import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { asFault, Fault, type Usage } from '../../core/model/index.ts';
import { secretsOf } from '../../core/secrets/index.ts';
import {
  CALL_LIMITS,
  type Clock,
  type Gateway,
  type Grant,
  type Lease,
  type Log,
} from '../../ports/index.ts';
import { openLeaseMemory, type RefusalKind, type SharedMemory, sha256Of } from './admission.ts';
import { type Answers, openAnswerCache } from './answer-cache.ts';
import { openAccounts } from './budgets.ts';
import { type LeaseContext, leaseListener } from './calls.ts';
import type { DailyBudgets } from './caps.ts';
import { openCounter } from './input-tokens.ts';
import type { Ledger } from './ledger.ts';
import {
  defaultModelsOf,
  namedModel,
  offersOf,
  type Providers,
  priceBook,
  routeTo,
  type TokenPrice,
} from './providers.ts';
import { openLastRefusal, openRefusalLog } from './refusal-log.ts';
import { UPSTREAM_SILENCE_MS } from './upstream.ts';

export { memoryLedger } from './ledger.ts';
export type { Providers } from './providers.ts';

export interface GatewayOptions {
  /**
   * Folder for sockets. Its path must be short, because a socket's path must stay below 100 bytes. Created if it does
   * not exist.
   */
  readonly dir: string;
  readonly providers: Providers;
  /** Prices that override the maintained table, by `provider/model`. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  readonly dayCaps: DailyBudgets;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds without a byte from a provider after which a call is given up; default ten minutes. */
  readonly upstreamSilenceMs?: number;
  /** Milliseconds for one call to a provider, from the first byte to the last; default twenty minutes. */
  readonly upstreamMostMs?: number;
  /** Milliseconds for which a call waits for money that other calls hold; default four minutes. */
  readonly budgetWaitMs?: number;
  /** Where finished answers are stored for coders that start again. Default: nowhere, and they are paid for again. */
  readonly answers?: Answers;
  /** Called for each rejected call, for metrics. */
  readonly onRefusal?: (kind: RefusalKind) => void;
  /** Milliseconds in which a provider must list its models; default ten seconds. */
  readonly offersMs?: number;
}

/** Shorter than the default silence after which a coder is stopped (five minutes). Our default. */
const BUDGET_WAIT_MS = 4 * 60_000;

/** Opens the gateway. Faults: ENVIRONMENT_INVALID if `dir` is too long for sockets. */
export function openGateway(options: GatewayOptions): Gateway {
  const { dir, clock, log, providers } = options;
  prepareSocketFolder(dir);
  const swept = removeStaleSockets(dir).catch((error: unknown) => {
    log.warn({ code: asFault(error).code }, 'Sockets of an earlier process could not be removed.');
  });
  const addresses = Object.entries(providers).map(([name, { baseUrl }]) => [name, baseUrl]);
  const book = priceBook(options.prices, Object.fromEntries(addresses));
  const secrets = secretsOf(Object.values(providers).map(({ key }) => key));
  const silenceMs = options.upstreamSilenceMs ?? UPSTREAM_SILENCE_MS;
  const mostMs = options.upstreamMostMs ?? CALL_LIMITS.mostMs;
  const sharedMemory: SharedMemory = { bytes: 0 };
  const counter = openCounter(clock);
  const { onRefusal } = options;
  const shared = { providers, book, counter, secrets, clock, log, silenceMs, mostMs, onRefusal };
  const waitMs = options.budgetWaitMs ?? BUDGET_WAIT_MS;
  const accounts = openAccounts({ ...options, waitMs, underWayMs: mostMs + CALL_LIMITS.settlingMs });
  const leases = new Set<Lease>();
  const route: Gateway['route'] = (name, how) => routeTo(providers, book, clock.now(), name, how);

  return {
    route,
    async open(grant, onUsage) {
      const { capTokens } = grant;
      for (const model of grant.models) route(model, capTokens === undefined ? {} : { capTokens });
      await swept;
      const { answers } = options;
      // An answer that was paid for while the database was away is known once it is written.
      await accounts.flush();
      const cache = answers ? await openAnswerCache({ ...answers, clock, log }, grant) : null;
      const account = await accounts.open(grant);
      const lease = await openLease({
        grant,
        onUsage,
        shared: { ...shared, account, cache },
        sharedMemory,
        dir,
        forget: (closed) => leases.delete(closed),
      });
      leases.add(lease);
      return lease;
    },
    estimate(name, { tokensIn, tokensCached, tokensOut }) {
      const { provider, model } = namedModel(name);
      const tokens = { input: tokensIn, cacheRead: tokensCached, output: tokensOut };
      return book.cost(provider, model, { ...tokens, cacheWrite: 0, cacheWriteHour: 0 }, clock.now());
    },
    defaultModels: () => defaultModelsOf(providers),
    offers: (signal) => offersOf({ providers, book, clock, ms: options.offersMs, signal }),
    async close() {
      await Promise.all([...leases].map((lease) => lease.close()));
    },
  };
}

interface LeaseOptions {
  readonly grant: Grant;
  readonly onUsage: ((usage: Usage) => void) | undefined;
  readonly shared: Pick<
    LeaseContext,
    | 'account'
    | 'cache'
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
  readonly sharedMemory: SharedMemory;
  readonly dir: string;
  readonly forget: (lease: Lease) => void;
}

async function openLease({
  grant,
  onUsage,
  shared,
  sharedMemory,
  dir,
  forget,
}: LeaseOptions): Promise<Lease> {
  const { account, clock, log } = shared;
  const key = `gw-${randomBytes(32).toString('base64url')}`;
  const last = openLastRefusal();
  let lastActivity: number | null = null;
  let closing: Promise<void> | undefined;
  const inFlight = new Set<Promise<void>>();
  const refusals = openRefusalLog(log, clock, { run: grant.runId, spender: grant.spender });
  const context: LeaseContext = {
    ...shared,
    grant,
    terms: { keyHash: sha256Of(key), expiresAt: clock.elapsed() + grant.ttlMs, models: grant.models },
    last,
    alive: () => {
      lastActivity = clock.elapsed();
    },
    settled: () => {
      try {
        onUsage?.(account.usage());
      } catch (error) {
        // A fault of the listener must not interrupt an answer that is paid for.
        log.error({ run: grant.runId, code: asFault(error).code }, 'A usage listener failed.');
      }
    },
    refusals,
    inFlight,
    memory: openLeaseMemory(sharedMemory),
  };
  // Calls arrive through the socket, outside of any context; their log lines belong to the work that opened the lease.
  const listener = AsyncLocalStorage.bind(leaseListener(context));
  const socket = await listenOnSocket(dir, listener).catch(async (error: unknown) => {
    await account.close();
    throw error;
  });
  const shut = async () => {
    await socket.close();
    await Promise.all(inFlight);
    await account.close();
    refusals.close();
    forget(lease);
  };
  const lease: Lease = {
    socket: socket.path,
    key,
    usage: () => account.usage(),
    refusal: last.why,
    capReached: last.cap,
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
const SOCKET_NAME = /^gw-[0-9a-f]{12}\.sock$/;
const socketName = () => `gw-${randomBytes(6).toString('hex')}.sock`;
/** Limits the memory that one sandbox can make us use, together with the limit of a body. */
const MAX_CONNECTIONS = 24;
/** Milliseconds for the headers and for a whole request: a sandbox sends from the same machine. Our defaults. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
} as const;

/** Creates the folder of sockets, which others may enter but not list. */
function prepareSocketFolder(dir: string): void {
  const bytes = Buffer.byteLength(join(dir, socketName()));
  if (bytes > LONGEST_PATH) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      `The gateway's sockets cannot lie in ${dir}: a socket's path would have ${bytes} bytes, and ${LONGEST_PATH} are possible. Choose a data folder with a shorter path.`,
    );
  }
  mkdirSync(dir, { recursive: true, mode: 0o711 });
}

/** Removes stale sockets left by killed processes. */
async function removeStaleSockets(dir: string): Promise<void> {
  const names = (await readdir(dir)).filter((name) => SOCKET_NAME.test(name));
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

interface ListeningSocket {
  readonly path: string;
  /** Closes all connections and removes the socket. */
  close(): Promise<void>;
}

/** A server on a new socket that any user may connect to: in a sandbox the caller has another uid. */
async function listenOnSocket(dir: string, listener: RequestListener): Promise<ListeningSocket> {
  const path = join(dir, socketName());
  const server: Server = createServer(TIMEOUTS, listener);
  server.maxConnections = MAX_CONNECTIONS;
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
