import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Command, ExecutorOptions, Happening } from './executor.ts';

export interface Executor {
  /** Resolves with the first happening, past or future, that fits; rejects when the process ends before. */
  until(fits: (happening: Happening) => boolean): Promise<Happening>;
  tell(command: Command): void;
  /** What its standard error holds by now. */
  complaints(): string;
  /** Stops it where it is, and wakes it again. */
  freeze(): void;
  wake(): void;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
  /** Waits until it ends by itself; its exit code. */
  ended(): Promise<number | null>;
}

/** Starts executors and keeps one record of what happened in all of them. */
export function executors() {
  const happenings: Happening[] = [];
  const watchers = new Set<() => void>();
  const processes: ChildProcess[] = [];
  const complaints: (() => string)[] = [];
  const program = fileURLToPath(new URL('executor.ts', import.meta.url));

  function start(options: ExecutorOptions): Executor {
    const child = spawn(process.execPath, [program, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    processes.push(child);
    const gone = once(child, 'exit');
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    complaints.push(() => `${options.executorId}: ${stderr}`);
    createInterface({ input: child.stdout }).on('line', (line) => {
      happenings.push(JSON.parse(line) as Happening);
      for (const look of watchers) look();
    });
    const until = (fits: (happening: Happening) => boolean) =>
      new Promise<Happening>((settle, fail) => {
        const look = () => {
          const found = happenings.find(fits);
          if (found === undefined) return;
          watchers.delete(look);
          settle(found);
        };
        watchers.add(look);
        void gone.then(() => fail(new Error(`${options.executorId} ended: ${stderr}`)));
        look();
      });
    return {
      until,
      tell: (command) => child.stdin.write(`${JSON.stringify(command)}\n`),
      complaints: () => stderr,
      freeze: () => void child.kill('SIGSTOP'),
      wake: () => void child.kill('SIGCONT'),
      async kill() {
        child.kill('SIGKILL');
        await gone;
      },
      async ended() {
        await gone;
        return child.exitCode;
      },
    };
  }

  return {
    start,
    happenings,
    /** All that happened, and all that was complained of, for a test that failed. */
    record: () =>
      [...happenings.map((one) => JSON.stringify(one)), ...complaints.map((of) => of())].join('\n'),
    /** How often a step was begun, by flow and step. */
    begun(): Record<string, number> {
      const counts: Record<string, number> = {};
      for (const { what, flow, step } of happenings) {
        if (what === 'start') counts[`${flow} ${step}`] = (counts[`${flow} ${step}`] ?? 0) + 1;
      }
      return counts;
    },
    async killAll() {
      for (const child of processes.splice(0)) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
    },
  };
}
