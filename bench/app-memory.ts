// Memory of the idle App with its embedded database: it and all its children, shared pages counted once.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** What `npm start` gives Node: a small nursery, as the App waits far more than it works. */
const AS_NPM_START = ['--max-semi-space-size=2'];

/** Proportional set size of a process and all its children, bytes: shared pages count once. */
function memoryOf(pid: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = readIf(`/proc/${name}/stat`);
    const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
    if (parent) parents.set(Number(name), Number(parent));
  }
  const within = (child: number): boolean =>
    child === pid || (parents.has(child) && within(parents.get(child) ?? 0));
  return [...parents.keys()].filter(within).reduce((total, child) => {
    const pss = /^Pss:\s+(\d+) kB$/m.exec(readIf(`/proc/${child}/smaps_rollup`) ?? '')?.[1];
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

/** Bytes in use after the App has been idle for `idleMs` milliseconds. */
export async function idleAppMemory(idleMs: number): Promise<number> {
  const home = await mkdtemp(join(tmpdir(), 'runoff-bench-'));
  await chmod(home, 0o711);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const app = spawn(
    process.execPath,
    [...AS_NPM_START, join(import.meta.dirname, '../src/main.ts'), 'serve'],
    {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        RUNOFF_DATA: join(home, 'data'),
        PORT: '0',
        LOG_LEVEL: 'warn',
        APP_ID: '1',
        PRIVATE_KEY: privateKey.export({ type: 'pkcs1', format: 'pem' }) as string,
        WEBHOOK_SECRET: randomBytes(32).toString('hex'),
        ANTHROPIC_API_KEY: 'none',
      },
      stdio: ['ignore', 'inherit', 'pipe'],
    },
  );
  try {
    await listening(app);
    await wait(idleMs);
    return memoryOf(app.pid ?? 0);
  } finally {
    app.kill('SIGTERM');
    await new Promise((resolve) => app.once('exit', resolve));
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function listening(app: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    app.stderr?.on('data', (data: Buffer) => {
      process.stderr.write(data);
      if (data.toString().includes('listens at')) resolve();
    });
    app.once('exit', (code) => reject(new Error(`The App ended with ${code} before it listened.`)));
  });
}
