import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleCoder, sourceHash } from '../bundle.ts';

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Says which sources it was made from: it has no releases of its own. */
export const builtinVersion = async (): Promise<string> =>
  `builtin ${(await sourceHash(import.meta.dirname)).slice(0, 12)}`;

/** Writes the program that runs inside the sandbox to `outFile`, unless it is there already. */
export async function bundleBuiltinCoder(outFile: string): Promise<void> {
  const instructions = await readFile(beside('instructions.md'), 'utf8');
  const define = { BUILTIN_INSTRUCTIONS: instructions, BUILTIN_VERSION: await builtinVersion() };
  await bundleCoder({ entry: beside('main.ts'), outFile, define });
}
