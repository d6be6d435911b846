import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the one data folder lies that is copied for stories; `furnish` makes it when a story first asks. */
    readonly furnishedData: string;
    /** Where the one toolchain lies that sandboxes of tests link to; the first that needs it makes it. */
    readonly toolchains: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), 'runoff-furnished-'));
  // mkdtemp closes the folder to others; as root, sandboxes run as another user.
  await chmod(home, 0o711);
  project.provide('furnishedData', join(home, 'data'));
  project.provide('toolchains', join(home, 'toolchains'));
  // A process takes longer to fork the more memory it has allocated, and each thread would allocate its own.
  process.env.MALLOC_ARENA_MAX = '1';
  // Commands of one test run need not compile our sources each for itself. Workers and what they start inherit it.
  process.env.NODE_COMPILE_CACHE = join(home, 'compiled');
  return () => rm(home, { recursive: true, force: true, maxRetries: 5 });
}
