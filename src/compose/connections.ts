import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { startEmbeddedPostgres } from '../adapters/database/index.ts';
import { type HeartbeatOptions, type OwnFence, openFence } from '../adapters/engine/index.ts';
import type { Providers } from '../adapters/gateway/index.ts';
import { openGitHub } from '../adapters/github/index.ts';
import type { ConnectionLimits } from '../adapters/postgres/index.ts';
import { openExecutors } from '../adapters/store/index.ts';
import { systemClock, systemRandom } from '../adapters/system/index.ts';
import { Fault } from '../core/model/index.ts';
import type { Operator } from '../core/settings/index.ts';
import type { ExecutorFacts, Fence, GitHub, Identity, Log } from '../ports/index.ts';
import { openAnnouncer, type World } from '../runs/index.ts';
import { dataPaths, hostFolders, OWN } from './data-folder.ts';

/** Follows what is being opened until it is closed: a signal, or an output that cannot be written, closes it, too. */
export type FollowOpening = <T extends { close(): Promise<void> }>(opening: Promise<T>) => Promise<T>;

/** URL of the operator's database. The embedded one is stopped by the cleanups. */
export async function openDatabase(
  operator: Operator,
  ownsData: boolean,
  log: Log,
  cleanups: AsyncDisposableStack,
): Promise<string> {
  if (operator.databaseUrl) return operator.databaseUrl;
  const postgres = await startEmbeddedPostgres({ dir: dataPaths(operator.data).database, log });
  cleanups.defer(() => postgres.stop({ force: ownsData }));
  await postgres.ensureDatabase('runoff');
  return postgres.url('runoff');
}

/** GitHub as the operator's App. The fault says which variables are missing. */
export function openAppGitHub(
  operator: Operator,
  log: Log,
  extra: { fetch?: typeof fetch; throttle?: boolean; fence?: Fence | undefined } = {},
): GitHub {
  if (!operator.app)
    throw new Fault(
      'ENVIRONMENT_INVALID',
      'No GitHub App is configured: APP_ID, PRIVATE_KEY and WEBHOOK_SECRET are needed.',
    );
  const { appId, privateKey } = operator.app;
  return openGitHub({
    appId,
    privateKey,
    apiUrl: operator.github.apiUrl,
    gitUrl: operator.github.gitUrl,
    hostFolders: hostFolders(operator),
    log,
    ...extra,
  });
}

/** Keys and URLs of model providers, in the form that the gateway takes. */
export const providersOf = ({ models }: Operator): Providers =>
  Object.fromEntries(
    Object.entries(models).map(([name, { custom, ...access }]) => [name, { ...access, official: !custom }]),
  );

/** The identity of a process that shares the work, and its fence. */
export interface Sharing {
  readonly identity: Identity;
  readonly fence: OwnFence;
  readonly facts: Pick<ExecutorFacts, 'host' | 'version'>;
}

/** A new identity for the process that now uses the name `id`. */
export const newIdentity = (id: string): Identity => ({ id, incarnation: systemRandom.nonce() });

export interface SharingOptions {
  readonly log: Log;
  /** Must end the process. */
  readonly onExpired: () => void;
  /** The same for all processes that share the database. Default: the engine's own. */
  readonly heartbeat?: HeartbeatOptions | undefined;
  /** Limits of its connections to the database. Default: those of each part. */
  readonly databaseLimits?: ConnectionLimits | undefined;
}

/** Closing it asks the other processes to take over unfinished work. */
export function openSharing(
  databaseUrl: string,
  identity: Identity,
  { log, onExpired, heartbeat, databaseLimits }: SharingOptions,
  cleanups: AsyncDisposableStack,
): Sharing {
  const executors = openExecutors(databaseUrl, identity, { limits: databaseLimits });
  cleanups.defer(async () => {
    await executors.leave().catch((thrown: unknown) => {
      log.warn({ err: thrown }, 'Other processes could not be told that this one ends; they will notice.');
    });
    await executors.close();
  });
  const fence = openFence({ executors, clock: systemClock, log, heartbeat, onExpired: onExpired });
  return { identity, fence, facts: { host: hostname(), version: ownVersion() } };
}

export const ownVersion = (): string =>
  (JSON.parse(readFileSync(OWN.package, 'utf8')) as { readonly version: string }).version;

/**
 * Returns how an owner of cleanups closes: all of them run, the last first, and the first failure is thrown. A second
 * call waits for the first one.
 */
export function closing(cleanups: AsyncDisposableStack): () => Promise<void> {
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    try {
      await cleanups.disposeAsync();
    } catch (thrown) {
      throw firstFailure(thrown);
    }
  };
  return () => {
    closed ??= close();
    return closed;
  };
}

/** Each later failure of a stack contains the one before it. */
const firstFailure = (thrown: unknown): unknown =>
  thrown instanceof SuppressedError ? firstFailure(thrown.suppressed) : thrown;

/**
 * Does `work`, which adds a cleanup for each thing that it opens. If it fails, the cleanups run and the failure of
 * `work` is thrown: `await using` would report a failing cleanup instead.
 */
export async function disposedOnFailure<T>(
  cleanups: AsyncDisposableStack,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    await Promise.allSettled([cleanups.disposeAsync()]);
    throw thrown;
  }
}

/** Where texts on GitHub and in the terminal link to: only pages that somebody can sign in to. */
export const linksTo = ({ pages: { publicUrl, lacks } }: Operator): Pick<World, 'publicUrl'> =>
  publicUrl === undefined || lacks.length > 0 ? {} : { publicUrl };

/** Writes the status comments; without GitHub it does nothing. */
export const announcerOf = (
  operator: Operator,
  own: Pick<World, 'artifacts' | 'diskSpace' | 'log' | 'store'>,
  github: GitHub | undefined,
) => openAnnouncer({ ...own, ...linksTo(operator), clock: systemClock, ...(github ? { github } : {}) });
