import { describe, expect, test } from 'vitest';
import type { Alias } from '../../src/core/model/index.ts';
import { found, type Told } from '../core/ranking/round-facts.ts';
import { fixing } from '../core/ranking/sample.ts';
import { memoryEngine, newJournal } from '../world/memory-engine.ts';
import { codingWorld, type Doing, flowsOf, played, RUN, type Script } from './coding-world.ts';

const THREE = {
  candidates: 3,
  coders: ['one', 'two', 'three'].map((name) => ({ agent: 'builtin', model: `anthropic/${name}` })),
  adaptive: { field: 'sequential', repair: false, oneMore: false },
};
const DIMES = [0.1, 0.1, 0.1];
const failing: Told = { lost: 'builds' };
const red = (alias: Alias) => fixing(found(alias), 1);

async function playedOut(script: Partial<Script> & Pick<Script, 'found'>) {
  const whole: Script = { settings: THREE, expectedUsd: DIMES, ...script };
  const stage = await codingWorld(whole);
  await played(memoryEngine(), flowsOf(stage.world, whole));
  const candidates = await stage.world.store.candidates(RUN);
  const run = await stage.world.store.run(RUN);
  return { ...stage, candidates, run, fieldEnd: run?.fieldEnd };
}

const names = (candidates: Awaited<ReturnType<typeof playedOut>>['candidates']) =>
  candidates.toSorted((a, b) => a.ordinal - b.ordinal).map(({ contestant }) => contestant.model);

describe('a sequential field', () => {
  test('ends with the first contestant if it turns a failing test green', async () => {
    const { candidates, fieldEnd, starts } = await playedOut({ found: red });
    expect(starts).toEqual(['A']);
    expect(names(candidates)).toEqual(['anthropic/one']);
    expect(fieldEnd).toEqual({
      started: 1,
      of: 3,
      because: 'A is clearly right: tests that its own model family did not write show it.',
      savedUsd: expect.closeTo(0.2),
    });
  });

  test('goes on with one at a time, in order, and stops when one is clearly right', async () => {
    const { candidates, fieldEnd } = await playedOut({
      found: (alias) => (alias === 'B' ? red(alias) : found(alias, failing)),
    });
    expect(names(candidates)).toEqual(['anthropic/one', 'anthropic/two']);
    expect(
      candidates.map(({ alias, ordinal, note, contestant }) => [alias, ordinal, note, contestant.round]),
    ).toEqual([
      ['A', 0, 'done', undefined],
      ['B', 1, 'done', undefined],
    ]);
    expect(fieldEnd).toMatchObject({ started: 2, of: 3 });
  });

  test('uses all contestants if nothing decides', async () => {
    const { starts, fieldEnd } = await playedOut({ found: (alias) => found(alias, failing) });
    expect(starts).toEqual(['A', 'B', 'C']);
    expect(fieldEnd).toEqual({ started: 3, of: 3, because: 'All contestants have run.', savedUsd: 0 });
  });

  test('repairs only when all contestants have failed, and adds another one after that', async () => {
    const adaptive = { field: 'sequential', repair: true, oneMore: true };
    const { candidates } = await playedOut({
      settings: { ...THREE, adaptive },
      found: (alias) => found(alias, { breaks: [`only ${alias}`] }),
    });
    expect(candidates.map(({ contestant }) => contestant.round?.kind ?? contestant.model)).toEqual([
      'anthropic/one',
      'anthropic/two',
      'anthropic/three',
      'repair',
      'repair',
      'one-more',
    ]);
  });

  test('stops where the budget is too small for another contestant, and says so', async () => {
    const { starts, fieldEnd } = await playedOut({
      settings: { ...THREE, budget: { run: 0.25 } },
      found: (alias) => found(alias, failing),
    });
    expect(starts).toEqual(['A', 'B']);
    expect(fieldEnd?.because).toBe('The remaining budget is too small for another contestant.');
  });

  test('starts contestants in the order that was drawn for it', async () => {
    const { candidates } = await playedOut({ order: [2, 0, 1], found: (alias) => found(alias, failing) });
    expect(names(candidates)).toEqual(['anthropic/three', 'anthropic/one', 'anthropic/two']);
  });

  test('does not go on once it has ended, whatever a repair changes', async () => {
    const adaptive = { field: 'sequential', repair: true, oneMore: false };
    const { candidates, fieldEnd } = await playedOut({
      settings: { ...THREE, adaptive, budget: { run: 0.45 } },
      expectedUsd: [0.1, 0.1, 0.3],
      found: (alias) => found(alias, { breaks: [`only ${alias}`] }),
    });
    expect(candidates.map(({ contestant }) => contestant.round?.kind ?? contestant.model)).toEqual([
      'anthropic/one',
      'anthropic/two',
      'repair',
      'repair',
    ]);
    expect(fieldEnd).toMatchObject({ started: 2, of: 3 });
  });

  test.each([
    ['24h', ['A'], 'The remaining time of the run is too short for another contestant.'],
    ['22h', ['A', 'B', 'C'], 'All contestants have run.'],
  ])(
    'in a run of a day, of which examinations take an hour, coders with a limit of %s: %j',
    async (limit, aliases, because) => {
      const { starts, fieldEnd } = await playedOut({
        settings: { ...THREE, timeout: { candidate: limit, extendWhileProgressing: false } },
        found: (alias) => found(alias, failing),
      });
      expect(starts).toEqual(aliases);
      expect(fieldEnd).toMatchObject({ started: aliases.length, because });
    },
  );

  test('nobody repairs either what there is no time to examine', async () => {
    const adaptive = { field: 'sequential', repair: true, oneMore: true };
    const { starts } = await playedOut({
      settings: { ...THREE, adaptive, timeout: { candidate: '24h' } },
      found: (alias) => found(alias, { breaks: [`only ${alias}`] }),
    });
    expect(starts).toEqual(['A']);
  });

  test('goes on without a price where nothing decides', async () => {
    const { starts } = await playedOut({
      settings: { ...THREE, budget: { tokens: 1_000 } },
      expectedUsd: [null, null, null],
      unpriced: true,
      found: (alias) => found(alias, failing),
    });
    expect(starts).toEqual(['A', 'B', 'C']);
  });

  test('tells the next contestant nothing about the one before', async () => {
    const { prompts, applied } = await playedOut({ found: (alias) => found(alias, failing) });
    expect(prompts.get('B')).not.toMatch(/patch of A|second turn|builds said no/);
    expect(applied.size).toBe(0);
  });
});

describe('killed between the contestants of a sequential field', () => {
  const script: Script = {
    settings: THREE,
    expectedUsd: DIMES,
    found: (alias) => (alias === 'B' ? red(alias) : found(alias, failing)),
  };

  test('while the second one is queued, the same one is queued again, and nobody is paid twice', async () => {
    const journal = newJournal();
    const { world, starts } = await codingWorld(script);
    const dying = {
      ...world,
      store: {
        ...world.store,
        putCandidate: (candidate: Parameters<typeof world.store.putCandidate>[0]) =>
          candidate.alias === 'B' ? new Promise<void>(() => {}) : world.store.putCandidate(candidate),
      },
    };
    const first = memoryEngine({ journal });
    await first.launch(flowsOf(dying, script));
    await first.start(RUN, {});
    await expect.poll(async () => (await world.store.run(RUN))?.state).toBe('briefed');
    await expect.poll(() => starts).toEqual(['A']);
    await first.shutdown(20);

    await played(memoryEngine({ journal }), flowsOf(world, script));
    expect(starts).toEqual(['A', 'B']);
    expect((await world.store.usage(RUN)).usd).toBeCloseTo(0.2);
    expect((await world.store.run(RUN))?.fieldEnd).toMatchObject({ started: 2, of: 3 });
  });

  test('while the second one works, only that one starts again', async () => {
    const journal = newJournal();
    const coders: Record<Alias, Doing> = { B: () => new Promise(() => {}) };
    const hanging = { ...script, coders };
    const { world, starts } = await codingWorld(hanging);
    const first = memoryEngine({ journal });
    await first.launch(flowsOf(world, hanging));
    await first.start(RUN, {});
    await expect.poll(() => starts).toEqual(['A', 'B']);
    await first.shutdown(20);

    delete coders.B;
    await played(memoryEngine({ journal }), flowsOf(world, hanging));
    expect(starts).toEqual(['A', 'B', 'B']);
    expect((await world.store.candidates(RUN)).map(({ state }) => state)).toEqual(['coded', 'coded']);
  });
});
