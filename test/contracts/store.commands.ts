import { describe, expect, test } from 'vitest';
import type { Actor, GitHubOrigin, Task } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { NewCommand, PickRecord, Store } from '../../src/ports/index.ts';
import { bookRow, ledgerRow } from '../world/ledger.ts';
import { githubOrigin } from '../world/origin.ts';

type Fresh = () => Promise<Store>;

const mona: Actor = { id: 5, login: 'mona' };
const hubot: Actor = { id: 6, login: 'hubot' };
const create = (store: Store, id: string, over: Partial<GitHubOrigin> = {}, at = 1) =>
  store.createRun({ id, origin: githubOrigin(over), title: id, request: null, at });
const unknown = { code: 'RUN_UNKNOWN' };

const command = (comment: number, over: Partial<NewCommand> = {}, repositoryId = 42): NewCommand => ({
  id: `comment:${comment}`,
  place: {
    installationId: 1,
    repositoryId,
    owner: 'acme',
    name: 'shop',
    thread: 7,
    isPull: false,
    comment,
    on: 'conversation',
  },
  by: mona,
  text: '/auto-dev pick B',
  at: comment,
  ...over,
});

/** The inbox of commands. */
export function commandsContract(fresh: Fresh): void {
  describe('commands', () => {
    const done = { kind: 'done', note: 'Picked B.' } as const;

    test('a command is stored once, however often it is delivered', async () => {
      const store = await fresh();
      expect(await store.command('comment:991')).toBeNull();
      const heard = await Promise.all(Array.from({ length: 8 }, () => store.recordCommand(command(991))));
      expect(heard.filter(Boolean)).toHaveLength(1);
      expect(await store.recordCommand(command(991, { text: '/auto-dev pick A' }))).toBe(false);
      expect(await store.command('comment:991')).toEqual(command(991));
    });

    test("the issue's text at that time is stored with it, including characters that Postgres rejects", async () => {
      const store = await fresh();
      const body = { sha256: 'a'.repeat(64), bytes: 12 };
      await store.recordCommand(
        command(991, { text: '/auto-dev run', issue: { title: 'Round\0ing', body } }),
      );
      const [open] = await store.unsettledCommands();
      expect(open?.issue?.body).toEqual(body);
      expect(open?.issue?.title).toMatch(/^Round.ing$/s);
    });

    test('a tick is stored with the run of its comparison', async () => {
      const store = await fresh();
      const tick = command(991, { id: 'tick:991:2:1200', ticked: 'r1' });
      await store.recordCommand(tick);
      await store.settleCommand(tick.id, done, 1_300, 'r2');
      expect(await store.command(tick.id)).toMatchObject({ ticked: 'r1', runId: 'r2' });
      expect((await store.commands(42, 1))[0]?.ticked).toBe('r1');
    });

    test('a command from a page is stored with its run and what the page showed', async () => {
      const store = await fresh();
      const { place } = command(0);
      const page = { run: 'r1', inquiry: 2, picks: 1 };
      await store.recordCommand(command(0, { id: 'page:5:k1', place: { ...place, on: 'page' }, page }));
      await store.recordCommand(command(0, { id: 'page:5:k2', place: { ...place, on: 'page' }, page }));
      expect(await store.command('page:5:k1')).toMatchObject({ page, place: { on: 'page', comment: 0 } });
      expect(await store.unsettledCommands()).toHaveLength(2);
    });

    test('its outcome is written once', async () => {
      const store = await fresh();
      await store.recordCommand(command(991));
      await store.settleCommand('comment:991', done, 1_000, 'r1');
      await store.settleCommand('comment:991', { kind: 'refused', why: 'No.' }, 2_000, 'r2');
      expect(await store.command('comment:991')).toEqual({
        ...command(991),
        outcome: done,
        runId: 'r1',
        settledAt: 1_000,
      });
    });

    test('a command that was never stored cannot be settled', async () => {
      const store = await fresh();
      await expect(store.settleCommand('comment:1', done, 1)).rejects.toMatchObject({ code: 'INTERNAL' });
    });

    test('open commands are listed oldest first, at the same time by comment id', async () => {
      const store = await fresh();
      await store.recordCommand(command(30, { at: 9 }));
      await store.recordCommand(command(200, { at: 5 }));
      await store.recordCommand(command(9, { at: 9 }));
      await store.recordCommand(command(20, { at: 9 }, 43));
      await store.recordCommand(command(1, { at: 1 }));
      await store.settleCommand('comment:1', { kind: 'ignored', why: 'mallory may not write.' }, 10);
      const open = await store.unsettledCommands();
      expect(open.map(({ place }) => place.comment)).toEqual([200, 9, 20, 30]);
    });

    test('the list of a repository is newest first, and as long as asked', async () => {
      const store = await fresh();
      for (const comment of [10, 30, 20]) await store.recordCommand(command(comment));
      await store.recordCommand(command(40, {}, 43));
      await store.settleCommand('comment:20', done, 50);
      expect((await store.commands(42, 2)).map(({ id }) => id)).toEqual(['comment:30', 'comment:20']);
      expect((await store.commands(42, 2))[1]).toMatchObject({ outcome: done, settledAt: 50 });
      expect(await store.commands(42, 0)).toEqual([]);
      expect(await store.commands(44, 9)).toEqual([]);
    });

    test('text that Postgres rejects is stored, too', async () => {
      const store = await fresh();
      await store.recordCommand(command(991, { text: '/auto-dev a\0b \ud800' }));
      expect((await store.command('comment:991'))?.text).toMatch(/^\/auto-dev a.b .$/s);
    });
  });
}

/** Votes and picks. */
export function picksContract(fresh: Fresh): void {
  describe('votes and picks', () => {
    const pick = (over: Partial<Omit<PickRecord, 'number'>> = {}): Omit<PickRecord, 'number'> => ({
      alias: 'B',
      by: mona,
      at: 9,
      key: 'comment:991',
      shown: { aliases: ['A', 'B'], first: 'A', votes: { B: 2 } },
      ...over,
    });

    test('everybody has one vote, and the later one counts, whichever arrives first', async () => {
      const store = await fresh();
      await create(store, 'r1');
      await create(store, 'r2');
      expect(await store.votes('r1')).toEqual([]);
      await store.vote('r1', { by: mona, alias: 'A', at: 20 });
      await store.vote('r1', { by: hubot, alias: 'A', at: 25 });
      await store.vote('r1', { by: { ...mona, login: 'renamed' }, alias: 'B', at: 30 });
      await store.vote('r1', { by: mona, alias: 'C', at: 10 });
      await store.vote('r2', { by: mona, alias: 'C', at: 5 });
      expect(await store.votes('r1')).toEqual([
        { by: hubot, alias: 'A', at: 25 },
        { by: { id: 5, login: 'renamed' }, alias: 'B', at: 30 },
      ]);
    });

    test('the same vote twice is one vote', async () => {
      const store = await fresh();
      await create(store, 'r1');
      await Promise.all(Array.from({ length: 8 }, () => store.vote('r1', { by: mona, alias: 'A', at: 20 })));
      expect(await store.votes('r1')).toEqual([{ by: mona, alias: 'A', at: 20 }]);
    });

    test('picks are numbered in the order in which they were made, none of them included', async () => {
      const store = await fresh();
      await create(store, 'r1');
      await create(store, 'r2');
      expect(await store.picks('r1')).toEqual([]);
      const none = pick({ alias: null, by: null, key: 'cli:1', at: 12 });
      expect(await store.addPick('r1', pick())).toEqual({ ...pick(), number: 1 });
      expect(await store.addPick('r1', none)).toEqual({ ...none, number: 2 });
      expect(await store.addPick('r2', pick())).toMatchObject({ number: 1 });
      expect(await store.picks('r1')).toEqual([
        { ...pick(), number: 1 },
        { ...none, number: 2 },
      ]);
    });

    test('a repeated pick finds the one that was made', async () => {
      const store = await fresh();
      await create(store, 'r1');
      await store.addPick('r1', pick());
      await store.addPick('r1', pick({ key: 'comment:992', alias: 'A' }));
      expect(await store.addPick('r1', pick({ at: 99, alias: 'C' }))).toEqual({ ...pick(), number: 1 });
      expect((await store.picks('r1')).map(({ alias }) => alias)).toEqual(['B', 'A']);
    });

    test('each of many at once gets its own number', async () => {
      const store = await fresh();
      await create(store, 'r1');
      const keys = Array.from({ length: 12 }, (_, i) => `comment:${i % 6}`);
      await Promise.all(keys.map((key) => store.addPick('r1', pick({ key }))));
      const made = await store.picks('r1');
      expect(made.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(new Set(made.map(({ key }) => key)).size).toBe(6);
    });

    test('an unknown run has none, and accepts none', async () => {
      const store = await fresh();
      expect(await store.votes('nope')).toEqual([]);
      expect(await store.picks('nope')).toEqual([]);
      const vote = { by: mona, alias: 'A', at: 1 };
      await expect(store.vote('nope', vote)).rejects.toMatchObject(unknown);
      await expect(store.addPick('nope', pick())).rejects.toMatchObject(unknown);
    });
  });
}

/** What the caps of a day and the intake of labels are counted by. */
export function countsContract(fresh: Fresh): void {
  describe('counts', () => {
    const task = (runId: string): Task => ({
      runId,
      origin: githubOrigin(),
      title: 'x',
      body: '',
      comments: [],
      base: { ref: 'main', sha: 'a'.repeat(40) },
      settings: Settings.parse({}),
      lowered: [],
    });
    const started = async (store: Store, id: string, over: Partial<GitHubOrigin>, at: number) => {
      await create(store, id, over, at);
      await store.updateRun(id, { task: task(id) }, at);
    };

    test('runs on GitHub count from a given time once they have a task', async () => {
      const store = await fresh();
      await started(store, 'early', {}, 99);
      await started(store, 'r1', {}, 100);
      await started(store, 'r2', { requestedBy: hubot }, 101);
      await started(store, 'r3', { repositoryId: 43 }, 102);
      await started(store, 'r4', { repositoryId: 44, installationId: 2 }, 103);
      await create(store, 'refused', {}, 104);
      await store.createRun({
        id: 'local',
        origin: { kind: 'local', path: '/' },
        title: 'x',
        request: null,
        at: 105,
      });
      await store.updateRun('local', { task: task('local') }, 105);
      await store.transition('r1', 'cancelled', 'asked', 200);
      expect(await store.startedSince(100, { kind: 'repository', id: 42 })).toBe(2);
      expect(await store.startedSince(101, { kind: 'repository', id: 42 })).toBe(1);
      expect(await store.startedSince(100, { kind: 'installation', id: 1 })).toBe(3);
      expect(await store.startedSince(100, { kind: 'user', id: 5 })).toBe(3);
      expect(await store.startedSince(100, { kind: 'user', id: 6 })).toBe(1);
      expect(await store.startedSince(100, { kind: 'user', id: 42 })).toBe(0);
    });

    test('cost counts for the person who requested the run, from a given time', async () => {
      const store = await fresh();
      await create(store, 'r1');
      await create(store, 'r2', { requestedBy: hubot });
      await bookRow(store, ledgerRow('r1', 16, 99));
      await bookRow(store, ledgerRow('r1', 8, 100));
      await bookRow(store, ledgerRow('r2', 4, 101));
      await bookRow(store, ledgerRow('gone', 2, 101));
      expect(await store.spentSince(100, { kind: 'user', id: 5 })).toBe(8);
      expect(await store.spentSince(99, { kind: 'user', id: 5 })).toBe(24);
      expect(await store.spentSince(100, { kind: 'user', id: 6 })).toBe(4);
      expect(await store.spentSince(100, { kind: 'user', id: 7 })).toBe(0);
      expect(await store.spentSince(100, { kind: 'installation', id: 1 })).toBe(12);
      expect(await store.spentSince(100, { kind: 'installation', id: 9 })).toBe(0);
    });

    test('a label event is known by its issue and time', async () => {
      const store = await fresh();
      const take = (id: string, semanticKey: string) =>
        store.acceptDelivery(
          { id, event: 'issues.labeled', semanticKey, runId: `r${id}` },
          { origin: githubOrigin(), title: 'x', request: null, at: 1 },
        );
      expect(await store.isLabelRecorded(42, 7, 0)).toBe(false);
      await take('1', 'labeled:42:7:1000');
      await take('2', 'labeled:42:70:9000');
      await take('3', 'labeled:420:7:9000');
      await take('4', 'comment:42:7:9000');
      await take('5', 'labeled:42:7:9000:other');
      expect(await store.isLabelRecorded(42, 7, 999)).toBe(true);
      expect(await store.isLabelRecorded(42, 7, 1000)).toBe(true);
      expect(await store.isLabelRecorded(42, 7, 1001)).toBe(false);
      expect(await store.isLabelRecorded(42, 8, 0)).toBe(false);
    });
  });
}
