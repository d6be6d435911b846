import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/database.ts', 'test/setup/data-folder.ts'],
    pool: 'forks',
    // Tests start real sandboxes, git and Postgres, and wait for them half of their time: three at a time keep two cores
    // busy, and limits of time are so long that a busy machine does not reach them.
    maxWorkers: 3,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
