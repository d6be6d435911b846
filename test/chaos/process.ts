import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { AppOptions, Happening } from './app.ts';

export type Program = 'app' | 'worker';

/** Our default: a start takes a second or two; on a busy machine ten times that. */
const PATIENCE_MS = 240_000;
/** In which Node writes its report. */
const REPORT_MS = 2_000;

export interface AppProcess {
  readonly pid: number;
  /** All that it did to the store and to GitHub, oldest first. */
  readonly deeds: readonly string[];
  /** Resolves when it has begun the `times`th deed that holds this, or is dead. */
  reaches(at: string, times: number): Promise<void>;
  /** Its address, a worker's name; null when it died before it listened. */
  readonly url: Promise<string | null>;
  /** Resolves with how it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Stops it where it is, and wakes it again. */
  freeze(): void;
  wake(): void;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
  /** As an operator stops it; rejects when it takes too long. */
  stop(): Promise<void>;
  /** Last lines of what it said. */
  said(): string;
}

export function startProcess(
  program: Program,
  env: NodeJS.ProcessEnv,
  cwd: string,
  options: AppOptions,
  /** All that it says is also written there; absent: nowhere. */
  logFile?: string,
): AppProcess {
  const file = fileURLToPath(new URL(`${program}.ts`, import.meta.url));
  const reports = logFile ? [`--report-directory=${dirname(logFile)}`, '--report-on-signal'] : [];
  const child = spawn(process.execPath, [...reports, file, JSON.stringify(options)], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const deeds: string[] = [];
  const watchers = new Set<() => void>();
  const listens = Promise.withResolvers<string | null>();
  const ended = endOf(child);
  void ended.then(() => listens.resolve(null));
  let said = '';
  const remember = (text: string): void => {
    if (logFile) appendFileSync(logFile, text);
    said = (said + text).slice(-4_000);
  };
  child.stderr.on('data', (data: Buffer) => remember(data.toString()));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const happening = readLine(line);
    if (happening === null) remember(`${line}\n`);
    else if (happening.what === 'listens') listens.resolve(happening.url);
    else if (happening.what === 'deed') {
      if (logFile) appendFileSync(logFile, `${Date.now()} deed ${happening.deed}\n`);
      deeds.push(happening.deed);
      for (const look of watchers) look();
    }
  });
  return {
    pid: child.pid ?? 0,
    deeds,
    reaches: (at, times) =>
      new Promise((resolve) => {
        const look = () => {
          if (deeds.filter((deed) => deed.includes(at)).length < times) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        void ended.then(() => resolve());
        look();
      }),
    url: listens.promise,
    ended,
    said: () => said,
    freeze: () => void child.kill('SIGSTOP'),
    wake: () => void child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      const late = new Promise<'late'>((resolve) => setTimeout(resolve, PATIENCE_MS, 'late').unref());
      if ((await Promise.race([ended, late])) === 'late') {
        // With a log, Node's report says which connections and timers are open.
        if (logFile) {
          child.kill('SIGUSR2');
          await delay(REPORT_MS);
        }
        child.kill('SIGKILL');
        throw new Error(`The ${program} did not stop within ${PATIENCE_MS} ms. It said: ${said}`);
      }
    },
  };
}

async function endOf(child: ChildProcess) {
  await once(child, 'close');
  return { code: child.exitCode, signal: child.signalCode };
}

/** Null for a line of its log. */
function readLine(line: string): Happening | null {
  const found = line.startsWith('{"what"') ? (JSON.parse(line) as Happening) : null;
  return found;
}
