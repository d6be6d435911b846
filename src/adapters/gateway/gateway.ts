import { randomBytes } from 'node:crypto';
import { asFault, Fault, type Usage } from '../../core/model/index.ts';
import type { Clock, Gateway, Grant, Lease, Log, ModelRoute } from '../../ports/index.ts';
import { type Ledger, openAccounts } from './accounts.ts';
import { hashOf } from './admission.ts';
import type { Provider } from './endpoints.ts';
import { type LeaseContext, leaseListener, type ProviderAccess } from './lease.ts';
import { priceBook, type TokenPrice } from './prices.ts';
import { secretsOf } from './redact.ts';
import { openDoor, prepareSocketFolder, removeStaleSockets } from './sockets.ts';
import { UPSTREAM_SILENCE_MS } from './upstream.ts';

/** Vendors' own addresses. */
export const PROVIDER_URLS = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
} as const satisfies Record<Provider, string>;

export interface Providers {
  readonly anthropic?: { readonly baseUrl: string; readonly key: string };
  readonly openai?: {
    readonly baseUrl: string;
    readonly key: string;
    /** `openai-responses` at the vendor; servers that imitate it mostly speak `openai-chat`. */
    readonly protocol: 'openai-chat' | 'openai-responses';
    /** Model for runs whose settings name none, as this server calls it; needed where the address is not the vendor's. */
    readonly defaultModel?: string;
  };
}

export interface GatewayOptions {
  /** Folder for sockets; short, as a socket's path must stay under 100 bytes. Made when it is missing. */
  readonly dir: string;
  readonly providers: Providers;
  /** Prices that stand before the maintained table, by `provider/model`. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds without a byte from a provider before a call is given up; default ten minutes. */
  readonly upstreamSilenceMs?: number;
}

/** The vendors' current models for agents at a middling price, known to the price table. Our default. */
const DEFAULT_MODELS = { anthropic: 'claude-sonnet-5', openai: 'gpt-6-sol' } as const;

/** One token in, one out: enough to ask whether a price is known. */
const ONE_TOKEN = { input: 1, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 1 };

/** Opens the gateway. Faults: ENVIRONMENT_INVALID when `dir` is too long for sockets. */
export function openGateway(options: GatewayOptions): Gateway {
  const { dir, clock, log } = options;
  prepareSocketFolder(dir);
  const swept = removeStaleSockets(dir).catch((error: unknown) => {
    log.warn({ code: asFault(error).code }, 'Sockets of an earlier process could not be removed.');
  });
  const providers = accessTo(options.providers);
  const book = priceBook(options.prices, baseUrls(providers));
  const accounts = openAccounts(options.ledger, log);
  const secrets = secretsOf([providers.anthropic?.key, providers.openai?.key]);
  const silenceMs = options.upstreamSilenceMs ?? UPSTREAM_SILENCE_MS;
  const shared = { providers, book, secrets, clock, log, silenceMs };
  const leases = new Set<Lease>();

  const route = (name: string): ModelRoute => {
    const { provider, model } = parseName(name);
    if (!providers[provider]) throw new Fault('MODEL_KEY_MISSING', `There is no key for ${name}.`);
    if (book.cost(provider, model, ONE_TOKEN, clock.now()) === null) {
      throw new Fault('MODEL_PRICE_UNKNOWN', `No price is known for ${name}, so its budget cannot be kept.`);
    }
    const protocol =
      provider === 'anthropic' ? 'anthropic' : (options.providers.openai?.protocol ?? 'openai-chat');
    return { protocol, model };
  };

  return {
    route,
    async open(grant, onUsage) {
      for (const model of grant.models) route(model);
      await swept;
      const purse = await accounts.open(grant.runId, grant.spender);
      const lease = await openLease({
        grant,
        onUsage,
        shared: { ...shared, purse },
        dir,
        forget: (closed) => leases.delete(closed),
      });
      leases.add(lease);
      return lease;
    },
    defaultModels: () => defaultModels(options.providers, providers),
    async close() {
      await Promise.all([...leases].map((lease) => lease.close()));
    },
  };
}

function parseName(name: string): { provider: Provider; model: string } {
  const slash = name.indexOf('/');
  const provider = name.slice(0, Math.max(0, slash));
  const model = name.slice(slash + 1);
  if (slash < 1 || model === '') {
    throw new Fault(
      'MODEL_UNAVAILABLE',
      `${name} is not a model: write provider/model, such as anthropic/${DEFAULT_MODELS.anthropic}.`,
    );
  }
  if (provider !== 'anthropic' && provider !== 'openai') {
    throw new Fault(
      'MODEL_KEY_MISSING',
      `There is no provider ${provider} for ${name}; providers are anthropic and openai.`,
    );
  }
  return { provider, model };
}

function accessTo(providers: Providers): Partial<Record<Provider, ProviderAccess>> {
  const access = (given: { baseUrl: string; key: string } | undefined, vendor: string) =>
    given && {
      baseUrl: given.baseUrl,
      key: given.key,
      official: new URL(given.baseUrl).hostname === new URL(vendor).hostname,
    };
  const anthropic = access(providers.anthropic, PROVIDER_URLS.anthropic);
  const openai = access(providers.openai, PROVIDER_URLS.openai);
  return { ...(anthropic ? { anthropic } : {}), ...(openai ? { openai } : {}) };
}

const baseUrls = (providers: Partial<Record<Provider, ProviderAccess>>) =>
  Object.fromEntries(Object.entries(providers).map(([name, access]) => [name, access.baseUrl]));

function defaultModels(
  given: Providers,
  access: Partial<Record<Provider, ProviderAccess>>,
): readonly string[] {
  const openai = given.openai?.defaultModel ?? (access.openai?.official ? DEFAULT_MODELS.openai : undefined);
  return [
    ...(access.anthropic ? [`anthropic/${DEFAULT_MODELS.anthropic}`] : []),
    ...(access.openai && openai ? [`openai/${openai}`] : []),
  ];
}

interface LeaseOptions {
  readonly grant: Grant;
  readonly onUsage: ((usage: Usage) => void) | undefined;
  readonly shared: Pick<
    LeaseContext,
    'purse' | 'providers' | 'book' | 'secrets' | 'clock' | 'log' | 'silenceMs'
  >;
  readonly dir: string;
  readonly forget: (lease: Lease) => void;
}

async function openLease({ grant, onUsage, shared, dir, forget }: LeaseOptions): Promise<Lease> {
  const key = `gw-${randomBytes(32).toString('base64url')}`;
  let refusal: string | null = null;
  let closing: Promise<void> | undefined;
  const inFlight = new Set<Promise<void>>();
  const context: LeaseContext = {
    ...shared,
    grant,
    terms: { keyHash: hashOf(key), expiresAt: shared.clock.now() + grant.ttlMs, models: grant.models },
    note: (why) => {
      refusal = why;
    },
    settled: () => {
      try {
        onUsage?.(shared.purse.usage());
      } catch (error) {
        // The listener's fault must not cut an answer that is paid for.
        shared.log.error({ runId: grant.runId, code: asFault(error).code }, 'A listener for usage failed.');
      }
    },
    inFlight,
  };
  const door = await openDoor(dir, leaseListener(context)).catch(async (error: unknown) => {
    await shared.purse.close();
    throw error;
  });
  const shut = async () => {
    await door.close();
    await Promise.all(inFlight);
    await shared.purse.close();
    forget(lease);
  };
  const lease: Lease = {
    socket: door.path,
    key,
    usage: () => shared.purse.usage(),
    refusal: () => refusal,
    close() {
      closing ??= shut();
      return closing;
    },
  };
  return lease;
}
