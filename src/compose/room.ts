import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../ports/index.ts';

/** Milliseconds between two looks. Our default: a coder writes less in it than the space that is kept free. */
const LOOK_EVERY_MS = 10_000;

export interface Room {
  /** Why no further run may begin here, a sentence; null where one may. */
  lacks(): string | null;
  /** What the last look at the quota of the folder found: a sentence where it cannot be held, else null. */
  reached(why: string | null): void;
  close(): Promise<void>;
}

/** Watches the free space of the file system that holds `dir`. `least`: bytes under which no further run begins; 0: none. */
export async function watchRoom(dir: string, least: number, log: Log): Promise<Room> {
  const stop = new AbortController();
  let why = await lacking(dir, least);
  if (why !== null) log.warn({ dir, least }, why);
  let quota: string | null = null;

  async function watch(): Promise<void> {
    for (;;) {
      await delay(LOOK_EVERY_MS, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      if (stop.signal.aborted) return;
      const now = await lacking(dir, least).catch((thrown: unknown) => {
        log.warn({ err: thrown }, 'The free space of the data folder could not be read.');
        return why;
      });
      if ((now === null) !== (why === null)) log.warn({ dir, least }, now ?? 'There is room for runs again.');
      why = now;
    }
  }
  const watching = watch();
  return {
    lacks: () => why ?? quota,
    reached(now) {
      if ((now === null) !== (quota === null))
        log.warn({ dir }, now ?? 'The data folder is within MAX_DISK again.');
      quota = now;
    },
    async close() {
      stop.abort();
      await watching;
    },
  };
}

async function lacking(dir: string, least: number): Promise<string | null> {
  if (least === 0) return null;
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize >= least) return null;
  return `The disk of this machine is nearly full (under ${least / 1e6} MB are free); no run begins until its operator makes room.`;
}
