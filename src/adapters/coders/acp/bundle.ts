import { fileURLToPath } from 'node:url';
import { bundleCoder, sourceHash } from '../bundle.ts';

/** Says which sources of ours it was made from; the agent behind it has a version of its own. */
export const acpVersion = async (): Promise<string> =>
  `acp ${(await sourceHash(import.meta.dirname)).slice(0, 12)}`;

/** Writes the program that runs inside the sandbox to `outFile`, unless it is there already. */
export async function bundleAcpCoder(outFile: string): Promise<void> {
  const entry = fileURLToPath(new URL('main.ts', import.meta.url));
  await bundleCoder({ entry, outFile, define: { ACP_VERSION: await acpVersion() } });
}
