/**
 * An engine in a process of its own, so that a test can kill it. Started with its options as JSON in the first
 * argument; writes one JSON line for each thing that happens, and takes commands as lines on standard input.
 */
import { createInterface } from 'node:readline';
import { type DbosEngineOptions, openDbosEngine } from '../../../src/adapters/engine/index.ts';
import type { FlowContext, Log } from '../../../src/ports/index.ts';

export interface ExecutorOptions extends Omit<DbosEngineOptions, 'log'> {
  /** Steps that never end in this process, unless they are aborted. */
  readonly hold: readonly string[];
  /** Runs wait this long for a signal after their plan; absent: not at all. */
  readonly waitMs?: number;
}
export type Command = {
  readonly do: 'start' | 'settle' | 'cancel' | 'signal' | 'status' | 'shutdown';
  readonly id: string;
};
export interface Happening {
  readonly what: 'ready' | 'waits' | 'start' | 'end' | 'aborted' | 'settled' | 'status' | 'did' | 'log';
  readonly by: string;
  readonly flow?: string;
  readonly step?: string;
  readonly value?: unknown;
}

const { hold, waitMs, ...options } = JSON.parse(process.argv[2] ?? '') as ExecutorOptions;
const tell = (happening: Omit<Happening, 'by'>) =>
  process.stdout.write(`${JSON.stringify({ ...happening, by: options.executorId })}\n`);
const logged = (_fields: unknown, message: string) => tell({ what: 'log', value: message });
const log: Log = { info: logged, warn: logged, error: logged, within: (_, work) => work() };

function step({ id, step: run }: FlowContext, name: string): Promise<string> {
  return run(name, async (signal) => {
    tell({ what: 'start', flow: id, step: name });
    if (hold.includes(name)) {
      const alive = setInterval(() => undefined, 1_000);
      await new Promise((settle) => signal.addEventListener('abort', settle, { once: true }));
      clearInterval(alive);
      tell({ what: 'aborted', flow: id, step: name });
      throw signal.reason;
    }
    tell({ what: 'end', flow: id, step: name });
    return `${name} by ${options.executorId}`;
  });
}

const engine = openDbosEngine({ ...options, log });
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
  shutdown: () => engine.shutdown(5_000),
} as const;

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command;
  await commands[command.do](command.id);
  tell({ what: 'did', step: command.do });
  if (command.do === 'shutdown') break;
}
// Nothing of the engine may keep the process alive after this.
process.stdin.destroy();
