import { expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import type { ActivityStep } from '../../src/core/reports/index.ts';
import type { Store } from '../../src/ports/index.ts';
import { recordActivity } from '../../src/runs/activity.ts';
import { memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { silent } from '../world/silent-log.ts';
import { quietAnnouncer } from '../world/stand-ins.ts';

const probes = (done: number): ActivityStep => ({ name: 'probes', done, of: 9, leftMs: 1_000 });

async function openRun(
  updateRun?: (store: Store, ...given: Parameters<Store['updateRun']>) => Promise<void>,
) {
  const store = memoryStore();
  await store.createRun({ id: 'r1', origin: githubOrigin({ issue: 7 }), title: 'Fix', request: null, at: 1 });
  await store.updateRun('r1', { checks: { test: 'npm test', step: { name: 'review', since: 1 } } }, 1);
  const run = await store.run('r1');
  if (!run) throw new Error('The run was just made.');
  const inFront = updateRun ? { ...store, updateRun: updateRun.bind(null, store) } : store;
  const clock = { now: () => 5, elapsed: () => 0, sleep: async () => {} };
  const world = { announcer: quietAnnouncer, clock, log: silent, store: inFront };
  return { run, world, shown: async () => (await store.run('r1'))?.checks };
}

test('shows the latest step beside the commands of the run, and hands these back without it', async () => {
  const { run, world, shown } = await openRun();
  const { result, checks } = await recordActivity(world, run, async (onStep) => {
    onStep({ name: 'build', command: 'make' });
    await new Promise((settle) => setImmediate(settle));
    expect(await shown()).toEqual({
      test: 'npm test',
      step: { name: 'build', command: 'make', since: 5 },
    });
    return 'built';
  });
  expect([result, checks]).toEqual(['built', { test: 'npm test' }]);
});

test('a slow database gets the latest of the steps that wait for it, and none after the end', async () => {
  const written: unknown[] = [];
  let answer = Promise.withResolvers<void>();
  const { run, world } = await openRun(async (_store, _id, patch) => {
    if ('checks' in patch) written.push(patch.checks?.step);
    await answer.promise;
  });
  await recordActivity(world, run, async (onStep) => {
    for (const done of [0, 1, 2, 3]) onStep(probes(done));
    const first = answer;
    answer = Promise.withResolvers();
    first.resolve();
    await new Promise((settle) => setImmediate(settle));
    onStep(probes(4));
    answer.resolve();
  });
  expect(written).toMatchObject([{ done: 0 }, { done: 3 }]);
});

test('a step that cannot be stored does not stop the work, nor hide how it failed', async () => {
  const { run, world } = await openRun(() =>
    Promise.reject(new Fault('DATABASE_UNAVAILABLE', 'It is away.')),
  );
  const done = await recordActivity(world, run, async (onStep) => {
    onStep(probes(0));
    return 'done';
  });
  expect(done.result).toBe('done');
  const failed = recordActivity(world, run, async (onStep) => {
    onStep(probes(0));
    throw new Error('The build failed.');
  });
  await expect(failed).rejects.toThrow('The build failed.');
});
