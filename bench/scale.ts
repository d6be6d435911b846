// How the queue and the machines behind it scale. Coders are simulated: they sleep and edit a file, in real sandboxes
// with real git; each machine is a process with a data folder of its own, on one embedded Postgres. Throughput of one and
// of several of them; one process with many runs in its queue, whose coders only wait; and the time after kill -9 until
// the first step is taken up again, by the same machine started anew and by another one. Prints ratios: numbers from one
// machine say little about another. ONLY=machines, queue or recovery prints one table.
//   CODERS=32 SECONDS=10 MACHINES=1,2,4 RUNS=100,300,1000 node bench/scale.ts
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/adapters/database/index.ts';
import { prepareToolchain } from '../src/adapters/sandbox/index.ts';
import { numbersIn, quantile } from './numbers.ts';
import type { MachineOptions, Order, Said, Sayings } from './scale/machine.ts';

const { env } = process;
const CODERS = Number(env.CODERS ?? 32);
const CODING_MS = Number(env.SECONDS ?? 10) * 1_000;
const MACHINES = numbersIn(env.MACHINES ?? '1,2,4');
const RUNS = numbersIn(env.RUNS ?? '100,300,1000');
const OWNER = process.getuid?.() === 0 ? { uid: 64190, gid: 64190 } : null;
const MACHINE = fileURLToPath(new URL('scale/machine.ts', import.meta.url));
/** A tenth of those in production (10 s and 60 s), so that nobody waits a minute for a figure. */
const HEARTBEAT = { everyMs: 1_000, staleMs: 6_000 } as const;
/** As in production: nobody is taken for dead while a bench keeps two cores busy. */
const CALM_HEARTBEAT = { everyMs: 10_000, staleMs: 60_000 } as const;
const PLACES = 4;

interface Machine {
  tell(order: Order): void;
  /** Resolves with the `times`th thing of this kind that it said since `after` (milliseconds since 1970; default: ever). */
  says<W extends keyof Sayings>(what: W, times?: number, after?: number): Promise<Said<W>>;
  /** All of this kind that it said by now. */
  said<W extends keyof Sayings>(what: W): readonly Said<W>[];
  kill(): Promise<void>;
}

function startMachine(options: MachineOptions): Machine {
  const child: ChildProcess = spawn(process.execPath, [MACHINE, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const all: Said<keyof Sayings>[] = [];
  const watchers = new Set<() => void>();
  if (!child.stdout) throw new Error('The machine has no output.');
  createInterface({ input: child.stdout }).on('line', (line) => {
    all.push(JSON.parse(line) as Said<keyof Sayings>);
    for (const look of watchers) look();
  });
  const gone = once(child, 'exit');
  const said = <W extends keyof Sayings>(what: W) => all.filter((one): one is Said<W> => one.what === what);
  return {
    tell: (order) => void child.stdin?.write(`${JSON.stringify(order)}\n`),
    said,
    says: (what, times = 1, after = 0) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = said(what).filter(({ at }) => at > after)[times - 1];
          if (!found) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        void gone.then(() => reject(new Error(`Machine ${options.id} ended.`)));
        look();
      }),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

interface Ground {
  readonly root: string;
  readonly toolchain: string;
  readonly scratch: string;
  readonly repository: string;
  readonly server: EmbeddedPostgres;
}

async function openGround(root: string): Promise<Ground> {
  const { dir: toolchain } = await prepareToolchain({ dir: join(root, 'toolchain'), owner: OWNER });
  const scratch = join(root, 'scratch');
  mkdirSync(scratch);
  if (OWNER) execFileSync('chown', [`${OWNER.uid}:${OWNER.gid}`, scratch]);
  const repository = join(root, 'repository');
  mkdirSync(repository);
  writeFileSync(join(repository, 'a.txt'), 'one\n');
  const as = ['-c', 'user.name=B', '-c', 'user.email=b@example.org'];
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...as, 'commit', '-q', '-m', 'Start'],
  ]) {
    execFileSync('git', args, { cwd: repository });
  }
  return {
    root,
    toolchain,
    scratch,
    repository,
    server: await startEmbeddedPostgres({ dir: join(root, 'pg') }),
  };
}

/** An empty database: what earlier benches left in the engine's tables is no part of a figure. */
async function freshDatabase({ server }: Ground, name: string): Promise<string> {
  await server.ensureDatabase(name);
  return server.url(name);
}

const seconds = (ms: number): string => (ms / 1000).toFixed(2);

async function throughput(ground: Ground, count: number): Promise<number> {
  const databaseUrl = await freshDatabase(ground, `machines_${count}`);
  const { toolchain, scratch, repository } = ground;
  const machines: Machine[] = [];
  for (let n = 0; n < count; n += 1) {
    const home = join(ground.root, `machine-${count}-${n}`);
    const real = { home, toolchain, scratch, owner: OWNER, repository };
    const machine = startMachine({
      databaseUrl,
      id: `machine-${n}`,
      takesRuns: n === 0,
      places: PLACES,
      heartbeat: CALM_HEARTBEAT,
      codingMs: CODING_MS,
      real,
    });
    machines.push(machine);
    await machine.says('ready');
  }
  const began = Date.now();
  machines[0]?.tell({ do: 'start', run: 'r1', coders: CODERS });
  const over = await machines[0]?.says('run over');
  for (const machine of machines) await machine.kill();
  return (over?.at ?? Number.NaN) - began;
}

async function machinesTable(ground: Ground): Promise<void> {
  console.log(
    `\n| machines (${PLACES} slots each) | ${CODERS} coders of ${CODING_MS / 1000} s, s | throughput, × one machine | of the maximum for the slots |`,
  );
  console.log('|--:|--:|--:|--:|');
  let one = Number.NaN;
  for (const count of MACHINES) {
    const ms = await throughput(ground, count);
    if (Number.isNaN(one)) one = ms;
    const least = Math.ceil(CODERS / (PLACES * count)) * CODING_MS;
    console.log(
      `| ${count} | ${seconds(ms)} | ${(one / ms).toFixed(2)} | ${((100 * least) / ms).toFixed(0)}% |`,
    );
  }
}

interface Queue {
  /** Milliseconds until a start was durable, while the queue grew. */
  readonly starts: readonly number[];
  readonly drainMs: number;
  readonly idleBytes: number;
  /** With all runs in the queue. */
  readonly fullBytes: number;
  readonly drainedBytes: number;
}

async function queueOf(ground: Ground, runs: number): Promise<Queue> {
  const machine = startMachine({
    databaseUrl: await freshDatabase(ground, `queue_${runs}`),
    id: 'machine-0',
    takesRuns: true,
    places: 16,
    heartbeat: CALM_HEARTBEAT,
    codingMs: 200,
  });
  const measured = async (): Promise<number> => {
    const times = machine.said('memory').length + 1;
    machine.tell({ do: 'measure' });
    return (await machine.says('memory', times)).bytes;
  };
  await machine.says('ready');
  const idleBytes = await measured();
  const began = Date.now();
  for (let n = 0; n < runs; n += 1) machine.tell({ do: 'start', run: `r${n}`, coders: 1 });
  await machine.says('started', runs);
  const fullBytes = await measured();
  const last = await machine.says('run over', runs);
  const drainedBytes = await measured();
  await machine.kill();
  const starts = machine.said('started').map(({ ms }) => ms);
  return { starts, drainMs: last.at - began, idleBytes, fullBytes, drainedBytes };
}

async function queueTable(ground: Ground): Promise<void> {
  console.log(
    `\n| runs started at once | start, ms (p50) | (p95) | p50, × ${RUNS[0]} runs | memory when all have started, × idle | when all have ended, × idle | time per run until the last ends, × ${RUNS[0]} runs |`,
  );
  console.log('|--:|--:|--:|--:|--:|--:|--:|');
  let first: Queue | undefined;
  for (const runs of RUNS) {
    const found = await queueOf(ground, runs);
    first ??= found;
    const [p50, p95] = [quantile(found.starts, 0.5), quantile(found.starts, 0.95)];
    const times = (value: number, of: number): string => (value / of).toFixed(2);
    console.log(
      `| ${runs} | ${p50.toFixed(1)} | ${p95.toFixed(1)} | ${times(p50, quantile(first.starts, 0.5))} | ${times(found.fullBytes, found.idleBytes)} | ${times(found.drainedBytes, found.idleBytes)} | ${times(found.drainMs / runs, first.drainMs / RUNS[0])} |`,
    );
  }
}

/** Milliseconds from the kill, or from the new start where there is one, to the first step that is taken up. */
async function recovery(ground: Ground, who: 'itself' | 'another'): Promise<number> {
  const databaseUrl = await freshDatabase(ground, `recovery_${who}`);
  const options = { databaseUrl, places: PLACES, heartbeat: HEARTBEAT, codingMs: 60_000 };
  const first = startMachine({ ...options, id: 'machine-0', takesRuns: true });
  await first.says('ready');
  first.tell({ do: 'start', run: 'r1', coders: PLACES });
  await first.says('took up', PLACES);
  // Idle until then: everything is with the first.
  const second = who === 'another' ? startMachine({ ...options, id: 'machine-1', takesRuns: true }) : null;
  await second?.says('ready');
  await first.kill();
  const began = Date.now();
  const heir = second ?? startMachine({ ...options, id: 'machine-0', takesRuns: true });
  const took = await heir.says('took up', 1, began);
  await heir.kill();
  return took.at - began;
}

async function recoveryTable(ground: Ground): Promise<void> {
  console.log('\n| after `kill -9` | time until the first step resumes, s | × heartbeat expiry |');
  console.log('|---|--:|--:|');
  const own = await recovery(ground, 'itself');
  console.log(`| the same machine, from its restart | ${seconds(own)} | – |`);
  const other = await recovery(ground, 'another');
  console.log(
    `| another machine, from the kill (heartbeat every ${seconds(HEARTBEAT.everyMs)} s, expired after ${seconds(HEARTBEAT.staleMs)} s) | ${seconds(other)} | ${(other / HEARTBEAT.staleMs).toFixed(2)} |`,
  );
}

const root = mkdtempSync(join(tmpdir(), 'ros-'));
chmodSync(root, 0o755);
try {
  const ground = await openGround(root);
  try {
    const tables = { machines: machinesTable, queue: queueTable, recovery: recoveryTable };
    for (const [name, table] of Object.entries(tables)) {
      if (!env.ONLY || env.ONLY === name) await table(ground);
    }
  } finally {
    await ground.server.stop({ force: true });
  }
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
