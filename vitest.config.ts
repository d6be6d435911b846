import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ReliabilityReporter } from './test/setup/reliability.ts';

/** Stories take longest. Begun last, one of them would run on alone. */
class StoriesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isStory = ({ moduleId }: TestSpecification) => moduleId.includes('/test/stories/');
    const sorted = await super.sort(files);
    return [...sorted.filter(isStory), ...sorted.filter((file) => !isStory(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/**/*.test.ts'],
    reporters: ['default', new ReliabilityReporter()],
    globalSetup: ['test/setup/database.ts', 'test/setup/data-folder.ts'],
    pool: 'forks',
    // Tests start real sandboxes, git and Postgres, and wait for them half of their time: four at a time keep two cores
    // busy, and limits of time are so long that a busy machine does not reach them.
    maxWorkers: 4,
    sequence: { sequencer: StoriesFirst },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
