import { parseArgs } from 'node:util';
import { z } from 'zod';
import { exitWhenWritten, workInside } from '../progress.ts';
import { drive } from './drive.ts';

/** Hash of the client's sources; defined when this program is bundled. */
declare const ACP_VERSION: string;

const ACP_OPTIONS = { 'wall-seconds': { type: 'string' }, version: { type: 'boolean' } } as const;
const Arguments = z.object({
  'wall-seconds': z.coerce.number().positive(),
  agent: z.tuple([z.string().min(1)], z.string()),
});

/** Seconds before the time limit at which the agent is stopped. */
const MARGIN_SECONDS = 20;
/** Seconds for an agent to open a session. Measured: 0.5 to 4; our default. */
const START_SECONDS = 120;

/** The program that runs inside the sandbox: `--wall-seconds=N -- AGENT …`, with the task on standard input. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: ACP_OPTIONS, allowPositionals: true });
  if (values.version) {
    process.stdout.write(`${ACP_VERSION}\n`);
    return 0;
  }
  const { agent, 'wall-seconds': wallSeconds } = Arguments.parse({ ...values, agent: positionals });
  return workInside({ wallSeconds, most: MARGIN_SECONDS }, (inside) =>
    drive({ ...inside, agent, cwd: process.cwd(), startMs: START_SECONDS * 1000 }),
  );
}

exitWhenWritten(await main());
