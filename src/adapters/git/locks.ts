import { spawn } from 'node:child_process';
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
 * Several processes share a data folder. Who works on a repository's mirror, checkouts, layers or objects *uses* it;
 * who takes any of them away must be *alone* with it. The kernel ends a lock with its process, however that ends.
 */
export interface Locks {
  /** Does the work while nobody is alone with the repository; any number may use it at once. */
  using<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Does the work while nobody uses the repository; null, and nothing done, when somebody does. */
  alone<T>(key: string, work: () => Promise<T>): Promise<T | null>;
  /** Fetches into one mirror are made one after the other, whichever process makes them. */
  fetching<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Ends the lock. */
type Release = () => Promise<void>;

/** Exit code that `flock` shall end with when somebody else has the lock. */
const TAKEN = 75;

export function openLocks(folder: string): Locks {
  const users = new Map<string, { count: number; readonly lock: Promise<Release | null> }>();
  const fileOf = (name: string): string => join(folder, name);

  async function holding<T>(flags: readonly string[], name: string, work: () => Promise<T>) {
    const release = await take(flags, fileOf(name));
    if (!release) return null;
    try {
      return await work();
    } finally {
      await release();
    }
  }

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
    alone: (key, work) => holding(['-x', '-n', '-E', String(TAKEN)], key, work),
    fetching: async (key, work) => {
      const done = await holding(['-x'], `${key}.fetch`, async () => ({ value: await work() }));
      if (!done) throw new Fault('INTERNAL', 'A lock that is waited for was not given.');
      return done.value;
    },
  };
}

/** In which descriptor `flock` finds the file that it is to lock. */
const FILE = 3;

/**
 * The lock belongs to the file as this process has opened it, and ends when it is closed, by us or by our own end. Node
 * has no call for it: `flock` takes it on the same open file and ends, so that nobody can end the lock by killing it.
 */
async function take(flags: readonly string[], path: string): Promise<Release | null> {
  const file = await open(path, 'a', 0o600);
  try {
    const { code, said } = await restarting('flock', sleep, () => lock(flags, file));
    if (code === 0) return () => file.close();
    await file.close();
    if (code === TAKEN) return null;
    throw new Fault('INTERNAL', `${path} could not be locked: ${said.slice(0, 300)}`);
  } catch (error) {
    await file.close();
    throw error;
  }
}

interface Locked {
  readonly kind: 'ended';
  readonly code: number;
  readonly said: string;
}

/** In a session of its own, so that Ctrl-C does not end it before our work is. */
function lock(flags: readonly string[], file: FileHandle): Promise<Locked | ChildLost> {
  const child = spawn('flock', [...flags, String(FILE)], {
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', file.fd],
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
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
      else resolve({ kind: 'ended', code: code ?? -1, said });
    });
  });
}

/**
 * Work under one key is done one at a time, in the order asked for. Who waits leaves when the signal is aborted; work that
 * has begun keeps its turn until it has ended, aborted or not. (`p-queue` gives the turn to the next one at once.)
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
      // Who left is given a turn all the same, and passes it on.
      void turn.then((release) => {
        release();
        if (!mutex.isLocked()) mutexes.delete(key);
      });
    }
  };
}

/**
 * Who asks for a key while its work is going on gets that work's result. The work heeds the signal of the one who
 * started it; when it ends by that, one of the others starts it again, which no package does.
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
