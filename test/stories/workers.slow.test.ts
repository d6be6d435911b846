import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { pruneByHand } from '../../src/compose/index.ts';
import type { RunView } from '../../src/core/reports/index.ts';
import { parseEnvironment } from '../../src/core/settings/index.ts';
import { type DemoEnvironment, MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { cancelRun } from '../../src/runs/index.ts';
import { furnish } from '../world/data-folder.ts';
import { freshDatabase } from '../world/database.ts';
import { withDemoApp } from '../world/demo-app.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const LEADS_ONLY = { CODERS_PER_WORKER: '0', EXAMINATIONS_PER_WORKER: '0' };

const workers: ChildProcess[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await kill(worker);
});

async function kill(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const gone = once(worker, 'exit');
  worker.kill('SIGKILL');
  await gone;
}

interface Machine {
  readonly process: ChildProcess;
  /** All that it said to people. */
  said(): string;
  /** Coders that can reach a model through it right now. */
  leases(): Promise<number>;
}

/** `runoff worker` in a process and a data folder of its own. */
async function startWorker({ home, environment }: DemoEnvironment, name: string): Promise<Machine> {
  const data = join(home, name);
  await furnish(data);
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const own = { RUNOFF_DATA: data, RUNOFF_WORKER_NAME: name, CODERS_PER_WORKER: '4', PORT: '' };
  const worker = spawn(process.execPath, [MAIN, 'worker'], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...environment, ...own, EXAMINATIONS_PER_WORKER: '2' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  workers.push(worker);
  let said = '';
  await new Promise<void>((settle, fail) => {
    worker.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('Runoff works as')) settle();
    });
    worker.once('exit', () => fail(new Error(`The worker ended: ${said}`)));
  });
  return {
    process: worker,
    said: () => said,
    leases: async () => (await readdir(join(data, 'gw'))).length,
  };
}

const onMachines = async (paceMs: number, play: Parameters<typeof withDemoApp>[1]): Promise<void> => {
  const database = await freshDatabase();
  const artifacts = await mkdtemp(join(tmpdir(), 'runoff-artifacts-'));
  const shared = { DATABASE_URL: database.url, ARTIFACTS_URL: artifacts };
  try {
    await withDemoApp({ paceMs, environment: { ...shared, ...LEADS_ONLY } }, play);
  } finally {
    for (const worker of workers) await kill(worker);
    await rm(artifacts, { recursive: true, force: true });
    await database.drop();
  }
};

describe('a worker of an App', () => {
  test('that is killed with -9 during coding is replaced by another one, and the App publishes', () =>
    onMachines(100, async (demo) => {
      const one = await startWorker(demo.environment, 'one');
      const issue = await demo.label();
      const { id } = await demo.run(issue, (view) => view.candidates.some(({ state }) => state === 'coding'));
      // A shell without its DATABASE_URL would prune with another database than the App.
      const shell = parseEnvironment({ RUNOFF_DATA: join(demo.environment.home, 'data') });
      if (shell.kind === 'invalid') throw new Error(JSON.stringify(shell.problems));
      await expect(pruneByHand(shell.operator, false)).rejects.toThrow('`runoff serve` last used 127.0.0.1');
      await expect.poll(one.leases, { timeout: 240_000 }).toBeGreaterThan(0);
      const { store } = demo.environment.world;
      const steps = (alias: string) => store.steps(id, { alias, limit: 2_000 });
      const hasSpoken = async () =>
        (await store.stepTotals(id)).filter(({ last }) => last > 2).map(({ alias }) => alias);
      await expect.poll(hasSpoken, { timeout: 240_000 }).not.toEqual([]);
      await kill(one.process);
      const aliases = await hasSpoken();
      const before = await Promise.all(aliases.map(steps));
      await startWorker(demo.environment, 'two');

      const isWritten = ({ candidates }: RunView) =>
        candidates.every(({ state }) => state !== 'queued' && state !== 'coding');
      await demo.run(issue, isWritten);
      // What coders had reported is there as it was, and what they do after that is numbered on.
      for (const [at, earlier] of before.entries()) {
        const all = await steps(aliases[at] ?? '');
        expect(all.slice(0, earlier.length)).toEqual(earlier);
        expect(all.map(({ number }) => number)).toEqual(all.map((_, nth) => nth + 1));
        const [next] = all.slice(earlier.length);
        if (next) expect(next).toMatchObject({ kind: 'start', text: expect.stringContaining('restarted') });
      }

      expect((await demo.run(issue)).state).toBe('published');
      const pulls = await demo.environment.github.as(MAINTAINER).pulls(REPOSITORY);
      expect(pulls).toMatchObject([{ draft: true, state: 'open' }]);
    }));

  test('that is stopped ends within its grace period, another one continues at once, and a cancel in the App ends its coders', () =>
    onMachines(500, async (demo) => {
      const one = await startWorker(demo.environment, 'one');
      const issue = await demo.label();
      const { id } = await demo.run(issue, (view) => view.candidates.some(({ state }) => state === 'coding'));
      await expect.poll(one.leases, { timeout: 240_000 }).toBeGreaterThan(0);
      const two = await startWorker(demo.environment, 'two');
      expect(await one.leases()).toBeGreaterThan(0);

      const began = performance.now();
      const gone = once(one.process, 'exit');
      one.process.kill('SIGTERM');
      expect(await gone).toEqual([0, null]);
      const endedMs = performance.now() - began;
      expect(one.said()).toContain('Stopping: other processes continue unfinished work');
      expect(await one.leases()).toBe(0);
      // Others count as gone after a minute without a sign of life: this one said that it goes.
      await expect.poll(two.leases, { interval: 50, timeout: 40_000 }).toBeGreaterThan(0);
      const onMs = performance.now() - began - endedMs;
      // Kubernetes kills after 30 s unless told otherwise. On an idle machine it takes about 8 s.
      process.stdout.write(
        `a worker ended in ${Math.round(endedMs)} ms, its candidates went on after ${Math.round(onMs)} ms\n`,
      );

      const cancelled = performance.now();
      await cancelRun(demo.environment.world, id, 'a person cancelled it');
      await expect.poll(two.leases, { interval: 20, timeout: 240_000 }).toBe(0);
      const ms = performance.now() - cancelled;
      process.stdout.write(`cancel reached the coders of a worker in ${Math.round(ms)} ms\n`);
    }));
});
