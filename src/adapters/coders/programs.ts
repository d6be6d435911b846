import { join } from 'node:path';
import { bundleAcpCoder } from './acp/index.ts';
import { bundleBuiltinCoder } from './builtin/index.ts';

/** Writes our own programs that work inside the sandbox into the toolchain's folder of coders; fast when they are there. */
export async function installCoderPrograms(folder: string): Promise<void> {
  await bundleBuiltinCoder(join(folder, 'builtin.mjs'));
  await bundleAcpCoder(join(folder, 'acp.mjs'));
}
