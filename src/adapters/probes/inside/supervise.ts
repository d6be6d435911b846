import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Begun, Journal } from './journal.ts';

export interface Limits {
  /** Milliseconds until the command is stopped, whatever it does. */
  readonly wallMs: number;
  /** Milliseconds of work for a changed variant, and for a case as it stands. */
  readonly variantMs: number;
  readonly checkMs: number;
}

/** How a run of the command ended: by itself, because a variant hung, or because its time was over. */
export type Ending =
  | { readonly kind: 'exit'; readonly code: number | null }
  | { readonly kind: 'hung'; readonly begun: Begun }
  | { readonly kind: 'late' };

const LOOK_MS = 100;
/** So much slower than its work may a process be on a machine that is busy otherwise. */
const MOST_STRETCH = 20;
/** Milliseconds a clock tick of Linux, as /proc counts them. */
const TICK_MS = 10;

/** Runs the command in a process group of its own and watches the journal; nothing of it is left afterwards. */
export async function supervise(
  command: string,
  env: Readonly<Record<string, string>>,
  journal: Journal,
  limits: Limits,
): Promise<Ending> {
  const started = performance.now();
  const watch = watcher(limits);
  // A test runner that finds this set takes itself for another one's child.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const child = spawn('sh', ['-c', command], {
    env: { ...inherited, CI: '1', ...env, RUNOFF_PROBES: journal.folder },
    stdio: 'ignore',
    detached: true,
  });
  const exit = new Promise<Ending>((done) => {
    child.on('error', () => done({ kind: 'exit', code: null }));
    child.on('exit', (code) => done({ kind: 'exit', code }));
  });
  try {
    for (;;) {
      const ended = await Promise.race([exit, sleep(LOOK_MS, null, { ref: false })]);
      if (ended) return ended;
      const begun = await watch(await journal.unfinished());
      if (begun) return { kind: 'hung', begun };
      if (performance.now() - started > limits.wallMs) return { kind: 'late' };
    }
  } finally {
    kill(child);
    await exit;
  }
}

/** Says which variant hangs: by the processor time that its process used since it began, where the system tells it. */
function watcher({ variantMs, checkMs }: Limits): (begun: readonly Begun[]) => Promise<Begun | null> {
  const since = new Map<string, { readonly at: number; readonly cpu: number | null }>();
  return async (all) => {
    for (const begun of all) {
      const now = { at: performance.now(), cpu: await cpuOf(begun.file) };
      const mark = JSON.stringify([begun.key, begun.call]);
      const first = since.get(mark) ?? now;
      since.set(mark, first);
      const limit = begun.mode === 'check' || begun.mode === 'look' ? checkMs : variantMs;
      const wall = now.at - first.at;
      const used = now.cpu === null || first.cpu === null ? wall : now.cpu - first.cpu;
      if (used > limit || wall > limit * MOST_STRETCH) return begun;
    }
    return null;
  };
}

/** Milliseconds of processor time of the process that writes this journal; null where that is not to be known. */
async function cpuOf(file: string): Promise<number | null> {
  const stat = await readFile(`/proc/${/^\d+/.exec(file)?.[0]}/stat`, 'utf8').catch(() => '');
  const after = stat.slice(stat.lastIndexOf(')') + 1);
  const [, user, system] = / \S (?:-?\d+ ){10}(\d+) (\d+)/.exec(after) ?? [];
  return user && system ? (Number(user) + Number(system)) * TICK_MS : null;
}

function kill(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
