import { MODEL_PROTOCOLS } from '../../../core/model/index.ts';
import type { Coder, CoderInput, CoderLaunch } from '../../../ports/index.ts';
import { NODE } from '../installed.ts';
import { programEnvironment, wordsOf } from '../program.ts';
import { readProgress } from '../progress.ts';
import { acpVersion } from './bundle.ts';

/** Where the bundled program is seen inside the sandbox. */
export const ACP_PATH = '/opt/runoff/coders/acp.mjs';

/** Any agent that speaks the Agent Client Protocol, named by the contestant and led by a program of ours. */
export function acpCoder(): Coder {
  return {
    name: 'acp',
    protocols: MODEL_PROTOCOLS,
    wantsArgv: true,
    experimental: true,
    launch: (input) => ({ ...acpLaunch(input, wordsOf(input)), env: programEnvironment(input) }),
    read: readAcp,
    version: acpVersion,
    trial: () => ({ argv: [NODE, ACP_PATH, '--version'], env: {} }),
  };
}

/** Starts an agent under our program, which prints the progress that `readAcp` reads. */
export const acpLaunch = (
  { wallSeconds, prompt }: CoderInput,
  agent: readonly [string, ...string[]],
): Pick<CoderLaunch, 'argv' | 'stdin'> => ({
  argv: [NODE, ACP_PATH, `--wall-seconds=${wallSeconds}`, '--', ...agent],
  stdin: prompt,
});

export const readAcp: Coder['read'] = readProgress;
