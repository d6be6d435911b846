import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Mutex } from 'async-mutex';
import {
  type ChildLost,
  Fault,
  mayStartLater,
  restarting,
  signalIn,
  unlessAborted,
} from '../../core/model/index.ts';
import { abortError, isAbortError } from './faults.ts';

/**
 * Several processes share a data folder. A process that works with a repository's mirror, checkouts, layers or objects
 * holds a shared lock (*using*); a process that removes any of them needs the exclusive lock (*alone*). The kernel
 * releases a lock when its process ends.
 */
export interface Locks {
  /** Does the work under the shared lock of the repository. */
  using<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Does the work under the exclusive lock of the repository. Null, and nothing is done, if somebody uses the
   * repository.
   */
  alone<T>(key: string, work: () => Promise<T>): Promise<T | null>;
  /** Does the work while no other process fetches into this mirror or packs its objects. */
  fetching<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Releases the lock. */
type Release = () => Promise<void>;

/** Exit code of `flock` if somebody else holds the lock. */
const TAKEN = 75;

export function openLocks(folder: string): Locks {
  const users = new Map<string, { count: number; readonly lock: Promise<Release | null> }>();
  const fileOf = (name: string): string => join(folder, name);

  return {
    async using(key, work) {
      const shared = users.get(key) ?? { count: 0, lock: take(['-s'], fileOf(key)) };
      users.set(key, shared);
      shared.count += 1;
      try {
        await shared.lock;
        return await work();
      } finally {
        shared.count -= 1;
        if (shared.count === 0) {
          users.delete(key);
          await shared.lock.then(
            (release) => release?.(),
            () => undefined,
          );
        }
      }
    },
    alone: (key, work) => whileHeld(lockFile(fileOf(key)), work),
    fetching: async (key, work) => {
      const held = take(['-x'], fileOf(`${key}.fetch`));
      const done = await whileHeld(held, async () => ({ value: await work() }));
      if (!done) throw new Fault('INTERNAL', 'A lock was not granted although it was waited for.');
      return done.value;
    },
  };
}

async function whileHeld<T>(lock: Promise<Release | null>, work: () => Promise<T>): Promise<T | null> {
  const release = await lock;
  if (!release) return null;
  try {
    return await work();
  } finally {
    await release();
  }
}

/**
 * Takes the exclusive lock of a file, which is created if it does not exist. Null if another process has it. The kernel
 * releases it when this process ends.
 */
export const lockFile = (path: string): Promise<Release | null> =>
  take(['-x', '-n', '-E', String(TAKEN)], path);

/** The descriptor of the file that `flock` locks. */
const FILE = 3;

/**
 * The lock belongs to the file as opened by this process, and is released when the file is closed or the process ends.
 * Node has no call for it, so `flock` locks the same open file and exits; killing it does not release the lock.
 */
async function take(flags: readonly string[], path: string): Promise<Release | null> {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  try {
    const { code, stderrText } = await restarting('flock', sleep, () => lock(flags, file));
    if (code === 0) return () => file.close();
    await file.close();
    if (code === TAKEN) return null;
    throw new Fault('INTERNAL', `${path} could not be locked: ${stderrText.slice(0, 300)}`);
  } catch (error) {
    await file.close();
    throw error;
  }
}

interface Locked {
  readonly kind: 'ended';
  readonly code: number;
  readonly stderrText: string;
}

/** In its own session, so that Ctrl-C does not end it before our work is done. */
function lock(flags: readonly string[], file: FileHandle): Promise<Locked | ChildLost> {
  const child = spawn('flock', [...flags, String(FILE)], {
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', file.fd],
  });
  let stderrText = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderrText += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const how = `could not be started: ${error.message}`;
      if (error.code !== 'ENOENT' && mayStartLater(error.code)) resolve({ kind: 'lost', how });
      else reject(new Fault('ENVIRONMENT_INVALID', `\`flock\` of util-linux ${how}`));
    });
    child.once('close', (code, signal) => {
      const by = signal ?? (code === null ? null : signalIn(code));
      if (by !== null) resolve({ kind: 'lost', how: `was killed by ${by}` });
      else resolve({ kind: 'ended', code: code ?? -1, stderrText });
    });
  });
}

/**
 * Work with the same key is done one at a time, in the order of the calls. A waiting caller leaves when its signal is
 * aborted; work that has begun keeps its turn until it has ended, aborted or not. (`p-queue` would start the next one
 * at once.)
 */
export function openKeyedQueue(): <T>(
  key: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
) => Promise<T> {
  const mutexes = new Map<string, Mutex>();
  return async (key, work, signal) => {
    const mutex = mutexes.get(key) ?? new Mutex();
    mutexes.set(key, mutex);
    const turn = mutex.acquire();
    try {
      await unlessAborted(turn, signal, abortError);
      return await work();
    } finally {
      // A caller that left still gets its turn later and passes it on.
      void turn.then((release) => {
        release();
        if (!mutex.isLocked()) mutexes.delete(key);
      });
    }
  };
}

/**
 * Callers that ask for a key while its work is in progress share the result. The work stops on the signal of the caller
 * that started it; one of the others then starts it again, which no package does.
 */
export function openSharedWork<T>(): (
  key: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
) => Promise<T> {
  const going = new Map<string, Promise<T>>();
  return async (key, work, signal) => {
    for (;;) {
      if (signal?.aborted) throw abortError();
      const found = going.get(key);
      if (!found) {
        const mine = work().finally(() => going.delete(key));
        going.set(key, mine);
        return mine;
      }
      try {
        return await unlessAborted(found, signal, abortError);
      } catch (error) {
        if (!isAbortError(error)) throw error;
      }
    }
  };
}
