import { asFault, type RunId, type Usd } from '../../core/model/index.ts';
import { secretsOf } from '../../core/secrets/index.ts';
import type { Clock, Gateway, Grant, Lease, Log } from '../../ports/index.ts';
import type { RefusalKind, SharedRoom } from './admission.ts';
import { type Answers, openRecall } from './answer-cache.ts';
import { openAccounts } from './budgets.ts';
import type { DayCaps } from './caps.ts';
import { openLease, prepareSocketFolder, removeStaleSockets } from './lease.ts';
import type { Ledger } from './ledger.ts';
import { priceBook, type TokenPrice } from './prices.ts';
import { defaultModelsOf, namedModel, offersOf, type Providers, routeTo } from './providers.ts';
import { openCounter } from './token-count.ts';
import { UPSTREAM_MOST_MS, UPSTREAM_SILENCE_MS } from './upstream.ts';

export type { DayCaps } from './caps.ts';
export { memoryLedger } from './ledger.ts';
export type { TokenPrice } from './prices.ts';
export type { ProviderAccess, Providers } from './providers.ts';

export interface GatewayOptions {
  /**
   * Folder for sockets. Its path must be short, because a socket's path must stay below 100 bytes. Created if it does
   * not exist.
   */
  readonly dir: string;
  readonly providers: Providers;
  /** Prices that override the maintained table, by `provider/model`. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  readonly dayCaps: DayCaps;
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
/** Milliseconds for settling a call after its end, and for the difference between the clocks of two machines. */
const SETTLING_MS = 2 * 60_000;

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
      // A separate object for this lease: its cap can change while calls are counted against it.
      const held = { ...grant, runCapUsd: runCaps.get(grant.runId) ?? grant.runCapUsd };
      const { answers } = options;
      // An answer that was paid for while the database was away is known once it is written.
      await accounts.flush();
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
      // A stage that began earlier passes the old cap with every grant until it ends.
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
