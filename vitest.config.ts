import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ReliabilityReporter } from './test/setup/reliability.ts';

/** The files that take longest, in this order. Begun last, one of them would run on alone. */
const LONG = [
  '/test/stories/',
  '/test/bench/',
  '/test/adversarial/collect',
  '/test/adapters/sandbox/bubblewrap',
  '/test/adversarial/cheats-',
  '/test/cli/prepare',
  '/test/adapters/git/killed',
  '/test/adapters/database/',
  '/test/adversarial/agents-',
  '/test/runs/',
  '/test/browser/',
  '/test/publishing/',
  '/test/chaos/',
  '/test/adapters/engine/',
  '/test/adapters/git/workspaces',
];

const place = ({ moduleId }: TestSpecification): number => {
  const at = LONG.findIndex((part) => moduleId.includes(part));
  return at < 0 ? LONG.length : at;
};

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }

  /** Deals the files there and back, so that each part (`--shard=1/8`) has as many of the long ones. */
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    return files
      .toSorted(
        (one, other) =>
          place(one) - place(other) ||
          (one.moduleId < other.moduleId ? -1 : one.moduleId > other.moduleId ? 1 : 0),
      )
      .filter((_, at) => {
        const turn = at % (2 * count);
        return Math.min(turn, 2 * count - 1 - turn) === index - 1;
      });
  }
}

const SLOW = '**/*.slow.test.ts';

export default defineConfig({
  test: {
    reporters: ['default', new ReliabilityReporter()],
    pool: 'forks',
    // Tests start real sandboxes, git and Postgres, and wait for them half of their time: four at a time keep two cores
    // busy, and limits of time are so long that a busy machine does not reach them.
    maxWorkers: 4,
    sequence: { sequencer: LongFilesFirst },
    testTimeout: 1_200_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 480_000 } },
    globalSetup: ['test/setup/database.ts', 'test/setup/data-folder.ts'],
    // `npm test` is the fast project, `npm run test:full` both: docs/decisions/0060-two-tiers-of-tests.md.
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts', 'packages/**/*.test.ts'],
          exclude: ['**/node_modules/**', SLOW],
          // One process plays file after file: to load the modules anew for each takes as long as most tests.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'slow', include: [SLOW] } },
    ],
  },
});
