import { parseArgs } from 'node:util';
import { z } from 'zod';
import { MODEL_PROTOCOLS } from '../../../core/settings/index.ts';
import { exitWhenWritten, workInside } from '../progress.ts';
import { work } from './loop.ts';

/** Text of `instructions.md`, and hash of these sources; defined when this program is bundled. */
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
const ModelEnvironment = z.object({ GW_URL: z.url(), GW_KEY: z.string().min(1) });

/** Seconds before the time limit at which the program stops by itself. */
const MARGIN_SECONDS = 15;

/** The program that runs inside the sandbox, with the task on standard input. */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.version) {
    process.stdout.write(`${BUILTIN_VERSION}\n`);
    return 0;
  }
  const { protocol, model, seed, 'wall-seconds': wallSeconds } = Arguments.parse(values);
  const { GW_URL, GW_KEY } = ModelEnvironment.parse(process.env);
  return workInside({ wallSeconds, most: MARGIN_SECONDS }, (inside) =>
    work({
      ...inside,
      protocol,
      model,
      seed,
      url: GW_URL,
      key: GW_KEY,
      root: process.cwd(),
      instructions: BUILTIN_INSTRUCTIONS,
    }),
  );
}

exitWhenWritten(await main());
