import { fileURLToPath } from 'node:url';
import { MODEL_PROTOCOLS } from '../../../core/settings/index.ts';
import type { Coder, CoderInput, CoderLaunch } from '../../../ports/index.ts';
import { bundleCoder, sourceHash } from '../bundle.ts';
import { SANDBOX_NODE } from '../catalogue.ts';
import { programEnvironment, wordsOf } from '../command.ts';
import { readProgress } from '../progress.ts';

/** Path of the bundled program inside the sandbox. */
export const ACP_PATH = '/opt/toolchain/coders/acp.mjs';

/** Runs any agent that speaks the Agent Client Protocol, as named by the contestant, with Runoff's own client. */
export function acpCoder(): Coder {
  return {
    name: 'acp',
    protocols: MODEL_PROTOCOLS,
    wantsArgv: true,
    experimental: true,
    launch: (input) => ({ ...acpLaunch(input, wordsOf(input)), env: programEnvironment(input) }),
    read: readAcp,
    version: acpVersion,
    trial: () => ({ argv: [SANDBOX_NODE, ACP_PATH, '--version'], env: {} }),
  };
}

/** Starts an agent under Runoff's client, which prints the progress that `readAcp` reads. */
export const acpLaunch = (
  { wallSeconds, prompt }: CoderInput,
  agent: readonly [string, ...string[]],
): Pick<CoderLaunch, 'argv' | 'stdin'> => ({
  argv: [SANDBOX_NODE, ACP_PATH, `--wall-seconds=${wallSeconds}`, '--', ...agent],
  stdin: prompt,
});

export const readAcp: Coder['read'] = readProgress;

/** Identifies the client's sources; the agent behind it has its own version. */
const acpVersion = async (): Promise<string> => `acp ${(await sourceHash(import.meta.dirname)).slice(0, 12)}`;

/** Writes the program that runs inside the sandbox to `outFile`, unless it is there already. */
export async function bundleAcpCoder(outFile: string): Promise<void> {
  const entry = fileURLToPath(new URL('main.ts', import.meta.url));
  await bundleCoder({ entry, outFile, define: { ACP_VERSION: await acpVersion() } });
}
