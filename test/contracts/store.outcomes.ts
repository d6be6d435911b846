import { describe, expect, test } from 'vitest';
import type { Decision } from '../../src/core/ranking/index.ts';
import type { Store } from '../../src/ports/index.ts';
import { merged, outcome } from '../core/learning/sample.ts';
import { githubOrigin } from '../world/origin.ts';

const NONE: Decision = { kind: 'none', decidedBy: 'gates', because: 'Nobody passed.' };
const FACTS = {
  edited: 0.25,
  revertedAt: 99,
  merged: { number: 12, base: 'main', shas: ['b'.repeat(40)] },
};

/** What became of candidates. */
export function outcomesContract(fresh: () => Promise<Store>): void {
  describe('candidate outcomes', () => {
    const create = (store: Store, id: string, at = 1) =>
      store.createRun({ id, origin: githubOrigin(), title: id, request: null, at });
    /** A run that is over, with a decision. */
    const judged = async (store: Store, id: string, at = 10) => {
      await create(store, id, at);
      for (const state of ['admitted', 'briefed', 'coded', 'examined', 'judged'] as const)
        await store.transition(id, state, 'works', at);
      await store.updateRun(id, { decision: NONE }, at);
      await store.transition(id, 'published', 'over', at);
    };

    test('outcomes are kept by run and candidate, oldest run first, and kept again without doubles', async () => {
      const store = await fresh();
      expect(await store.outcomes({ runs: 9 })).toEqual([]);
      const later = outcome({ runId: 'r1', at: 20 });
      const earlier = [outcome({ runId: 'r2', at: 10 }), outcome({ runId: 'r2', alias: 'B', at: 10 })];
      await store.keepOutcomes('r1', [later], 100);
      await store.keepOutcomes('r2', earlier, 100);
      await store.keepOutcomes('r2', earlier, 101);
      expect(await store.outcomes({ runs: 9 })).toEqual([...earlier, later]);
    });

    test('keeping a run again replaces what was known, but not what was found out about its merge', async () => {
      const store = await fresh();
      const open = outcome({ shown: true, pull: { state: 'open', edited: null, revertedAt: null } });
      await store.keepOutcomes('r1', [open, outcome({ alias: 'B' })], 1);
      await store.keepMerge('r1', FACTS);
      const now = outcome({ shown: true, pick: 'this', ...merged({ edited: null }) });
      await store.keepOutcomes('r1', [now], 2);
      expect(await store.outcomes({ runs: 9 })).toEqual([{ ...now, pull: { state: 'merged', ...FACTS } }]);
    });

    test('merge facts are for runs with a pull request that has outcomes, and change nothing else', async () => {
      const store = await fresh();
      await store.keepMerge('r1', FACTS);
      await store.keepOutcomes('r1', [outcome()], 1);
      await store.keepMerge('r1', FACTS);
      expect(await store.outcomes({ runs: 9 })).toEqual([outcome()]);
    });

    test('a repository has its own, and the newest runs count', async () => {
      const store = await fresh();
      for (const at of [1, 2, 3]) await store.keepOutcomes(`r${at}`, [outcome({ runId: `r${at}`, at })], 9);
      await store.keepOutcomes('x', [outcome({ runId: 'x', at: 4, repository: 'local-/srv/x' })], 9);
      const of = async (options: Parameters<Store['outcomes']>[0]) =>
        (await store.outcomes(options)).map(({ runId }) => runId);
      expect(await of({ repositories: ['github-42'], runs: 2 })).toEqual(['r2', 'r3']);
      expect(await of({ repositories: ['github-4'], runs: 2 })).toEqual([]);
      expect(await of({ repositories: [], runs: 2 })).toEqual([]);
      expect(await of({ repositories: ['local-/srv/x', 'github-42'], runs: 2 })).toEqual(['r3', 'x']);
      expect(await of({ runs: 3 })).toEqual(['r2', 'r3', 'x']);
    });

    test('repositories are listed with each of their names, the newest first', async () => {
      const store = await fresh();
      expect(await store.outcomeRepositories()).toEqual([]);
      const keep = (runId: string, at: number, over: Parameters<typeof outcome>[0] = {}) =>
        store.keepOutcomes(
          runId,
          ['A', 'B'].map((alias) => outcome({ runId, at, alias, ...over })),
          9,
        );
      await keep('r1', 1);
      await keep('r2', 2, { repositoryName: 'acme/store' });
      await keep('r3', 3, { repository: 'github-43' });
      await keep('r4', 4);
      expect(await store.outcomeRepositories()).toEqual([
        { repository: 'github-42', repositoryName: 'acme/shop', at: 4 },
        { repository: 'github-43', repositoryName: 'acme/shop', at: 3 },
        { repository: 'github-42', repositoryName: 'acme/store', at: 2 },
      ]);
    });

    test('merges are found by when their runs changed, as long as the runs exist', async () => {
      const store = await fresh();
      for (const [id, at] of [
        ['r1', 10],
        ['r2', 20],
        ['r3', 30],
      ] as const) {
        await judged(store, id, at);
        const open = { state: 'open' as const, edited: null, revertedAt: null };
        const ending = id === 'r3' ? { pull: open } : merged({ edited: null });
        const shown = outcome({ runId: id, at, shown: true, ...ending });
        await store.keepOutcomes(id, [shown, outcome({ runId: id, at, alias: 'B', ...ending })], 50);
      }
      await store.keepOutcomes('gone', [outcome({ runId: 'gone', shown: true, ...merged() })], 50);
      await store.keepMerge('r2', FACTS);
      const since = async (at: number) =>
        (await store.mergesSince(at)).map(({ runId, alias, pull }) => [runId, alias, pull?.edited]);
      expect(await since(10)).toEqual([
        ['r1', 'A', null],
        ['r2', 'A', 0.25],
      ]);
      expect(await since(11)).toEqual([['r2', 'A', 0.25]]);
      expect(await since(21)).toEqual([]);
    });

    test('names that Postgres rejects are stored', async () => {
      const store = await fresh();
      const odd = outcome({ repository: 'local-/a\0b', repositoryName: '/a\ud800' });
      await store.keepOutcomes('r1', [odd], 1);
      expect(await store.outcomes({ runs: 9 })).toHaveLength(1);
    });

    test('they outlive their run', async () => {
      const store = await fresh();
      await judged(store, 'r1');
      await store.keepOutcomes('r1', [outcome()], 50);
      await store.keepMerge('r1', FACTS);
      expect(await store.expire({ runs: 1_000, ledger: 0, keys: 0 }, false)).toMatchObject({ runs: ['r1'] });
      expect(await store.run('r1')).toBeNull();
      expect(await store.outcomes({ runs: 9 })).toEqual([outcome()]);
    });

    test('a run without outcomes is due once, as when all its candidates were cancelled', async () => {
      const store = await fresh();
      await judged(store, 'r1');
      await store.keepOutcomes('r1', [], 50);
      expect(await store.outcomesDue(9)).toEqual([]);
    });

    test('those of a repository are deleted, and not kept again unless a run changes', async () => {
      const store = await fresh();
      await judged(store, 'r1');
      await store.keepOutcomes('r1', [outcome(), outcome({ alias: 'B' })], 50);
      const other = outcome({ runId: 'r2', repository: 'github-43' });
      await store.keepOutcomes('r2', [other], 50);
      expect(await store.deleteOutcomes('github-4')).toBe(0);
      expect(await store.deleteOutcomes('github-42')).toBe(2);
      expect(await store.outcomes({ runs: 9 })).toEqual([other]);
      expect(await store.outcomesDue(9)).toEqual([]);
      await store.transition('r1', 'merged', 'its pull request was merged', 60);
      expect(await store.outcomesDue(9)).toEqual(['r1']);
    });

    test('a run is due once it is decided and over, until its outcomes are kept, and again when it changes', async () => {
      const store = await fresh();
      await create(store, 'working');
      await judged(store, 'r1');
      await judged(store, 'r2', 20);
      expect(await store.outcomesDue(9)).toEqual(['r2', 'r1']);
      expect(await store.outcomesDue(1)).toEqual(['r2']);
      expect(await store.outcomesDue(1, ['working', 'r1'])).toEqual(['r1']);
      expect(await store.outcomesDue(9, [])).toEqual([]);
      await store.keepOutcomes('r1', [outcome()], 50);
      await store.keepOutcomes('r2', [outcome({ runId: 'r2' })], 50);
      expect(await store.outcomesDue(9)).toEqual([]);
      await store.transition('r1', 'merged', 'its pull request was merged', 60);
      const shown = { aliases: ['A'], first: 'A', votes: {} };
      await store.addPick('r2', { alias: 'A', by: null, at: 70, key: 'cli:1', shown });
      expect((await store.outcomesDue(9)).toSorted()).toEqual(['r1', 'r2']);
      await store.keepOutcomes('r1', [outcome()], 80);
      await store.keepOutcomes('r2', [outcome({ runId: 'r2' })], 80);
      expect(await store.outcomesDue(9)).toEqual([]);
    });
  });
}
