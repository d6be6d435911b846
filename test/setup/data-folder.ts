import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the one data folder lies that is copied for stories; `furnish` makes it when a story first asks. */
    readonly furnishedData: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), 'runoff-furnished-'));
  project.provide('furnishedData', join(home, 'data'));
  return () => rm(home, { recursive: true, force: true, maxRetries: 5 });
}
