import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { Fault } from '../../core/model/index.ts';

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

/**
 * The lock belongs to a child that lives until our end of its standard input is closed, by us or by our own end: Node
 * has no call for it. In a session of its own, so that Ctrl-C does not end it before our work is.
 */
async function take(flags: readonly string[], file: string): Promise<Release | null> {
  const child = spawn('flock', [...flags, file, 'sh', '-c', 'echo held; exec cat'], {
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close') as Promise<[number | null, string | null]>;
  const said = firstWords(child);
  const held = await Promise.race([said.held, ended.then(([code]) => code)]).catch((error: Error) => {
    throw new Fault('ENVIRONMENT_INVALID', `\`flock\` of util-linux could not be started: ${error.message}`);
  });
  if (held === TAKEN) return null;
  if (held !== 'held')
    throw new Fault('INTERNAL', `${file} could not be locked: ${said.errors().slice(0, 300)}`);
  return async () => {
    child.stdin.end();
    await ended;
  };
}

function firstWords(child: ChildProcessByStdio<Writable, Readable, Readable>) {
  const held = Promise.withResolvers<'held'>();
  let errors = '';
  child.stdout.once('data', () => held.resolve('held'));
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  // A child that ends by itself closes the pipe under a release; its exit tells the same.
  child.stdin.on('error', () => undefined);
  return { held: held.promise, errors: () => errors };
}
