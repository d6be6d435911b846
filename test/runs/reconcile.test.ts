import { describe, expect, test } from 'vitest';
import { ACTIVE_STATES, NO_USAGE } from '../../src/core/model/index.ts';
import type { Workspaces } from '../../src/ports/index.ts';
import { cancelRun, reconcile, sweepEnded } from '../../src/runs/index.ts';
import { endWithFault, publish } from '../../src/runs/publish/index.ts';
import { atWork, type CommandWorld, commandWorld, judgedRun } from '../commands/command-world.ts';
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

describe('candidates of a run whose process was killed', () => {
  /** A run with one candidate in each state that says that somebody works on it. */
  async function withWork() {
    const s = commandWorld();
    await atWork(s);
    const contestant = { agent: 'builtin', model: 'a/b', prompt: 'plain' };
    const rest = { runId: RUN, contestant, usage: NO_USAGE, ms: 0, note: 'edits src/list.ts' };
    for (const [ordinal, state] of (['queued', 'coding', 'examining', 'examined'] as const).entries())
      await s.store.putCandidate({ ...rest, alias: 'ABCD'[ordinal] ?? '', ordinal, state });
    return s;
  }
  const stored = async ({ store }: CommandWorld) => ({
    state: (await store.run(RUN))?.state,
    candidates: (await store.candidates(RUN)).map(({ state, note }) => `${state}: ${note}`),
  });
  const ended = (state: string, note: string) => ({
    state,
    candidates: [
      `cancelled: ${note}`,
      `cancelled: ${note}`,
      'coded: edits src/list.ts',
      'examined: edits src/list.ts',
    ],
  });

  test.each(['candidates', 'transition'] as const)(
    'in the middle of a cancel, before %s, are not at work',
    async (step) => {
      const s = await withWork();
      const killed = () => Promise.reject(new Error('SIGKILL'));
      const store = { ...s.store, [step]: killed };
      await expect(cancelRun({ ...s.world, store }, RUN, 'mona cancelled it')).rejects.toThrow('SIGKILL');
      const status = async () => ({ kind: 'cancelled' }) as const;
      await reconcile({ ...s.world, engine: { ...s.world.engine, status } });
      expect(await stored(s)).toEqual(ended('cancelled', 'cancelled'));
    },
  );

  test('too often are not at work', async () => {
    const s = await withWork();
    const status = async () => ({ kind: 'failed', why: 'It was restarted too often.' }) as const;
    await reconcile({ ...s.world, engine: { ...s.world.engine, status } });
    expect(await stored(s)).toEqual(ended('failed', 'interrupted'));
  });
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
  const of = (id: string) => [`${id}-A`, `call-${id}-A`];
  const areas = [...of(RUN), ...of(active), 'arena-x'];
  expect(await sweptAmong(s, areas, s.now())).toEqual([`${RUN}-A`]);
});

test('areas of a run that is not stored are deleted a day after they were opened', async () => {
  const s = commandWorld();
  const areas = ['r0000000009-x-base', 'call-r0000000009-A'];
  expect(await sweptAmong(s, areas, s.now() - HOUR)).toEqual([]);
  expect(await sweptAmong(s, areas, s.now() - 25 * HOUR)).toEqual(areas);
});

const HOUR = 3_600_000;

/** The areas that a sweep removes of these, which were opened at that time (milliseconds since 1970). */
async function sweptAmong(
  { world, store }: CommandWorld,
  areas: readonly string[],
  openedAt: number,
): Promise<readonly string[]> {
  let removed: readonly string[] = [];
  const workspaces: Workspaces = {
    ...world.workspaces,
    async sweep(keep) {
      removed = areas.filter((id) => !keep(id, openedAt));
      return removed;
    },
  };
  await sweepEnded({ clock: world.clock, store, workspaces });
  return removed;
}
