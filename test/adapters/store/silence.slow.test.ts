import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OwnFence, openFence } from '../../../src/adapters/engine/index.ts';
import { LIMITS } from '../../../src/adapters/postgres/index.ts';
import { openExecutors, openStore } from '../../../src/adapters/store/index.ts';
import { asFault } from '../../../src/core/model/index.ts';
import type { Executors, Store } from '../../../src/ports/index.ts';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../../world/database-proxy.ts';
import { silent } from '../../world/silent-log.ts';
import { tried } from '../../world/tried.ts';

const limits = { ...LIMITS, connectMs: 1_000, silenceMs: 600, statementMs: 400, lockMs: 300 };

let database: TestDatabase;
let proxy: DatabaseProxy;
let store: Store;
beforeEach(async () => {
  database = await freshDatabase();
  proxy = await openDatabaseProxy(database.url);
  store = await openStore(proxy.url, { limits });
  // A connection that is in the pool before anything happens to it.
  await store.runs(1);
});
afterEach(async () => {
  proxy.heal();
  await store.close();
  await proxy.close();
  await database.drop();
});

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    (thrown: unknown) => asFault(thrown).code,
  );

const WEATHERS: Readonly<Record<string, (proxy: DatabaseProxy) => void>> = {
  'what we send is swallowed': (one) => one.let('swallow', 'pass'),
  'what the server answers is swallowed': (one) => one.let('pass', 'swallow'),
  'both are swallowed': (one) => one.let('swallow', 'swallow'),
  'every connection is reset, and none is taken': (one) => {
    one.refuse();
    one.reset();
  },
  'answers are cut in their middle': (one) => one.cutInMessage(),
};

describe('a silent database', () => {
  test.each(Object.keys(WEATHERS))(
    'is an outage (%s), after which the same store continues',
    async (name) => {
      tried({
        id: 'database-silent',
        part: 'The database is killed or unavailable',
        what: 'A proxy drops requests to the database, its answers, or both; resets connections; truncates answers.',
        held: 'Each call fails with an outage within its limit instead of waiting forever, and the store recovers.',
      });
      WEATHERS[name]?.(proxy);
      const codes = await Promise.all(Array.from({ length: 8 }, () => codeOf(store.runs(1))));
      expect(new Set(codes)).toEqual(new Set(['DATABASE_UNAVAILABLE']));
      proxy.heal();
      // All of its connections, however slow the machine is at making them.
      await expect
        .poll(async () => new Set(await Promise.all(Array.from({ length: 8 }, () => codeOf(store.runs(1))))))
        .toEqual(new Set(['answered']));
    },
  );

  test('is told from a slow one, which is waited for', async () => {
    proxy.delay(limits.silenceMs / 4);
    expect(await store.runs(1)).toEqual([]);
  });

  test('does not delay closing', async () => {
    proxy.let('swallow', 'swallow');
    const other = await codeOf(store.runs(1));
    expect(other).toBe('DATABASE_UNAVAILABLE');
    await store.close();
    store = await openStore(database.url, { limits });
  });
});

test('a lock that another session holds is waited for up to the limit, and the server says so', async () => {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('begin; lock table runoff.run in access exclusive mode');
  const said = await store.runs(1).catch((thrown: Error) => thrown.message);
  expect(said).toMatch(/a lock was held by others for longer than its limit/);
  await holder.query('rollback');
  await holder.end();
  expect(await store.runs(1)).toEqual([]);
});

describe('a process whose heartbeats cannot reach the database', () => {
  const facts = { host: 'here', version: '0', role: 'worker', coders: 1, examinations: 1 } as const;
  const time = { ms: 0 };
  let own: Executors;
  let fence: OwnFence;
  let expired = 0;
  beforeEach(async () => {
    expired = 0;
    own = openExecutors(proxy.url, { id: 'box-1', incarnation: 'a' }, { limits });
    fence = openFence({
      executors: own,
      clock: { now: () => time.ms, elapsed: () => time.ms },
      log: silent,
      heartbeat: { everyMs: 10_000, staleMs: 60_000 },
      onExpired: () => {
        expired += 1;
      },
    });
    await own.join(facts, 0);
    await fence.beat();
    proxy.let('swallow', 'swallow');
  });
  afterEach(() => own.close());

  test('acts for three quarters of the expiry time, then asks, and continues when it is answered', async () => {
    tried({
      id: 'signs-of-life-silent',
      part: 'Several processes',
      what: 'No data passes between a process and the database of heartbeats.',
      held: 'It acts only while no other process can have taken over, reports an outage until the database answers, and continues, or exits if others took over.',
    });
    expect(await codeOf(fence.beat())).toBe('DATABASE_UNAVAILABLE');
    time.ms += 44_000;
    expect(fence.isFresh()).toBe(true);
    time.ms += 2_000;
    expect(fence.isFresh()).toBe(false);
    expect(await codeOf(fence.check())).toBe('DATABASE_UNAVAILABLE');
    proxy.heal();
    await expect.poll(() => codeOf(fence.check())).toBe('answered');
    expect(expired).toBe(0);
  });

  test('learns that others took over, and nothing else', async () => {
    const other = openExecutors(database.url, { id: 'box-2', incarnation: 'b' });
    await other.join(facts, 0);
    await expect.poll(() => other.expire(1, async () => undefined)).toEqual(['box-1']);
    time.ms += 46_000;
    expect(await codeOf(fence.check())).toBe('DATABASE_UNAVAILABLE');
    proxy.heal();
    await expect.poll(() => codeOf(fence.check())).toBe('EXECUTOR_EXPIRED');
    expect(expired).toBe(1);
    await other.close();
  });
});
