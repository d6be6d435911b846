import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Of one command, minutes: one that takes longer is interrupted, and killed two minutes later. */
const LIMIT_MINUTES = 30;

/** How a command ended; `ms`: milliseconds that it took. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly ms: number;
}

/** Runs the command line of this version. `echo` shows its standard error as it comes. */
export function runoff(
  env: NodeJS.ProcessEnv,
  argv: readonly string[],
  { echo = false }: { readonly echo?: boolean } = {},
): Promise<Ended> {
  const main = join(import.meta.dirname, '../../src/main.ts');
  const began = performance.now();
  const child = spawn(process.execPath, ['--', main, ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const timers = [
    setTimeout(() => child.kill('SIGINT'), LIMIT_MINUTES * 60_000),
    setTimeout(() => child.kill('SIGKILL'), (LIMIT_MINUTES + 2) * 60_000),
  ];
  let out = '';
  let err = '';
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    err += data.toString();
    if (echo) process.stderr.write(data);
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      for (const timer of timers) clearTimeout(timer);
      resolve({ code, out, err, ms: performance.now() - began });
    });
  });
}
