import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { ProgressLine } from '../progress.ts';
import { drive } from './drive.ts';

/** The name of these sources; put in place when this program is bundled. */
declare const ACP_VERSION: string;

const OPTIONS = { 'wall-seconds': { type: 'string' }, version: { type: 'boolean' } } as const;
const Arguments = z.object({
  'wall-seconds': z.coerce.number().positive(),
  agent: z.tuple([z.string().min(1)], z.string()),
});

/** Exit code of a program that ran out of time, as `timeout` of the coreutils has it. */
const OUT_OF_TIME = 124;
/** Seconds between two signs of life; the supervisor takes longer silence for a stall. */
const ALIVE_EVERY = 10;
/** Seconds before the end of the time at which we stop the agent; of short times a tenth. */
const margin = (wallSeconds: number) => Math.min(20, wallSeconds / 10);
/** Seconds for an agent to open a session. 0.5 to 4 were measured; our default. */
const START_SECONDS = 120;

/** The program that runs inside the sandbox: `--wall-seconds=N -- AGENT …`, with the task on standard input. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  if (values.version) {
    process.stdout.write(`${ACP_VERSION}\n`);
    return 0;
  }
  const { agent, 'wall-seconds': wallSeconds } = Arguments.parse({ ...values, agent: positionals });
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
  const end = await drive({
    agent,
    cwd: process.cwd(),
    task: await text(process.stdin),
    startMs: START_SECONDS * 1000,
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
