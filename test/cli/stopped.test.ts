import { expect, test } from 'vitest';
import { memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { shellOver } from './shell.ts';

const RUN = 'r0000000001';
const OF_THE_APP = 'r0000000002';

/** A run that has coded, and whose process is there or not. */
async function shell(isThere: boolean) {
  const store = memoryStore();
  const asked: string[] = [];
  const local = { kind: 'local', path: '/home/ada/tally' } as const;
  await store.createRun({ id: OF_THE_APP, origin: githubOrigin(), title: 'y', request: {}, at: 0 });
  await store.createRun({ id: RUN, origin: local, title: 'x', request: {}, at: 1 });
  for (const state of ['admitted', 'briefed', 'coded'] as const)
    await store.transition(RUN, state, 'test', 2);
  const engine = {
    async activeExecutors(executors: readonly string[]) {
      asked.push(...executors);
      return new Set(isThere ? executors : []);
    },
    async launch() {},
  };
  const clock = { now: () => 9, elapsed: () => 9 };
  const over = { newRunId: () => 'r0000000003' };
  return { ...shellOver({ store, clock, engine, examinations: 1 }, over), asked, store };
}

test('the status of a run whose process was stopped says so, and how it goes on', async () => {
  const { type, out, asked } = await shell(false);
  expect(await type('status', RUN)).toBe(0);
  expect(out()).toMatch(
    /\n\nNo process is working on this run: its process was stopped or has crashed\. Finished stages and patches are kept\.\nNext: `runoff resume r0000000001` continues the run, `runoff cancel r0000000001` cancels it\.\n$/,
  );
  expect(asked).toEqual([`cli-${RUN}`]);
});

test.each([
  [
    'a result that is about to be shown',
    { kind: 'branches', branches: { A: 'runoff/A' } },
    'coded',
    'could not be cancelled: its result is already stored. To see it, run `runoff show r0000000001`.',
  ],
  [
    'an open pull request',
    {
      kind: 'pull',
      number: 11,
      url: 'https://github.test/acme/lists/pull/11',
      branch: 'auto-dev/7/A',
      headSha: '1',
      branches: {},
      comparisonUrl: '',
    },
    'coded',
    'could not be cancelled. Its draft pull request #11 is open. If you do not want it, close it.',
  ],
  ['an ended run', undefined, 'failed', 'had already ended.'],
] as const)('a cancel of %s says why nothing was cancelled', async (_, outcome, state, why) => {
  const { type, out, store } = await shell(true);
  if (outcome) await store.updateRun(RUN, { outcome }, 3);
  await store.transition(RUN, state, 'test', 3);
  expect(await type('cancel', RUN)).toBe(0);
  expect(out()).toBe(`Run ${RUN} ${why}\n`);
});

test('a run that a process works on is not called stopped', async () => {
  const { type, out } = await shell(true);
  await type('status', RUN);
  await type('runs');
  expect(out()).not.toContain('stopped');
});

test('the list and the JSON tell the same; runs of the App have no process of their own', async () => {
  const listed = await shell(false);
  await listed.type('runs');
  expect(listed.out()).toMatch(/^r0000000001 {2}1970-01-01 00:00 UTC {2}coded, stopped .* x\n/m);
  expect(listed.out()).toMatch(/r0000000002 .* queued {2,}acme/);
  const asJson = await shell(false);
  await asJson.type('status', RUN, '--json');
  expect(JSON.parse(asJson.out())).toMatchObject({ stopped: true, run: { state: 'coded' } });
  const listedAsJson = await shell(false);
  await listedAsJson.type('runs', '--json');
  const runs = JSON.parse(listedAsJson.out()) as { run: { id: string }; stopped: boolean }[];
  expect(runs.map(({ run, stopped }) => [run.id, stopped])).toEqual([
    [RUN, true],
    [OF_THE_APP, false],
  ]);
  const ofTheApp = await shell(false);
  await ofTheApp.type('status', OF_THE_APP, '--json');
  expect(JSON.parse(ofTheApp.out())).toMatchObject({ stopped: false });
});

test('without any run, status and runs say how to start one', async () => {
  const { type, out, err } = shellOver({
    store: memoryStore(),
    engine: { activeExecutors: async () => new Set() },
  });
  expect(await type('runs')).toBe(0);
  expect(await type('status')).toBe(2);
  expect([out(), err()]).toEqual(Array(2).fill('No runs yet. Start one: runoff run "Fix the …"\n'));
});
