/**
 * An engine in a process of its own, so that a test can kill it. Started with its options as JSON in the first
 * argument; writes one JSON line for each thing that happens, and takes commands as lines on standard input.
 */
import { createInterface } from 'node:readline';
import {
  type DbosEngineOptions,
  type HeartbeatOptions,
  openDbosEngine,
  openFence,
} from '../../../src/adapters/engine/index.ts';
import { openExecutors, openStore } from '../../../src/adapters/store/index.ts';
import { systemClock, systemRandom } from '../../../src/adapters/system/index.ts';
import type { FlowContext, Log } from '../../../src/ports/index.ts';
import { bookRow } from '../../world/ledger.ts';

export interface ExecutorOptions extends Omit<DbosEngineOptions, 'log' | 'among'> {
  /** With a queue; default: the engine's own. */
  readonly heartbeat?: HeartbeatOptions;
  /** Steps that wait for a word on standard input, which a frozen process hears only when it wakes. */
  readonly dwell?: readonly string[];
  /** Steps that end with a write to the store, to GitHub and a call of a model, as far as the fence lets them. */
  readonly acts?: readonly string[];
  /** Steps that never end in this process, unless they are aborted. */
  readonly hold: readonly string[];
  /** Milliseconds that steps get at `shutdown`. Default 5 000. */
  readonly graceMs?: number;
  /** Runs wait this long for a signal after their plan; absent: not at all. */
  readonly waitMs?: number;
}
export type Command = {
  readonly do: 'start' | 'settle' | 'cancel' | 'signal' | 'status' | 'shutdown';
  readonly id: string;
};
export interface Happening {
  readonly what:
    | 'acts'
    | 'ready'
    | 'waits'
    | 'stops'
    | 'start'
    | 'end'
    | 'aborted'
    | 'settled'
    | 'status'
    | 'did'
    | 'log';
  readonly by: string;
  readonly flow?: string;
  readonly step?: string;
  readonly value?: unknown;
}

const {
  hold,
  waitMs,
  heartbeat,
  acts = [],
  dwell = [],
  graceMs = 5_000,
  ...options
} = JSON.parse(process.argv[2] ?? '') as ExecutorOptions;
const tell = (happening: Omit<Happening, 'by'>) =>
  process.stdout.write(`${JSON.stringify({ ...happening, by: options.executorId })}\n`);
const logged = (_fields: unknown, message: string) => tell({ what: 'log', value: message });
const log: Log = { info: logged, warn: logged, error: logged, within: (_, work) => work() };

/** How far each deed got: what was done, or the code of the fault that refused it. */
async function act(flow: string): Promise<void> {
  const refused = (thrown: unknown) => (thrown as { code: string }).code;
  const call = { runId: flow, spender: 'A', repository: 'r', model: 'm', ...NOTHING, at: Date.now() };
  const deeds = {
    store: () => store.intend(flow, options.executorId).then(() => 'done'),
    model: () => bookRow(store, call).then(() => 'done'),
    // The adapter of GitHub asks this right before each write; see its own tests.
    github: () => fence.check().then(() => 'done'),
  };
  const value: Record<string, string> = {};
  for (const [name, deed] of Object.entries(deeds)) value[name] = await deed().catch(refused);
  tell({ what: 'acts', flow, value });
}

function step({ id, step: run }: FlowContext, name: string): Promise<string> {
  return run(name, async (signal) => {
    tell({ what: 'start', flow: id, step: name });
    if (dwell.includes(name)) {
      const word = new Promise((settle) => process.stdin.once('data', settle));
      dwelling.push(word.then(() => act(id)));
      await word;
    }
    if (hold.includes(name)) {
      const alive = setInterval(() => undefined, 1_000);
      await new Promise((settle) => signal.addEventListener('abort', settle, { once: true }));
      clearInterval(alive);
      tell({ what: 'aborted', flow: id, step: name });
      throw signal.reason;
    }
    if (acts.includes(name) && !dwell.includes(name)) await act(id);
    tell({ what: 'end', flow: id, step: name });
    return `${name} by ${options.executorId}`;
  });
}

const dwelling: Promise<void>[] = [];
const NOTHING = {
  tokensIn: 0,
  tokensOut: 0,
  tokensCached: 0,
  tokensReasoning: 0,
  usd: 0,
  exact: true,
  status: 0,
  ms: 0,
} as const;
const identity = { id: options.executorId, incarnation: systemRandom.nonce() };
const store = await openStore(options.databaseUrl, options.queue === null ? {} : { identity });
const executors = openExecutors(options.databaseUrl, identity);
const fence = openFence({
  executors,
  clock: systemClock,
  log,
  heartbeat,
  // What it still tries is seen to its end.
  onExpired: () => void Promise.all(dwelling).then(() => process.exit(1)),
});
const among = { fence, facts: { host: 'here', version: '0' } };
const engine = openDbosEngine({ ...options, log, ...(options.queue === null ? {} : { among }) });

await engine.launch({
  examination: async () => null,
  async run(context) {
    await step(context, 'plan');
    if (waitMs !== undefined) {
      tell({ what: 'waits', flow: context.id });
      const end = await context.wait('reply', waitMs);
      await step(context, end);
    }
    const candidates = await context.fanOut(
      ['A', 'B', 'C'].map((key) => ({ key, partition: 'acme/shop', input: key })),
    );
    await step(context, 'publish');
    return candidates;
  },
  async candidate(context) {
    await step(context, 'turn 1');
    return step(context, 'turn 2');
  },
});
tell({ what: 'ready', value: process.getActiveResourcesInfo().filter((name) => name.includes('Server')) });

const commands = {
  start: (id: string) => engine.start(id, null),
  cancel: (id: string) => engine.cancel(id),
  signal: (id: string) => engine.signal(id, 'reply', 'comment:1'),
  settle: async (id: string) => tell({ what: 'settled', flow: id, value: await engine.settled(id) }),
  status: async (id: string) => tell({ what: 'status', flow: id, value: await engine.status(id) }),
  async shutdown() {
    const stopped = engine.shutdown(graceMs);
    tell({ what: 'stops' });
    await stopped;
    await executors.leave();
    await executors.close();
    await store.close();
  },
} as const;

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command;
  await commands[command.do](command.id);
  tell({ what: 'did', step: command.do });
  if (command.do === 'shutdown') break;
}
// Nothing of the engine may keep the process alive after this.
process.stdin.destroy();
