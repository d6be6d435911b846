/**
 * One of the machines of bench/scale.ts: an engine with its own data folder, sandboxes and git. Started with its options
 * as JSON in the first argument; writes one JSON line for each thing that happens, and takes commands as lines.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDbosEngine, openFence } from '../../src/adapters/engine/index.ts';
import { openWorkspaces } from '../../src/adapters/git/index.ts';
import { openBubblewrap } from '../../src/adapters/sandbox/index.ts';
import { openExecutors, openStore } from '../../src/adapters/store/index.ts';
import { systemClock, systemRandom } from '../../src/adapters/system/index.ts';
import { type BaseCheckout, DEFAULT_LIMITS, type FlowContext } from '../../src/ports/index.ts';
import { silent } from '../../test/world/silent-log.ts';

export interface MachineOptions {
  readonly databaseUrl: string;
  readonly id: string;
  readonly takesRuns: boolean;
  /** Coders at a time. */
  readonly places: number;
  readonly heartbeat: { readonly everyMs: number; readonly staleMs: number };
  /** Milliseconds that a coder works. */
  readonly codingMs: number;
  /** Coders work in sandboxes, on a clone of this repository; absent: they only wait. */
  readonly real?: {
    readonly home: string;
    readonly toolchain: string;
    readonly scratch: string;
    readonly owner: { readonly uid: number; readonly gid: number } | null;
    readonly repository: string;
  };
}

export type Order =
  | { readonly do: 'start'; readonly run: string; readonly coders: number }
  | { readonly do: 'measure' };

/** What a machine says, by its name; `at` in milliseconds since 1970. */
export interface Sayings {
  readonly ready: object;
  readonly 'took up': object;
  readonly coded: object;
  readonly 'run over': object;
  /** Milliseconds until a start was durable. */
  readonly started: { readonly ms: number };
  readonly memory: { readonly bytes: number };
}
export type Said<W extends keyof Sayings> = Sayings[W] & { readonly what: W; readonly at: number };

const options = JSON.parse(process.argv[2] ?? '') as MachineOptions;
const { databaseUrl, id, takesRuns, places, heartbeat, codingMs, real } = options;

const say = <W extends keyof Sayings>(what: W, more: Sayings[W]): boolean =>
  process.stdout.write(`${JSON.stringify({ ...more, what, at: Date.now() })}\n`);

const coding = real ? await openCoding(real) : async () => void (await sleep(codingMs));

/** A coder that sleeps, edits a file, and whose patch is collected. */
async function openCoding({
  home,
  toolchain,
  scratch,
  owner,
  repository,
}: NonNullable<MachineOptions['real']>) {
  const sandbox = openBubblewrap({ toolchain, owner, scratch });
  const workspaces = openWorkspaces({ dataDir: home, sandbox, owner, log: silent });
  const source = { kind: 'local', path: repository } as const;
  const sha = await workspaces.resolve(source, 'HEAD');
  if (!sha) throw new Error('The repository has no commit.');
  const base: BaseCheckout = await workspaces.prepare(source, sha);
  const argv = ['sh', '-c', `sleep ${codingMs / 1000}; echo edited >> a.txt`] as const;
  return async (flow: string): Promise<void> => {
    const area = await workspaces.open(base, flow);
    try {
      const { exitCode, stderr } = await sandbox.exec({ area, argv, limits: DEFAULT_LIMITS });
      if (exitCode !== 0) throw new Error(`The coder ended with ${exitCode}: ${stderr}`);
      const { kind } = await workspaces.collect(base, area);
      if (kind !== 'patch') throw new Error(`What the coder left is ${kind}.`);
    } finally {
      await workspaces.remove(area);
    }
  };
}

async function step(context: FlowContext, name: string, work: () => Promise<void>): Promise<void> {
  await context.step(name, async () => {
    say('took up', {});
    await work();
  });
}

// Opened once, for its tables.
const identity = { id, incarnation: systemRandom.nonce() };
const store = await openStore(databaseUrl);
const fence = openFence({
  executors: openExecutors(databaseUrl, identity),
  clock: systemClock,
  log: silent,
  heartbeat,
  onExpired: () => process.exit(1),
});
await store.close();
const engine = openDbosEngine({
  databaseUrl,
  executorId: id,
  queue: { name: 'coders', perWorker: places, perPartition: places * 4 },
  takesRuns,
  among: { fence, facts: { host: 'bench', version: '0' } },
  log: silent,
});
await engine.launch({
  examination: async () => null,
  async run(context, input) {
    const { coders } = input as { coders: number };
    const inputs = Array.from({ length: coders }, (_, n) => ({
      key: `c${n}`,
      partition: `repository-${n % 8}`,
      input: null,
    }));
    await context.fanOut(inputs);
    await context.step('publish', async () => void say('run over', {}));
    return null;
  },
  async candidate(context) {
    await step(context, 'code', () => coding(context.id));
    await context.step('record', async () => void say('coded', {}));
    return null;
  },
});
say('ready', {});

/** Resident set size, bytes, as the kernel counts it. */
const memory = (): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order;
  if (order.do === 'measure') {
    say('memory', { bytes: memory() });
    continue;
  }
  const began = performance.now();
  await engine.start(order.run, { coders: order.coders });
  say('started', { ms: performance.now() - began });
}
process.exit();
