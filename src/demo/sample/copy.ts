import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The sample project: plain files, without git and without settings of ours. */
export const SAMPLE_FILES = fileURLToPath(new URL('files', import.meta.url));

/** Copies the sample project into a folder, which is made when it is missing. */
export async function copySample(to: string): Promise<void> {
  await cp(SAMPLE_FILES, to, { recursive: true });
}
