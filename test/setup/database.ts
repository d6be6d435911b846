import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/adapters/database/index.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the one embedded Postgres of this test run; `freshDatabase` starts it when a test first asks. */
    readonly postgresDir: string;
  }
}

/** One folder for the whole test run. The server starts with the first test that needs it, and ends here. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), 'runoff-test-'));
  // mkdtemp closes the folder to others; as root, the server runs as another user.
  await chmod(home, 0o755);
  const dir = join(home, 'pg');
  project.provide('postgresDir', dir);
  return async () => {
    if (existsSync(dir)) await (await startEmbeddedPostgres({ dir })).stop({ force: true });
    await rm(home, { recursive: true, force: true });
  };
}
