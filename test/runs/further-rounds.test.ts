import { describe, expect, test } from 'vitest';
import type { Alias } from '../../src/core/model/index.ts';
import { requestStop } from '../../src/runs/code/index.ts';
import { found, type Told } from '../core/ranking/round-facts.ts';
import { memoryEngine, newJournal } from '../world/memory-engine.ts';
import { codingWorld, type Doing, flowsOf, played, RUN, type Script } from './coding-world.ts';

const evidence = (told: Readonly<Record<Alias, Told>>) => (alias: Alias) => found(alias, told[alias]);
const TWO = { candidates: 2 };
const hangs: Doing = ({ signal }) =>
  new Promise((settle) => signal?.addEventListener('abort', () => settle('stopped')));
/** Until the process dies. */
const forEver: Doing = () => new Promise(() => {});

async function playedOut(script: Script) {
  const stage = await codingWorld(script);
  await played(memoryEngine(), flowsOf(stage.world, script));
  const candidates = await stage.world.store.candidates(RUN);
  return { ...stage, candidates, one: (alias: Alias) => candidates.find((c) => c.alias === alias) };
}

describe('a repair', () => {
  const script: Script = {
    settings: TWO,
    found: evidence({ A: { breaks: ['csv > trims'], peers: { B: ['secret of B'] } }, B: { lost: 'builds' } }),
  };

  test('continues from its own patch, and learns what failed, but nothing of the others', async () => {
    const { candidates, applied, prompts, one } = await playedOut(script);
    expect(candidates.map((c) => [c.alias, c.contestant.round?.kind, c.note])).toEqual([
      ['A', undefined, 'done'],
      ['B', undefined, 'done'],
      ['C', 'repair', 'repair of A: done'],
      ['D', 'repair', 'repair of B: done'],
    ]);
    expect(applied.get('C')).toBe('patch of A');
    expect(one('C')?.contestant).toEqual({ ...one('A')?.contestant, round: { kind: 'repair', of: ['A'] } });
    expect(one('C')?.ordinal).toBe(2);
    const prompt = prompts.get('C') ?? '';
    expect(prompt).toContain('<<<FOUND c0ffee\nTests that pass on the base commit');
    expect(prompt).toContain('- csv > trims');
    expect(prompt).toContain('<<<PATCH c0ffee\npatch of A\nPATCH c0ffee>>>');
    expect(prompt).not.toMatch(/secret of B|patch of B/);
    expect(prompts.get('D')).toContain('Gate builds: builds said no.');
    expect(prompts.get('A')).not.toContain('second turn');
  });

  test('that does not change its patch is not examined again', async () => {
    const { one } = await playedOut({ ...script, tree: (alias) => (alias === 'C' ? 'tree of A' : alias) });
    expect(one('C')?.patch).toBeDefined();
    const same = await playedOut({ ...script, tree: (alias) => (alias === 'C' ? 'A' : alias) });
    expect(same.one('C')).toMatchObject({ state: 'failed', note: 'repair of A: did not change its patch' });
    expect(same.one('C')).not.toHaveProperty('patch');
  });

  test('whose patch cannot be applied again costs nothing', async () => {
    const stage = await codingWorld(script);
    const { exec } = stage.world.sandbox;
    const refusing = {
      ...stage.world,
      sandbox: {
        ...stage.world.sandbox,
        exec: async (spec: Parameters<typeof exec>[0]) =>
          spec.argv[0] === 'git'
            ? { ...(await exec(spec)), exitCode: 1, stderr: 'no such line' }
            : exec(spec),
      },
    };
    await played(memoryEngine(), flowsOf(refusing, script));
    const repaired = (await stage.world.store.candidates(RUN)).find(({ alias }) => alias === 'C');
    expect(repaired).toMatchObject({
      state: 'failed',
      note: 'repair of A: its own patch could not be applied again: no such line',
    });
    expect(stage.starts).not.toContain('C');
  });

  test('does not start if the budget is used up or unknown', async () => {
    const names = async (more: Partial<Script>) =>
      (await playedOut({ ...script, ...more })).candidates.map(({ alias }) => alias);
    expect(await names({ settings: { ...TWO, budget: { run: 0.3 } } })).toEqual(['A', 'B', 'C']);
    expect(await names({ settings: { ...TWO, budget: { run: 0.25 } } })).toEqual(['A', 'B']);
    expect(await names({ unpriced: true, settings: { ...TWO, budget: { tokens: 1_000 } } })).toEqual([
      'A',
      'B',
    ]);
    expect(await names({ settings: { ...TWO, adaptive: { repair: false, oneMore: false } } })).toEqual([
      'A',
      'B',
    ]);
  });
});

test('a round that is not examined is not requested again', async () => {
  const stage = await codingWorld({ settings: TWO, found });
  const { store } = stage.world;
  const told = evidence({ A: { breaks: ['x'] }, B: { breaks: ['x'] } });
  const forgetful = {
    ...stage.world,
    store: {
      ...store,
      updateRun: (...[id, patch, at]: Parameters<typeof store.updateRun>) =>
        store.updateRun(
          id,
          typeof patch === 'function' ? patch : { ...patch, evidence: (patch.evidence ?? []).slice(0, 2) },
          at,
        ),
    },
  };
  await played(memoryEngine(), flowsOf(forgetful, { found: told }));
  expect([...stage.starts].sort()).toEqual(['A', 'B', 'C', 'D']);
});

test('a further contestant is the next in turn, and gets only the task', async () => {
  const { one, prompts, applied } = await playedOut({
    settings: { ...TWO, adaptive: { repair: false } },
    found: evidence({ A: { breaks: ['x'] }, B: { breaks: ['y'] } }),
  });
  expect(one('C')).toMatchObject({
    note: 'one more: done',
    contestant: { seed: 2, round: { kind: 'one-more' } },
  });
  expect(prompts.get('C')).toContain('independent attempt 3');
  expect(applied.size).toBe(0);
});

test('a further contestant is the next in the settings', async () => {
  const coders = ['one', 'two', 'three'].map((name) => ({ agent: 'builtin', model: `anthropic/${name}` }));
  const { candidates, one } = await playedOut({
    settings: { ...TWO, coders, adaptive: { repair: false } },
    found: evidence({ A: { lost: 'builds' }, B: { lost: 'untampered' } }),
  });
  expect(candidates).toHaveLength(3);
  expect(one('C')).toMatchObject({ ordinal: 2, contestant: { model: 'anthropic/three' }, state: 'coded' });
});

test('a further contestant follows failed repairs, and then the rounds end', async () => {
  const { candidates, world } = await playedOut({
    settings: TWO,
    found: evidence({
      A: { lost: 'builds' },
      B: { lost: 'untampered' },
      C: { lost: 'builds' },
      D: { breaks: ['x'] },
      E: { breaks: ['y'] },
    }),
  });
  expect(candidates.map(({ contestant }) => contestant.round?.kind)).toEqual([
    undefined,
    undefined,
    'repair',
    'repair',
    'one-more',
  ]);
  const run = await world.store.run(RUN);
  expect(run?.evidence?.map(({ alias }) => alias)).toEqual(['A', 'B', 'C', 'D', 'E']);
});

test('a synthesis starts on the base, with both patches as data and without their names', async () => {
  const { one, prompts, applied, candidates, world } = await playedOut({
    settings: { ...TWO, synthesis: true },
    found: evidence({ A: { neutral: ['n'] }, B: { neutral: ['m'] } }),
  });
  expect(candidates).toHaveLength(3);
  expect(one('C')?.note).toBe('merged from A and B: done');
  expect(applied.size).toBe(0);
  expect(prompts.get('C')).toContain('<<<PATCH 1 c0ffee\npatch of A\nPATCH 1 c0ffee>>>');
  expect(prompts.get('C')).toContain('<<<PATCH 2 c0ffee\npatch of B\nPATCH 2 c0ffee>>>');
  expect(prompts.get('C')).not.toMatch(/claude|candidate/i);
  // It is examined like any other.
  const run = await world.store.run(RUN);
  expect(run?.evidence?.map(({ alias }) => alias)).toEqual(['A', 'B', 'C']);
});

describe('killed in a further round', () => {
  const told = evidence({ A: { breaks: ['x'] }, B: { breaks: ['x', 'y'] } });

  test('during a repair, no finished coder is paid again', async () => {
    const journal = newJournal();
    const coders: Record<Alias, Doing> = { D: forEver };
    const script: Script = { settings: TWO, coders, found: told };
    const { world, starts } = await codingWorld(script);
    const first = memoryEngine({ journal });
    await first.launch(flowsOf(world, script));
    await first.start(RUN, {});
    await expect.poll(() => [...starts].sort()).toEqual(['A', 'B', 'C', 'D']);
    await expect
      .poll(async () => (await world.store.candidates(RUN)).find((c) => c.alias === 'C')?.state)
      .toBe('coded');
    await first.shutdown(20);

    delete coders.D;
    await played(memoryEngine({ journal }), flowsOf(world, script));
    expect([...starts].sort()).toEqual(['A', 'B', 'C', 'D', 'D']);
    expect((await world.store.candidates(RUN)).map(({ state }) => state)).toEqual(Array(4).fill('coded'));
  });

  test('while its candidates are queued, the same ones are queued again', async () => {
    const journal = newJournal();
    const script: Script = { settings: TWO, found: told };
    const { world, starts } = await codingWorld(script);
    const dying = {
      ...world,
      store: {
        ...world.store,
        putCandidate: (candidate: Parameters<typeof world.store.putCandidate>[0]) =>
          candidate.alias === 'D' ? new Promise<void>(() => {}) : world.store.putCandidate(candidate),
      },
    };
    const first = memoryEngine({ journal });
    await first.launch(flowsOf(dying, script));
    await first.start(RUN, {});
    await expect
      .poll(async () => (await world.store.candidates(RUN)).map(({ alias }) => alias))
      .toContain('C');
    await first.shutdown(20);

    await played(memoryEngine({ journal }), flowsOf(world, script));
    const candidates = await world.store.candidates(RUN);
    expect(candidates.map(({ alias, contestant }) => [alias, contestant.round?.of])).toEqual([
      ['A', undefined],
      ['B', undefined],
      ['C', ['A']],
      ['D', ['B']],
    ]);
    expect([...starts].sort()).toEqual(['A', 'B', 'C', 'D']);
  });
});

describe('stopped early', () => {
  const settings = { candidates: 4, adaptive: { stopEarly: true, repair: false, oneMore: false } };
  const because = 'stopped early: A and B passed and agree';

  test('an active coder ends, a queued one never starts, and the cost is kept', async () => {
    const journal = newJournal();
    const script: Script = { settings, coders: { A: hangs, B: hangs, C: hangs, D: hangs }, found: found };
    const { world, starts } = await codingWorld(script);
    await played(
      memoryEngine({ journal, concurrency: 3 }),
      flowsOf(world, script, async (_, over) => {
        await expect.poll(() => starts.length).toBe(3);
        await requestStop(world.store, RUN, because);
        await expect.poll(() => over.aborted).toBe(true);
        return 0;
      }),
    );
    const candidates = await world.store.candidates(RUN);
    expect(starts).toHaveLength(3);
    expect(candidates.map(({ state, note }) => [state, note])).toEqual(Array(4).fill(['cancelled', because]));
    const spent = candidates.map(({ usage }) => usage.usd).sort();
    expect(spent).toEqual([0, 0.1, 0.1, 0.1]);
  });

  test('the coders stay stopped after a restart', async () => {
    const journal = newJournal();
    const script: Script = {
      settings,
      coders: { A: forEver, B: forEver, C: forEver, D: forEver },
      found: found,
    };
    const { world, starts } = await codingWorld(script);
    const first = memoryEngine({ journal, concurrency: 4 });
    await first.launch(flowsOf(world, script));
    await first.start(RUN, {});
    await expect.poll(() => starts.length).toBe(4);
    await requestStop(world.store, RUN, because);
    await first.shutdown(20);

    await played(memoryEngine({ journal }), flowsOf(world, script));
    expect(starts).toHaveLength(4);
    expect((await world.store.candidates(RUN)).map(({ note }) => note)).toEqual(Array(4).fill(because));
  });

  test('finishers are watched beside other coders only', async () => {
    let watched = 0;
    const script: Script = { settings: TWO, found };
    for (const wish of [TWO, { candidates: 1 }]) {
      const { world } = await codingWorld({ ...script, settings: wish });
      await played(
        memoryEngine(),
        flowsOf(world, script, async () => {
          watched += 1;
          return 0;
        }),
      );
    }
    expect(watched).toBe(1);
  });
});
