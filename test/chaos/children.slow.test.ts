import { describe, expect, test } from 'vitest';
import { tried } from '../world/tried.ts';
import { expectNoProblems } from './expect-no-problems.ts';
import { withPreparedChaosEnvironment } from './prepared-chaos-environment.ts';
import {
  type KillTarget,
  killWhenSeen,
  type SandboxTarget,
  type TargetedKills,
  targetedKillsPath,
} from './targeted-kills.ts';

const ALL_OF_THEM = process.env.RUNOFF_TEST_CHAOS === 'all';

const git = (
  words: string,
  nth: number,
  more: Omit<KillTarget, 'program' | 'words' | 'nth'> = {},
): KillTarget => ({
  program: 'git',
  words,
  nth,
  ...more,
});

const PUSHES = [git('push', 1, { after: 0.02 }), git('push', 3)];
const OTHERS = [
  git('ls-remote', 1),
  git('ls-remote', 3, { signal: 'TERM' }),
  git('fetch', 1),
  git('fetch', 2, { after: 0.01 }),
  git('ls-tree', 1, { signal: 'SEGV' }),
  git('cat-file', 2),
  git('init', 1),
  git('reset', 1, { after: 0.005 }),
  git('rev-parse', 2),
  git('index-pack', 1),
  git('diff-tree', 1),
  git('commit-tree', 1),
];
const LOCKS: readonly KillTarget[] = [1, 2, 5].map((nth) => ({ program: 'flock', words: '', nth }));

const UNSHARE = ['unshare', '--user'];
const BWRAP = ['bwrap', '--args'];
const PREYS: readonly SandboxTarget[] = [
  { name: 'unshare of a test run', begins: UNSHARE, holds: 'node --test' },
  { name: 'bwrap of a test run', begins: BWRAP, holds: 'node --test' },
  { name: 'unshare of a coder', begins: UNSHARE, holds: 'bridge.mjs' },
  { name: 'bwrap of a coder', begins: BWRAP, holds: 'bridge.mjs' },
  { name: 'unshare of the collector', begins: UNSHARE, holds: 'collect\0candidate' },
  { name: 'bwrap of the collector', begins: BWRAP, holds: 'collect\0candidate' },
];
/** The first process of a sandbox ends as if its command had been killed, which is what the command of a test run is here. */
const AMBIGUOUS: readonly SandboxTarget[] = [
  { name: 'the first process of a test run', begins: BWRAP, holds: 'node --test', inner: true },
  { name: 'the first process of a coder', begins: BWRAP, holds: 'bridge.mjs', inner: true },
  { name: 'the command of a test run', begins: ['sh', '-c'], holds: 'node --test' },
];

/** A push, a fetch and a lock, a test run and a coder. */
const SAMPLE = {
  aims: [git('push', 1, { after: 0.02 }), git('ls-remote', 1), git('fetch', 1), ...LOCKS.slice(0, 1)],
  preys: PREYS.filter(({ name }) => name === 'bwrap of a test run' || name === 'unshare of a coder'),
};

/** Milliseconds that a run takes at most that is killed so often, on a busy machine. */
const PATIENCE_MS = 1_080_000;
const LIMIT_MS = PATIENCE_MS + 60_000;

/** One run that meets all of these kills, and ends as without any. */
async function outlived(aims: readonly KillTarget[], preys: readonly SandboxTarget[]): Promise<void> {
  const paths: TargetedKills[] = [];
  const env = async (home: string) => {
    const aimed = await targetedKillsPath(home, aims);
    paths.push(aimed);
    return { PATH: aimed.PATH };
  };
  await withPreparedChaosEnvironment(
    async (environment) => {
      const app = await environment.start();
      const over = new AbortController();
      const watching = killWhenSeen(app.pid, preys, over.signal);
      const issues = await environment.label(1);
      const ended = await environment.play(app, issues).finally(() => over.abort());
      expect(ended, app.said()).toBe('over');
      expect(await watching).toEqual([]);
      expect(await paths[0]?.missed()).toEqual([]);
      await app.stop();
      await expectNoProblems(environment, issues);
    },
    { env, patienceMs: PATIENCE_MS },
  );
}

describe('a run whose children are killed', { timeout: LIMIT_MS }, () => {
  test('(git and flock on the host, sandboxes of tests and coders) ends as without a kill', async () => {
    tried({
      id: 'child-killed',
      part: 'Child processes are killed',
      what: 'In one run: `git push`, `git ls-remote`, `git fetch`, `flock`, bwrap of a test run, unshare of a coder.',
      held: 'Each is restarted, or its work is repeated; the run ends as without a kill, and no answer is paid twice.',
    });
    await outlived(SAMPLE.aims, SAMPLE.preys);
  });

  test.runIf(ALL_OF_THEM)('one of each kind, all in the same run', async () => {
    tried({
      id: 'child-of-each-kind-killed',
      part: 'Child processes are killed',
      what: 'Seventeen git and flock processes and six sandboxes, in one run.',
      held: 'The run ends as without a kill.',
      only: 'RUNOFF_TEST_CHAOS=all',
    });
    await outlived([...PUSHES, ...OTHERS, ...LOCKS], PREYS);
  });

  test.runIf(ALL_OF_THEM)('the first process of a sandbox, and a command in it', async () => {
    tried({
      id: 'command-of-sandbox-killed',
      part: 'Child processes are killed',
      what: "The first process of a test run's sandbox and of a coder's, and the command of a test run.",
      held: 'The run ends as without a kill, with the same winner.',
      only: 'RUNOFF_TEST_CHAOS=all',
    });
    await outlived([], AMBIGUOUS);
  });

  test
    .runIf(ALL_OF_THEM)
    .each([...PUSHES, ...OTHERS, ...LOCKS].map((aim) => [JSON.stringify(aim), aim] as const))(
    '%s, alone',
    async (_, aim) => {
      await outlived([aim], []);
    },
  );

  test.runIf(ALL_OF_THEM).each([...PREYS, ...AMBIGUOUS].map((prey) => [prey.name, prey] as const))(
    '%s, alone',
    async (_, prey) => {
      await outlived([], [prey]);
    },
  );
});
