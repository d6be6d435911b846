import { describe, expect, test } from 'vitest';
import { type RunFilter, rejectedPickKey, type Store } from '../../src/ports/index.ts';
import { rejectPick } from '../../src/runs/picks.ts';
import { bookRow, ledgerRow } from '../world/ledger.ts';
import { githubOrigin } from '../world/origin.ts';

const APPROVAL = { kind: 'approval', number: 1, askedAt: 50, until: 60 } as const;

/** What pages ask: lists of runs, and sessions of people. */
export function pagesContract(fresh: () => Promise<Store>): void {
  describe('lists of runs', () => {
    const create = (store: Store, id: string, at: number, over: Parameters<typeof githubOrigin>[0] = {}) =>
      store.createRun({ id, origin: githubOrigin(over), title: `Fix 100% of ${id}`, request: null, at });
    const ids = async (store: Store, filter: Partial<RunFilter>) =>
      (await store.listRuns({ of: [42, 43], limit: 9, ...filter })).map(({ id }) => id);

    test('have the newest first, of the given repositories only, and go on after a run', async () => {
      const store = await fresh();
      await create(store, 'r1', 10);
      await create(store, 'r2', 20, { repositoryId: 43, name: 'lists' });
      await create(store, 'r3', 20);
      await store.createRun({
        id: 'r4',
        origin: { kind: 'local', path: '/a' },
        title: 'x',
        request: null,
        at: 9,
      });
      expect(await ids(store, {})).toEqual(['r3', 'r2', 'r1']);
      expect(await ids(store, { of: [42] })).toEqual(['r3', 'r1']);
      expect(await ids(store, { of: [] })).toEqual([]);
      expect(await ids(store, { of: 'local' })).toEqual(['r4']);
      expect(await ids(store, { limit: 1, after: { createdAt: 20, id: 'r3' } })).toEqual(['r2']);
      expect(await ids(store, { after: { createdAt: 20, id: 'r2' } })).toEqual(['r1']);
      expect((await store.repositoriesWithRuns()).map(({ name }) => name).toSorted()).toEqual([
        'lists',
        'shop',
      ]);
      expect(await store.originOf('r2')).toMatchObject({ repositoryId: 43 });
      expect(await store.originOf('r9')).toBeNull();
    });

    test('are filtered by state, person and title, in which no character has a special meaning', async () => {
      const store = await fresh();
      await create(store, 'r1', 10);
      await create(store, 'r2', 20, { requestedBy: { id: 8, login: 'Ada' } });
      await store.transition('r2', 'admitted', 'label', 21);
      expect(await ids(store, { states: ['admitted', 'briefed'] })).toEqual(['r2']);
      expect(await ids(store, { by: 'aDA' })).toEqual(['r2']);
      expect(await ids(store, { text: '100% OF R1' })).toEqual(['r1']);
      expect(await ids(store, { text: '1_0%' })).toEqual([]);
      expect(await ids(store, { text: '%' })).toEqual(['r2', 'r1']);
    });

    test('find nothing for text that no database can hold', async () => {
      const store = await fresh();
      await create(store, 'r1', 10);
      for (const text of ['\0', 'Fix\0', '\ud800']) {
        expect(await ids(store, { text })).toEqual([]);
        expect(await ids(store, { by: text })).toEqual([]);
        expect(await store.originOf(`r1${text}`)).toBeNull();
      }
    });

    test('tell the times of stages, of runs of one kind in which nobody was asked anything', async () => {
      const store = await fresh();
      const timed = async (id: string, at: number, over: Parameters<typeof githubOrigin>[0] = {}) => {
        await create(store, id, at, over);
        for (const stage of ['brief', 'admit'] as const) await store.markStage(id, stage, 'start', at);
        await store.markStage(id, 'admit', 'end', at + 1);
      };
      await timed('r1', 10);
      await timed('r2', 20);
      await timed('r3', 30, { work: 'fix' });
      await timed('r4', 40, { repositoryId: 43 });
      await timed('r5', 50);
      await store.updateRun('r5', { dialogue: { inquiries: [APPROVAL], lastReply: 0, repliesUsed: 0 } }, 51);
      await timed('r6', 60);
      await store.transition('r6', 'cancelled', 'test', 61);
      const filter = { repositoryId: 42, states: ['queued'], limit: 9 } as const;
      const stages = (at: number) => [
        { stage: 'admit', startedAt: at, endedAt: at + 1 },
        { stage: 'brief', startedAt: at },
      ];
      expect(await store.stagesOf(filter)).toEqual([stages(20), stages(10)]);
      expect(await store.stagesOf({ ...filter, limit: 1 })).toEqual([stages(20)]);
      expect(await store.stagesOf({ ...filter, work: 'fix' })).toEqual([stages(30)]);
      expect(await store.stagesOf({ ...filter, repositoryId: 44 })).toEqual([]);
    });

    test('tell the pick that counts: not one that GitHub refused later', async () => {
      const store = await fresh();
      await create(store, 'r1', 10);
      const shown = { aliases: ['A', 'B'], first: 'A', votes: {} };
      const by = { id: 5, login: 'mona' };
      const picked = async () => (await store.listRuns({ of: [42], limit: 9 }))[0]?.pick?.alias;
      await store.addPick('r1', { alias: 'A', by, at: 11, key: 'a', shown });
      await store.addPick('r1', { alias: 'B', by, at: 12, key: 'b', shown });
      await store.intend('r1', rejectedPickKey('b'));
      expect(await picked()).toBe('B');
      await rejectPick(store, 'r1', 'b', 'The branch is protected.');
      expect(await picked()).toBe('A');
      await rejectPick(store, 'r1', 'a', 'The branch is protected.');
      expect(await picked()).toBeUndefined();
    });

    test('tell cost, decision, fault and the pick that stands', async () => {
      const store = await fresh();
      await create(store, 'r1', 10);
      await create(store, 'r2', 20);
      await bookRow(store, ledgerRow('r1', 0.5, 11));
      await bookRow(store, ledgerRow('r1', 0.25, 12));
      await bookRow(store, ledgerRow('arena', 0.25, 12));
      const decision = { kind: 'none', decidedBy: 'gates', because: 'Nobody passed.' } as const;
      const shown = { aliases: ['A'], first: 'A', votes: {} };
      const by = { id: 5, login: 'mona' };
      await store.updateRun('r1', { decision }, 30);
      await store.addPick('r1', { alias: 'B', by, at: 31, key: 'a', shown });
      await store.addPick('r1', { alias: null, by, at: 32, key: 'b', shown });
      await store.updateRun(
        'r2',
        { trouble: { code: 'DISK_FULL', message: 'Full.', advice: 'Empty it.' } },
        40,
      );
      expect(await store.listRuns({ of: [42], limit: 9 })).toMatchObject([
        { id: 'r2', usd: 0, trouble: { code: 'DISK_FULL' } },
        { id: 'r1', usd: 0.75, decision, pick: { alias: null, by } },
      ]);
      expect((await store.failedRuns(9)).map(({ id }) => id)).toEqual(['r2']);
      expect([await store.spentSince(0), await store.spentSince(12)]).toEqual([1, 0.5]);
    });
  });

  describe('sessions', () => {
    const session = (hash: string, userId = 5, expiresAt = 100) => ({
      hash,
      userId,
      login: 'mona',
      createdAt: 1,
      expiresAt,
    });

    test('last until they end or expire, and are prolonged', async () => {
      const store = await fresh();
      await store.addSession(session('a'));
      expect(await store.session('a', 99)).toEqual(session('a'));
      expect(await store.session('a', 100)).toBeNull();
      await store.prolongSession('a', 200);
      expect(await store.session('a', 199)).toEqual(session('a', 5, 200));
      await store.endSession('a');
      await store.prolongSession('a', 900);
      expect(await store.session('a', 1)).toBeNull();
    });

    test('of a person end everywhere at once, and ended ones are deleted', async () => {
      const store = await fresh();
      for (const hash of ['a', 'b']) await store.addSession(session(hash));
      await store.addSession(session('c', 6));
      await store.addSession(session('d', 6, 50));
      await store.endSessionsOf(5);
      expect(await store.session('b', 1)).toBeNull();
      expect(await store.deleteEndedSessions(50)).toBe(1);
      expect(await store.session('c', 50)).not.toBeNull();
    });
  });
}
