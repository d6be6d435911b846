import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath as node } from 'node:process';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openExecutors, openStore } from '../../../src/adapters/store/index.ts';
import type { ExecutorFacts, Executors, Store } from '../../../src/ports/index.ts';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { tried } from '../../world/tried.ts';

const FACTS: ExecutorFacts = { role: 'app', host: 'box', version: '1', coders: 4, examinations: 2 };
const EXECUTOR_EXPIRED = { name: 'Fault', code: 'EXECUTOR_EXPIRED' };

let database: TestDatabase;
let opened: { close(): Promise<void> }[];
let elapsed: number;
beforeEach(async () => {
  elapsed = 5_000;
  database = await freshDatabase();
  opened = [await openStore(database.url)];
});
afterEach(async () => {
  for (const one of opened) await one.close();
  await database.drop();
});

/** A process of this name, joined, with its store; its monotonic clock is the test's. */
async function process(id: string, incarnation = 'first'): Promise<{ self: Executors; store: Store }> {
  const identity = { id, incarnation };
  const store = await openStore(database.url, { identity });
  const self = openExecutors(database.url, identity, { elapsed: () => elapsed });
  opened.push(store, self);
  await self.join(FACTS, 1_000);
  return { self, store };
}

/** As if it had left, so that it is given up at the next look; the connections of its process stay open. */
const silence = (id: string) =>
  database.query(`update runoff.executor set seen = '-infinity' where id = $1`, [id]);

describe('processes that share the work', () => {
  test('are listed with what they take and how long they have been silent', async () => {
    const { store } = await process('app box');
    const { self } = await process('worker-b\\x');
    expect(await store.executors()).toEqual([
      { id: 'app box', ...FACTS, startedAt: 1_000, silentMs: expect.any(Number) },
      { id: 'worker-b\\x', ...FACTS, startedAt: 1_000, silentMs: expect.any(Number) },
    ]);
    await self.leave();
    expect(await store.executors()).toMatchObject([{}, { silentMs: null }]);
    // A name may hold anything: the fence lets its owner through.
    await expect(store.intend('r1', 'comment')).resolves.toMatchObject({ fresh: true });
  });

  test('expire when they are silent: they can no longer write, and learn so at their next heartbeat', async () => {
    tried({
      id: 'executor-given-up',
      part: 'Several processes',
      what: 'A process sends no heartbeat; its connections are still open.',
      held: 'The database rejects its writes from then on.',
    });
    const { self: living } = await process('app-a');
    const { self: frozen, store } = await process('app-b');
    await store.intend('r1', 'before');
    await silence('app-b');
    const moved: string[] = [];
    expect(await living.expire(60_000, async (ids) => void moved.push(...ids))).toEqual(['app-b']);
    expect(moved).toEqual(['app-b']);
    await expect(store.intend('r1', 'after')).rejects.toMatchObject(EXECUTOR_EXPIRED);
    expect(await store.intent('r1', 'after')).toBeNull();
    expect(await frozen.beat()).toBe('expired');
    expect(await living.beat()).toBe('alive');
    expect(await living.expire(60_000, async () => expect.unreachable())).toEqual([]);
  });

  test('replace their former incarnation when they restart under their name', async () => {
    const { self: former, store } = await process('app-a');
    const { self: anew, store: its } = await process('app-a', 'second');
    await expect(store.intend('r1', 'comment')).rejects.toMatchObject(EXECUTOR_EXPIRED);
    expect(await former.beat()).toBe('expired');
    await former.leave();
    expect(await anew.beat()).toBe('alive');
    await expect(its.intend('r1', 'comment')).resolves.toMatchObject({ fresh: true });
  });

  test('cannot write once expired, even if their work cannot be moved yet', async () => {
    const { self } = await process('app-a');
    const { store } = await process('app-b');
    await silence('app-b');
    await expect(self.expire(60_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(store.intend('r1', 'comment')).rejects.toMatchObject(EXECUTOR_EXPIRED);
    expect(await self.expire(60_000, async () => undefined)).toEqual(['app-b']);
    expect(await self.expire(60_000, async () => expect.unreachable())).toEqual([]);
  });

  test('wait at a restart until their work has been moved', async () => {
    const { self, store } = await process('app-a');
    await process('app-b');
    await silence('app-b');
    let back = false;
    let coming: Promise<unknown> = Promise.resolve();
    await self.expire(60_000, async () => {
      coming = process('app-b', 'second').then(() => {
        back = true;
      });
      // Another look meanwhile moves nothing twice.
      const { self: third } = await process('app-c');
      expect(await third.expire(60_000, async () => expect.unreachable())).toEqual([]);
      expect(back).toBe(false);
    });
    await coming;
    expect((await store.executors()).map(({ id }) => id)).toEqual(['app-a', 'app-b', 'app-c']);
  });

  test('do not expire during a write', async () => {
    const { self } = await process('app-a');
    await process('app-b');
    await silence('app-b');
    const writing = new pg.Client({ connectionString: database.url });
    await writing.connect();
    await writing.query('begin');
    // As the fence of a transaction that writes.
    await writing.query("select 1 from runoff.executor where id = 'app-b' for key share");
    expect(await self.expire(60_000, async () => expect.unreachable())).toEqual([]);
    await writing.query('commit');
    await writing.end();
    expect(await self.expire(60_000, async () => undefined)).toEqual(['app-b']);
  });
});

const MINUTE = 60_000;

/** Its server ends the session that holds the lock when it has not been heard for twice the silence: one second. */
const FROZEN_WHILE_MOVING = `
  import { openExecutors } from ${JSON.stringify(import.meta.resolve('../../../src/adapters/store/index.ts'))};
  const self = openExecutors(process.argv[1], { id: 'app-a', incarnation: 'first' });
  const moving = self.expire(500, async () => {
    process.stdout.write('moving');
    setTimeout(() => process.kill(process.pid, 'SIGSTOP'), 100);
    await new Promise((settle) => setTimeout(settle, 200));
  });
  await moving.then(() => process.stdout.write(' moved'), ({ code }) => process.stdout.write(' ' + code));
  await self.close();`;
const noneFound = async () => expect.unreachable();

describe('the silence of a process', () => {
  test('is measured by the monotonic clock of the observer, from when it first saw the heartbeat', async () => {
    const { self } = await process('app-a');
    const { self: other } = await process('app-b');
    // However old it is by then: who looks may itself have been away.
    await database.query(`update runoff.executor set seen = seen - interval '1 day' where id = 'app-b'`);
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    elapsed += MINUTE - 1;
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    await other.beat();
    elapsed += 1;
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    elapsed += MINUTE;
    expect(await self.expire(MINUTE, async () => undefined)).toEqual(['app-b']);
    expect(await other.beat()).toBe('expired');
  });

  test('is measured also while another process has the lock under which work is moved', async () => {
    const { self } = await process('app-a');
    await process('app-b');
    const other = new pg.Client(database.url);
    await other.connect();
    await other.query('select pg_advisory_lock(7346004)');
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    elapsed += MINUTE;
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    await other.end();
    await expect.poll(() => self.expire(MINUTE, async () => undefined)).toEqual(['app-b']);
  });

  test('does not keep others from its work if it is frozen while it moves the work of another', async () => {
    tried({
      id: 'executor-frozen-moving',
      part: 'Several processes',
      what: 'A process is frozen while it moves the work of a lost one, and resumes when others have done that.',
      held: 'Others move the work within twice the time of a silence, and the frozen one undoes nothing of it.',
    });
    const { self } = await process('app-b');
    await process('app-c');
    await silence('app-c');
    const frozen = spawn(node, ['--input-type=module', '--eval', FROZEN_WHILE_MOVING, database.url]);
    let printed = '';
    frozen.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    await once(frozen.stdout, 'data');
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    await expect
      .poll(() => self.expire(MINUTE, async () => undefined), { timeout: 240_000 })
      .toEqual(['app-c']);
    // When it wakes, it must not delete the mark of the next silence under the same name.
    await process('app-c', 'second');
    await silence('app-c');
    await expect(self.expire(MINUTE, () => Promise.reject(new Error('not now')))).rejects.toThrow('not now');
    frozen.kill('SIGCONT');
    await once(frozen, 'close');
    expect(printed).toBe('moving DATABASE_UNAVAILABLE');
    expect(await self.expire(MINUTE, async () => undefined)).toEqual(['app-c']);
  });

  // What stands in the rows then seems older, or newer, than it is.
  test.each([
    ['ahead', '-1 hour'],
    ['back', '1 hour'],
  ])('does not depend on the clock of the database, which jumps an hour %s', async (_way, shift) => {
    tried({
      id: 'database-clock',
      part: 'Clocks jump',
      what: 'The clock of the database server jumps an hour ahead or back while several processes share the work.',
      held: 'No running process expires, and a dead one expires after a minute as always.',
    });
    const { self } = await process('app-a');
    const { self: living } = await process('app-b');
    await process('app-c');
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    await database.query(`update runoff.executor set seen = seen + interval '${shift}'`);
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    elapsed += MINUTE / 2;
    await living.beat();
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    elapsed += MINUTE / 2;
    expect(await self.expire(MINUTE, async () => undefined)).toEqual(['app-c']);
    expect(await living.beat()).toBe('alive');
    expect(await self.beat()).toBe('alive');
  });

  test('is measured anew after a restart of the server', async () => {
    // The name comes before the server's own in the search path of these connections.
    await database.query('create schema pretended');
    const startedAt = (at: string) =>
      database.query(`create or replace function pretended.pg_postmaster_start_time() returns timestamptz
        language sql as $$ select '${at}'::timestamptz $$`);
    await startedAt('2026-01-01');
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=pretended,pg_catalog');
    const self = openExecutors(url.href, { id: 'app-a', incarnation: 'first' }, { elapsed: () => elapsed });
    opened.push(self);
    await self.join(FACTS, 1_000);
    await process('app-b');
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    await startedAt('2026-01-02');
    elapsed += MINUTE;
    expect(await self.expire(MINUTE, noneFound)).toEqual([]);
    elapsed += MINUTE;
    expect(await self.expire(MINUTE, async () => undefined)).toEqual(['app-b']);
  });
});
