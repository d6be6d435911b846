import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../ports/index.ts';
import type { Presence } from './presence.ts';

/** Milliseconds before the second try, doubled for each further one up to the most; our defaults. */
const FIRST_PAUSE_MS = 250;
const MOST_PAUSE_MS = 30_000;

export interface Revival {
  /** The connection of now; a broken one while the server is away. */
  presence(): Presence;
  /** Starts nothing any more, and waits for what was being started. */
  end(): Promise<void>;
}

export interface RevivalParts {
  /** Opens our connection; `onLost` is told when it breaks. */
  readonly connect: (onLost: (why: string) => void) => Promise<Presence>;
  /**
   * Brings the server back, or finds that another process did, and connects; null when somebody stopped it on purpose.
   * One process at a time does this.
   */
  readonly reopen: (connect: () => Promise<Presence>) => Promise<Presence | null>;
  readonly log?: Log;
}

/**
 * Keeps a connection to the server, and brings the server back when it dies: on the port it had, so that every pool
 * finds it again at the address it knows. Tried until `end`.
 */
export async function keepUp({ connect, reopen, log }: RevivalParts): Promise<Revival> {
  const ended = new AbortController();
  const { signal } = ended;
  let reviving: Promise<void> = Promise.resolve();
  const connected = () => connect(lost);

  async function once(): Promise<void> {
    const again = await reopen(connected);
    if (again === null) {
      log?.error({}, 'Somebody stopped the embedded database. Start Runoff again to go on.');
      return;
    }
    presence = again;
    log?.info({}, 'The embedded database is back.');
  }

  async function revive(): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(pause * 2, MOST_PAUSE_MS)) {
      try {
        await once();
        return;
      } catch (error) {
        log?.warn({ err: error, pause }, 'The embedded database could not be brought back yet.');
      }
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  function lost(why: string): void {
    if (signal.aborted) return;
    log?.warn({ why }, 'The embedded database went away; it is brought back.');
    reviving = revive();
  }

  let presence = await connected();
  return {
    presence: () => presence,
    async end() {
      ended.abort();
      await reviving;
    },
  };
}
