import { MODEL_PROTOCOLS } from '../../../core/model/index.ts';
import type { Coder } from '../../../ports/index.ts';
import { NODE } from '../installed.ts';
import { readProgress } from '../progress.ts';
import { builtinVersion } from './bundle.ts';

/** Where the bundled program is seen inside the sandbox. */
export const BUILTIN_PATH = '/opt/runoff/coders/builtin.mjs';

/** Our own agent: a loop over bash, write and edit, for any model of the gateway. */
export function builtinCoder(): Coder {
  return {
    name: 'builtin',
    protocols: MODEL_PROTOCOLS,
    wantsArgv: false,
    experimental: false,
    launch: ({ protocol, model, wallSeconds, prompt, seed }) => ({
      argv: [
        NODE,
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
    trial: () => ({ argv: [NODE, BUILTIN_PATH, '--version'], env: {} }),
  };
}
