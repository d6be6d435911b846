import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { type HeartbeatOptions, type OwnFence, openFence } from '../adapters/engine/index.ts';
import type { ConnectionLimits } from '../adapters/postgres/index.ts';
import { openExecutors } from '../adapters/store/index.ts';
import { systemClock, systemRandom } from '../adapters/system/index.ts';
import type { ExecutorFacts, Identity, Log } from '../ports/index.ts';
import type { Closers } from './closers.ts';
import { OWN } from './paths.ts';

/** What a process that shares the work is known by, and how it learns that others have taken over. */
export interface Sharing {
  readonly identity: Identity;
  readonly fence: OwnFence;
  readonly facts: Pick<ExecutorFacts, 'host' | 'version'>;
}

/** Of a process that has the name `id` now. */
export const newIdentity = (id: string): Identity => ({ id, incarnation: systemRandom.nonce() });

export interface SharingOptions {
  readonly log: Log;
  /** Must end the process. */
  readonly onExpired: () => void;
  /** Of all that share the database alike; absent: the engine's own. */
  readonly heartbeat?: HeartbeatOptions | undefined;
  /** Of its connections to the database; absent: those of each part. */
  readonly databaseLimits?: ConnectionLimits | undefined;
}

/** Closing it asks the others to take over what is unfinished. */
export function openSharing(
  databaseUrl: string,
  identity: Identity,
  { log, onExpired, heartbeat, databaseLimits }: SharingOptions,
  later: Closers['later'],
): Sharing {
  const executors = openExecutors(databaseUrl, identity, { limits: databaseLimits });
  later(async () => {
    await executors.leave().catch((thrown: unknown) => {
      log.warn({ err: thrown }, 'The others could not be told that this process ends; they will notice.');
    });
    await executors.close();
  });
  const fence = openFence({ executors, clock: systemClock, log, heartbeat, onExpired: onExpired });
  return { identity, fence, facts: { host: hostname(), version: ownVersion() } };
}

const ownVersion = (): string =>
  (JSON.parse(readFileSync(OWN.package, 'utf8')) as { readonly version: string }).version;
