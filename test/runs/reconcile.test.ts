import { expect, test } from 'vitest';
import { ACTIVE_STATES } from '../../src/core/model/index.ts';
import { cancelRun, reconcile, sweepEnded } from '../../src/runs/index.ts';
import { endWithFault, publish } from '../../src/runs/publish/index.ts';
import { atWork, commandWorld, judgedRun } from '../commands/command-world.ts';
import { RUN } from '../commands/dialogue-world.ts';
import { contextOf } from '../world/run-context.ts';

test('a run that is published while reconcile waits for GitHub is not interrupted', async () => {
  const s = commandWorld();
  await judgedRun(s, 'pull');
  const before = await s.store.runsIn(ACTIVE_STATES);
  await publish(s.world, await contextOf(s.world, RUN));
  const status = async () => ({ kind: 'done', value: 'published' }) as const;
  const store = { ...s.store, runsIn: async () => before };
  await reconcile({ ...s.world, store, engine: { ...s.world.engine, status } });
  const run = await s.store.run(RUN);
  expect([run?.state, run?.trouble]).toEqual(['published', undefined]);
});

test('a run whose flow ended without it is interrupted', async () => {
  const s = commandWorld();
  await atWork(s);
  const status = async () => ({ kind: 'failed', why: 'It was restarted too often.' }) as const;
  await reconcile({ ...s.world, engine: { ...s.world.engine, status } });
  const run = await s.store.run(RUN);
  expect([run?.state, run?.trouble?.message]).toEqual([
    'failed',
    'The run was interrupted: It was restarted too often.',
  ]);
});

test('a fault after a cancel is no trouble of the cancelled run', async () => {
  const s = commandWorld();
  await atWork(s);
  await cancelRun(s.world, RUN, 'mona cancelled it');
  await endWithFault(s.world, RUN, { code: 'INTERNAL', message: 'Its coders are gone.' });
  const run = await s.store.run(RUN);
  expect([run?.state, run?.trouble]).toEqual(['cancelled', undefined]);
});

test('areas of an ended run are deleted, but not those of commands to it', async () => {
  const s = commandWorld();
  await atWork(s);
  await s.store.transition(RUN, 'failed', 'test', s.now());
  const active = await atWork(s, { id: 'r0000000008' });
  const gone = 'r0000000009';
  let areas = [RUN, active, gone].flatMap((id) => [`${id}-A`, `call-${id}-A`]).concat('arena-x');
  const workspaces = {
    ...s.world.workspaces,
    async sweep(keep: (id: string) => boolean) {
      const removed = areas.filter((id) => !keep(id));
      areas = areas.filter(keep);
      return removed;
    },
  };
  await sweepEnded({ store: s.store, workspaces });
  expect(areas).toEqual([`call-${RUN}-A`, `${active}-A`, `call-${active}-A`, 'arena-x']);
});
