import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Begun, Journal } from './journal.ts';

export interface SupervisedLimits {
  /** Milliseconds after which the command is stopped, whatever it does. */
  readonly wallMs: number;
  /** Milliseconds of processor time for a changed variant, and for an unchanged case. */
  readonly variantMs: number;
  readonly checkMs: number;
  /** Memory of all processes with an active variant, in bytes: less than what ends the sandbox with all observations. */
  readonly memoryBytes: number;
}

/** How a run of the command ended: by itself, because a variant hung, or because its time was up. */
export type CommandEnd =
  | { readonly kind: 'exit'; readonly code: number | null }
  | { readonly kind: 'hung'; readonly begun: Begun }
  | { readonly kind: 'late' };

const LOOK_MS = 100;
/** On a busy machine a process may take this many times longer than its processor time. */
const MAX_SLOWDOWN = 20;
/** Milliseconds per clock tick of Linux, as counted in /proc. */
const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** Runs the command in its own process group and watches the journal. No process is left afterwards. */
export async function supervise(
  command: string,
  env: Readonly<Record<string, string>>,
  journal: Journal,
  limits: SupervisedLimits & { readonly leavesTime: boolean },
): Promise<CommandEnd> {
  const started = performance.now();
  let begunMs: number | null = null;
  const watch = watcher(limits);
  // A test runner that finds this variable set considers itself a child of another one.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const child = spawn('sh', ['-c', command], {
    env: { ...inherited, ...env },
    stdio: 'ignore',
    detached: true,
  });
  const exit = new Promise<CommandEnd>((done) => {
    child.on('error', () => done({ kind: 'exit', code: null }));
    child.on('exit', (code) => done({ kind: 'exit', code }));
  });
  try {
    for (;;) {
      const ended = await Promise.race([exit, sleep(LOOK_MS, null, { ref: false })]);
      if (ended) return ended;
      const begun = await watch(await journal.unfinished());
      if (begun) return { kind: 'hung', begun };
      const ms = performance.now() - started;
      if (begunMs === null && (await journal.isBegun())) begunMs = ms;
      const reserveMs = limits.leavesTime ? reserveOf(begunMs, limits) : 0;
      if (ms > limits.wallMs - reserveMs) return { kind: 'late' };
    }
  } finally {
    kill(child);
    await exit;
  }
}

/** Milliseconds that unchanged cases take besides the start of the command. Our default. */
const UNCHANGED_MS = 2_000;

/** Milliseconds for a last start in which only unchanged cases run; none if the command takes too long to start. */
function reserveOf(begunMs: number | null, { wallMs }: SupervisedLimits): number {
  const reserveMs = begunMs === null ? Number.POSITIVE_INFINITY : 2 * begunMs + UNCHANGED_MS;
  return reserveMs > wallMs / 2 ? 0 : reserveMs;
}

/**
 * Finds the variant that hangs by the processor time that its process has used since it started, if the system reports
 * it, or that takes too much memory.
 */
function watcher({
  variantMs,
  checkMs,
  memoryBytes,
}: SupervisedLimits): (begun: readonly Begun[]) => Promise<Begun | null> {
  const since = new Map<string, { readonly at: number; readonly cpu: number | null }>();
  return async (all) => {
    const used = await Promise.all(all.map(async (begun) => ({ begun, ...(await usageOf(begun.file)) })));
    const [largest] = used.toSorted((a, b) => b.bytes - a.bytes);
    if (largest && used.reduce((sum, { bytes }) => sum + bytes, 0) > memoryBytes) return largest.begun;
    for (const { begun, cpu } of used) {
      const now = { at: performance.now(), cpu };
      const mark = JSON.stringify([begun.key, begun.call]);
      const first = since.get(mark) ?? now;
      since.set(mark, first);
      const limit = begun.mode === 'check' || begun.mode === 'look' ? checkMs : variantMs;
      const wall = now.at - first.at;
      const used = now.cpu === null || first.cpu === null ? wall : now.cpu - first.cpu;
      if (used > limit || wall > limit * MAX_SLOWDOWN) return begun;
    }
    return null;
  };
}

/** Milliseconds of processor time, null if unknown, and memory of the process that writes this journal. */
async function usageOf(file: string): Promise<{ readonly cpu: number | null; readonly bytes: number }> {
  const stat = await readFile(`/proc/${/^\d+/.exec(file)?.[0]}/stat`, 'utf8').catch(() => '');
  const after = stat.slice(stat.lastIndexOf(')') + 1);
  const [, user, system, pages] = / \S (?:-?\d+ ){10}(\d+) (\d+) (?:-?\d+ ){8}(\d+)/.exec(after) ?? [];
  return {
    cpu: user && system ? (Number(user) + Number(system)) * TICK_MS : null,
    bytes: Number(pages ?? 0) * PAGE_BYTES,
  };
}

function kill(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // No process of it is left.
  }
}
