// An App in a process of its own, as `npm start` starts it, and the memory that it takes.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/**
 * What `npm start` gives Node, as the App waits far more than it works: types are stripped elsewhere, the nursery is small,
 * garbage is collected when the heap is half as large again as what was in use, and there are few arenas of glibc's malloc,
 * which keep what threads have freed.
 */
const AS_NPM_START = {
  argv: [
    `--import=${join(ROOT, 'bin', 'strip-types.mjs')}`,
    '--max-semi-space-size=2',
    '--heap-growing-percent=50',
  ],
  env: { MALLOC_ARENA_MAX: '2' },
};
/** Names of the programs that start a sandbox, from the first one to the one that stays. */
const LAUNCHERS = new Set(['sh', 'setpriv', 'unshare', 'prlimit', 'bwrap']);

interface Process {
  readonly id: number;
  readonly parent: number;
  readonly name: string;
}

function processes(): readonly Process[] {
  const ids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  return ids.flatMap((id) => {
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+) /s.exec(readIf(`/proc/${id}/stat`) ?? '') ?? [];
    return name === undefined ? [] : [{ id: Number(id), parent: Number(parent), name }];
  });
}

/**
 * Proportional set size of a process and all its children, bytes: shared pages count once. Without the sandboxes that it
 * has started, whose commands are not its own.
 */
function memoryOf(pid: number): number {
  const all = processes();
  const within = (parent: number): readonly Process[] =>
    all
      .filter((one) => one.parent === parent && !(parent === pid && LAUNCHERS.has(one.name)))
      .flatMap((one) => [one, ...within(one.id)]);
  return [pid, ...within(pid).map(({ id }) => id)].reduce((total, id) => {
    const pss = /^Pss:\s+(\d+) kB$/m.exec(readIf(`/proc/${id}/smaps_rollup`) ?? '')?.[1];
    return total + Number(pss ?? 0) * 1024;
  }, 0);
}

function readIf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process ended between the listing and the reading.
    return null;
  }
}

export interface AppProcess {
  readonly url: string;
  /** Bytes in use now. */
  memory(): number;
  end(): Promise<void>;
}

export async function startApp(
  home: string,
  variables: Readonly<Record<string, string>>,
): Promise<AppProcess> {
  const main = join(ROOT, 'src', 'main.ts');
  const app = spawn(process.execPath, [...AS_NPM_START.argv, main, 'serve'], {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      RUNOFF_DATA: join(home, 'data'),
      PORT: '0',
      ...AS_NPM_START.env,
      ...variables,
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const ended = new Promise((resolve) => app.once('exit', resolve));
  return {
    url: await listening(app),
    memory: () => memoryOf(app.pid ?? 0),
    async end() {
      app.kill('SIGTERM');
      await ended;
    },
  };
}

function listening(app: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    app.stderr?.on('data', (data: Buffer) => {
      process.stderr.write(data);
      const url = /listens at (http:\/\/\S+)/.exec(data.toString())?.[1];
      if (url) resolve(url);
    });
    app.once('exit', (code) => reject(new Error(`The App ended with ${code} before it listened.`)));
  });
}

/** `home` is removed afterwards. */
export async function inTemporaryHome<T>(work: (home: string) => Promise<T>): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'runoff-bench-'));
  try {
    // The sandbox's and the database's own users must be able to pass through.
    await chmod(home, 0o711);
    return await work(home);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}
