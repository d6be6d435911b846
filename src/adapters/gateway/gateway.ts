import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { asFault, type RunId, type Usage, type Usd } from '../../core/model/index.ts';
import { secretsOf } from '../../core/secrets/index.ts';
import type { CapName, Clock, Gateway, Grant, Lease, Log } from '../../ports/index.ts';
import { openAccounts } from './accounts.ts';
import { hashOf, type RefusalKind } from './admission.ts';
import type { Ledger } from './bookings.ts';
import { openCounter } from './count.ts';
import { type LeaseContext, leaseListener } from './lease.ts';
import { offersOf } from './offers.ts';
import { priceBook, type TokenPrice } from './prices.ts';
import { defaultModelsOf, namedModel, type Providers, routeTo } from './providers.ts';
import { type Answers, openRecall } from './recall.ts';
import { openRefusalLog } from './refusal-log.ts';
import { openRooms, type SharedRoom } from './room.ts';
import type { DayCaps } from './scopes.ts';
import { openDoor, prepareSocketFolder, removeStaleSockets } from './sockets.ts';
import { UPSTREAM_MOST_MS, UPSTREAM_SILENCE_MS } from './upstream.ts';

export interface GatewayOptions {
  /** Folder for sockets; short, as a socket's path must stay under 100 bytes. Made when it is missing. */
  readonly dir: string;
  readonly providers: Providers;
  /** Prices that stand before the maintained table, by `provider/model`. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  readonly dayCaps: DayCaps;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds without a byte from a provider before a call is given up; default ten minutes. */
  readonly upstreamSilenceMs?: number;
  /** Milliseconds for one call to a provider, from the first byte to the last; default twenty minutes. */
  readonly upstreamMostMs?: number;
  /** Milliseconds for which a call waits for money that other calls hold; default four minutes. */
  readonly budgetWaitMs?: number;
  /** Where finished answers are kept for whoever starts over; absent: nowhere, and they are paid again. */
  readonly answers?: Answers;
  /** Told of each call that is refused, for counting. */
  readonly onRefusal?: (kind: RefusalKind) => void;
  /** Milliseconds that a provider may take to tell what it offers; default ten seconds. */
  readonly offersMs?: number;
}

/** Shorter than the silence after which a coder is stopped by default (five minutes). Our default. */
const BUDGET_WAIT_MS = 4 * 60_000;
/** Milliseconds that a call may take to be settled after its end, and by which the clocks of two machines may differ. */
const SETTLING_MS = 2 * 60_000;

/** Opens the gateway. Faults: ENVIRONMENT_INVALID when `dir` is too long for sockets. */
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
  const mostMs = options.upstreamMostMs ?? UPSTREAM_MOST_MS;
  const room: SharedRoom = { bytes: 0 };
  const counter = openCounter(clock);
  const { onRefusal } = options;
  const shared = { providers, book, counter, secrets, clock, log, silenceMs, mostMs, onRefusal };
  const waitMs = options.budgetWaitMs ?? BUDGET_WAIT_MS;
  const accounts = openAccounts({ ...options, waitMs, underWayMs: mostMs + SETTLING_MS });
  const leases = new Map<Lease, Grant & { runCapUsd: Usd }>();
  const runCaps = new Map<RunId, Usd>();
  const route: Gateway['route'] = (name, how) => routeTo(providers, book, clock.now(), name, how);

  return {
    route,
    async open(grant, onUsage) {
      const { capTokens } = grant;
      for (const model of grant.models) route(model, capTokens === undefined ? {} : { capTokens });
      await swept;
      // One object of this lease's own: its cap can change while calls are counted against it.
      const held = { ...grant, runCapUsd: runCaps.get(grant.runId) ?? grant.runCapUsd };
      const { answers } = options;
      const recall = answers ? await openRecall({ ...answers, clock, log }, grant) : null;
      const purse = await accounts.open(held);
      const lease = await openLease({
        grant: held,
        onUsage,
        shared: { ...shared, purse, recall },
        room,
        dir,
        forget: (closed) => leases.delete(closed),
      });
      leases.set(lease, held);
      return lease;
    },
    capRun(runId, usd) {
      // A stage that began before brings the old one in every grant until it ends.
      runCaps.set(runId, usd);
      for (const grant of leases.values()) if (grant.runId === runId) grant.runCapUsd = usd;
    },
    estimate(name, { tokensIn, tokensCached, tokensOut }) {
      const { provider, model } = namedModel(name);
      const tokens = { input: tokensIn, cacheRead: tokensCached, output: tokensOut };
      return book.cost(provider, model, { ...tokens, cacheWrite: 0, cacheWriteHour: 0 }, clock.now());
    },
    defaultModels: () => defaultModelsOf(providers),
    offers: (signal) => offersOf({ providers, book, clock, ms: options.offersMs, signal }),
    async close() {
      await Promise.all([...leases.keys()].map((lease) => lease.close()));
    },
  };
}

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

async function openLease({ grant, onUsage, shared, room, dir, forget }: LeaseOptions): Promise<Lease> {
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
        // The listener's fault must not cut an answer that is paid for.
        log.error({ run: grant.runId, code: asFault(error).code }, 'A listener for usage failed.');
      }
    },
    refusals,
    inFlight,
    rooms: openRooms(room),
  };
  // Calls come by the socket, from outside: what is logged of them belongs to the work that opened the lease.
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
