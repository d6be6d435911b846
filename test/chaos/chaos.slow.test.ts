import { describe, expect, test } from 'vitest';
import { tried } from '../world/tried.ts';
import type { Death } from './app.ts';
import type { ChaosEnvironment } from './chaos-environment.ts';
import { expectNoProblems } from './expect-no-problems.ts';
import { withPreparedChaosEnvironment } from './prepared-chaos-environment.ts';
import { seededRandom } from './seeded-random.ts';

/** The whole takes half an hour: a few kills are played unless all are asked for. */
const ALL_OF_THEM = process.env.RUNOFF_TEST_CHAOS === 'all';
const SEED = Number(process.env.RUNOFF_TEST_CHAOS_SEED ?? 1);
const SEEDS = Array.from({ length: ALL_OF_THEM ? 10 : 0 }, (_, i) => SEED + i);

/** Kills a process of the database twice while two runs are at work: the App goes on by itself, and they end as without a kill. */
async function outlived(
  environment: ChaosEnvironment,
  seed: number,
  victim: () => Promise<number | null>,
): Promise<void> {
  const { between } = seededRandom(seed);
  const app = await environment.start();
  const issues = await environment.label(2);
  for (const times of [between(5, 60), between(61, 140)]) {
    await app.reaches('', times);
    const pid = await victim();
    if (pid !== null) process.kill(pid, 'SIGKILL');
  }
  expect(await environment.play(app, issues)).toBe('over');
  await app.stop();
  await expectNoProblems(environment, issues);
}

/** Plays these lives one after the other, and one more that nobody cuts off; everything holds then. Resolves with the deaths that came. */
async function livesOf(
  environment: ChaosEnvironment,
  deaths: readonly Death[],
  count: number,
): Promise<readonly Death[]> {
  const died: Death[] = [];
  let issues: readonly number[] | null = null;
  for (const death of [...deaths, undefined]) {
    const app = await environment.start(death);
    issues ??= await environment.label(count);
    if ((await environment.play(app, issues)) === 'over') {
      await app.stop();
      break;
    }
    if (death === undefined) throw new Error(`The App died of its own. It said: ${app.said()}`);
    died.push(death);
  }
  await expectNoProblems(environment, issues ?? []);
  return died;
}

const first = (at: string): Death => ({ at, times: 1 });

/** Where a environment has ended and the next has not begun: before the store knows, and after. */
const BOUNDARIES = ['admitted', 'briefed', 'coded', 'examined', 'judged', 'published'].flatMap((state) => [
  { at: `transition ${state} `, times: 1 },
  { at: `transition ${state} `, times: 2 },
]);

/** What is done outside and not yet on record here, in the order in which a run does it. The pull request is number 2. */
const UNRECORDED = [
  'acceptDelivery done',
  'issues/1/reactions done',
  'issues/1/labels done',
  'labels/auto-dev done',
  'issues/1/comments done',
  'fulfil answer:',
  'intend pull done',
  'tiny/pulls done',
  'issues/2/comments done',
  'check-runs done',
  'issues/comments/1 done',
  'running done',
].map(first);

describe('kill -9 of the App', () => {
  test('when a coder has finished, and when a pull request is open, changes nothing before either is recorded', () =>
    withPreparedChaosEnvironment(async (environment) => {
      tried({
        id: 'app-killed',
        part: 'The App is killed',
        what: 'The App, when a coder has finished and when a pull request is open, before either is recorded.',
        held: 'The run ends as without a kill; the coder starts again, and no answer is paid twice.',
      });
      const deaths = ['putCandidate coded ', 'tiny/pulls done'].map(first);
      expect(await livesOf(environment, deaths, 1)).toEqual(deaths);
    }));

  test.runIf(ALL_OF_THEM)('at both sides of every end of a environment', () =>
    withPreparedChaosEnvironment(async (environment) => {
      tried({
        id: 'app-killed-at-stages',
        part: 'The App is killed',
        what: 'The App, twelve times in one run: just before and just after each change of its state is stored.',
        held: 'The run ends as without a kill.',
        only: 'RUNOFF_TEST_CHAOS=all',
      });
      expect(await livesOf(environment, BOUNDARIES, 1)).toEqual(BOUNDARIES);
    }),
  );

  test.runIf(ALL_OF_THEM)('after each write to GitHub, before it is on record', () =>
    withPreparedChaosEnvironment(async (environment) => {
      tried({
        id: 'app-killed-after-writes',
        part: 'The App is killed',
        what: 'The App, twelve times in one run: after each write to GitHub, before it is recorded.',
        held: 'The run ends as without a kill.',
        only: 'RUNOFF_TEST_CHAOS=all',
      });
      expect(await livesOf(environment, UNRECORDED, 1)).toEqual(UNRECORDED);
    }),
  );

  test.each(SEEDS)('during three runs, at moments of seed %i, changes nothing', (seed) =>
    withPreparedChaosEnvironment(async (environment) => {
      tried({
        id: 'app-killed-anywhere',
        part: 'The App is killed',
        what: 'The App, four times during three active runs, at seeded moments.',
        held: 'The runs end as without a kill.',
        only: 'RUNOFF_TEST_CHAOS=all',
      });
      const { between } = seededRandom(seed);
      const deaths = [1, 2, 3, 4].map(() => ({ at: '', times: between(1, 160), afterMs: between(0, 60) }));
      expect((await livesOf(environment, deaths, 3)).length).toBeGreaterThan(0);
    }),
  );
});

describe.runIf(ALL_OF_THEM)('kill -9 of the embedded database', () => {
  test.each(SEEDS.slice(0, 3))(
    'of one database process, at moments of seed %i, lets the App continue by itself',
    (seed) =>
      withPreparedChaosEnvironment(async (environment) => {
        tried({
          id: 'database-process-killed',
          part: 'The database is killed or unavailable',
          what: 'A process of the embedded server that serves the App, twice during two active runs, at seeded moments.',
          held: 'The App continues by itself, and the runs end as without a kill.',
          only: 'RUNOFF_TEST_CHAOS=all',
        });
        await outlived(environment, seed, async () => {
          const [backend] = await environment.query(
            "select pid from pg_stat_activity where datname = 'runoff' and pid <> pg_backend_pid() order by random() limit 1",
          );
          return backend ? Number(backend.pid) : null;
        });
      }),
  );

  test.each(SEEDS.slice(0, 3))(
    'of the database server, at moments of seed %i, lets the App restart it',
    (seed) =>
      withPreparedChaosEnvironment(async (environment) => {
        tried({
          id: 'database-server-killed',
          part: 'The database is killed or unavailable',
          what: 'The whole embedded server, twice during two active runs, at seeded moments.',
          held: 'The App restarts it and continues by itself, and the runs end as without a kill.',
          only: 'RUNOFF_TEST_CHAOS=all',
        });
        await outlived(environment, seed, () => environment.postmaster());
      }),
  );
});
