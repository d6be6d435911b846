import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MODEL_PROTOCOLS } from '../../../core/settings/index.ts';
import type { Coder } from '../../../ports/index.ts';
import { bundleCoder, sourceHash } from '../bundle.ts';
import { SANDBOX_NODE } from '../catalogue.ts';
import { readProgress } from '../progress.ts';

/** Path of the bundled program inside the sandbox. */
export const BUILTIN_PATH = '/opt/toolchain/coders/builtin.mjs';

/** The built-in agent: a loop over bash, write and edit, for any model of the gateway. */
export function builtinCoder(): Coder {
  return {
    name: 'builtin',
    protocols: MODEL_PROTOCOLS,
    wantsArgv: false,
    experimental: false,
    launch: ({ protocol, model, wallSeconds, prompt, seed }) => ({
      argv: [
        SANDBOX_NODE,
        BUILTIN_PATH,
        `--protocol=${protocol}`,
        `--model=${model}`,
        `--wall-seconds=${wallSeconds}`,
        `--seed=${seed}`,
      ],
      env: {},
      stdin: prompt,
    }),
    read: readProgress,
    version: builtinVersion,
    trial: () => ({ argv: [SANDBOX_NODE, BUILTIN_PATH, '--version'], env: {} }),
  };
}

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Identifies its sources, since it has no releases of its own. */
const builtinVersion = async (): Promise<string> =>
  `builtin ${(await sourceHash(import.meta.dirname)).slice(0, 12)}`;

/** Writes the program that runs inside the sandbox to `outFile`, unless it is there already. */
export async function bundleBuiltinCoder(outFile: string): Promise<void> {
  const instructions = await readFile(beside('instructions.md'), 'utf8');
  const define = { BUILTIN_INSTRUCTIONS: instructions, BUILTIN_VERSION: await builtinVersion() };
  await bundleCoder({ entry: beside('main.ts'), outFile, define });
}
