import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { MODEL_PROTOCOLS } from '../../../core/model/index.ts';
import type { ProgressLine } from '../progress.ts';
import { work } from './loop.ts';

/** Text of `instructions.md`, and the name of these sources; put in place when this program is bundled. */
declare const BUILTIN_INSTRUCTIONS: string;
declare const BUILTIN_VERSION: string;

const OPTIONS = {
  protocol: { type: 'string' },
  model: { type: 'string' },
  'wall-seconds': { type: 'string' },
  seed: { type: 'string' },
  version: { type: 'boolean' },
} as const;
const Arguments = z.object({
  protocol: z.enum(MODEL_PROTOCOLS),
  model: z.string().min(1),
  'wall-seconds': z.coerce.number().positive(),
  seed: z.coerce.number().int().nonnegative(),
});
const Environment = z.object({ GW_URL: z.url(), GW_KEY: z.string().min(1) });

/** Exit code of a program that ran out of time, as `timeout` of the coreutils has it. */
const OUT_OF_TIME = 124;
/** Seconds between two signs of life; the supervisor takes longer silence for a stall. */
const ALIVE_EVERY = 10;
/** Seconds before the end of the time at which we stop by ourselves; of short times a tenth. */
const margin = (wallSeconds: number) => Math.min(15, wallSeconds / 10);

/** The program that runs inside the sandbox, with the task on standard input. */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.version) {
    process.stdout.write(`${BUILTIN_VERSION}\n`);
    return 0;
  }
  const { protocol, model, seed, 'wall-seconds': wallSeconds } = Arguments.parse(values);
  const { GW_URL, GW_KEY } = Environment.parse(process.env);
  const stop = new AbortController();
  process.on('SIGTERM', () => stop.abort('Stopped from outside.'));
  let late = false;
  const timer = setTimeout(
    () => {
      late = true;
      stop.abort(`Stopped shortly before the limit of ${wallSeconds} s.`);
    },
    (wallSeconds - margin(wallSeconds)) * 1000,
  );
  const end = await work({
    protocol,
    model,
    seed,
    url: GW_URL,
    key: GW_KEY,
    root: process.cwd(),
    instructions: BUILTIN_INSTRUCTIONS,
    task: await text(process.stdin),
    signal: stop.signal,
    emit: emitter(),
  });
  clearTimeout(timer);
  print(end);
  if (end.ok) return 0;
  return late ? OUT_OF_TIME : 1;
}

function emitter(): (line: ProgressLine) => void {
  let last = 0;
  return (line) => {
    const now = performance.now();
    if (line.type === 'alive' && now - last < ALIVE_EVERY * 1000) return;
    last = now;
    print(line);
  };
}

function print(line: ProgressLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const code = await main();
// Only when standard output has taken everything: an exit at once would cut it off on a pipe.
process.stdout.write('', () => process.exit(code));
