import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OwnFence, openDbosEngine, openFence } from '../../../src/adapters/engine/index.ts';
import { LIMITS } from '../../../src/adapters/postgres/index.ts';
import { openExecutors, openStore } from '../../../src/adapters/store/index.ts';
import { systemClock } from '../../../src/adapters/system/index.ts';
import type { Engine, Executors } from '../../../src/ports/index.ts';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../../world/database-proxy.ts';
import { silent } from '../../world/silent-log.ts';
import { tried } from '../../world/tried.ts';

const ALL = process.env.RUNOFF_TEST_CHAOS === 'all';
const limits = { ...LIMITS, connectMs: 1_000, silenceMs: 1_000 };

let database: TestDatabase;
let proxy: DatabaseProxy;
let executors: Executors;
let fence: OwnFence;
let engine: Engine;
/** Steps that were done, in order. */
let done: string[];
let coding: PromiseWithResolvers<void>;
let mayCode: PromiseWithResolvers<void>;

async function openEngine(ownLimits: typeof limits | undefined): Promise<void> {
  const databaseUrl = proxy.url;
  executors = openExecutors(databaseUrl, { id: 'box-1', incarnation: 'a' }, { limits: ownLimits });
  fence = openFence({
    executors,
    clock: systemClock,
    log: silent,
    heartbeat: { everyMs: 200, staleMs: 600_000 },
    onExpired: () => expect.unreachable('nobody takes over'),
  });
  engine = openDbosEngine({
    databaseUrl,
    executorId: 'box-1',
    queue: { name: 'coders', perWorker: 2, perPartition: 2 },
    among: { fence, facts: { host: 'here', version: '0' } },
    limits: ownLimits,
    log: silent,
  });
  const step = (name: string) => async (): Promise<string> => {
    done.push(name);
    return name;
  };
  await engine.launch({
    run: async (context) => {
      await context.step('first', step('first'));
      const results = await context.fanOut([{ key: 'A', partition: 'p', input: null }]);
      await context.wait('answer', 600_000);
      await context.step('last', step('last'));
      return results;
    },
    examination: async () => null,
    candidate: async (context) => {
      const coded = await context.step('code', async () => {
        coding.resolve();
        await mayCode.promise;
        return step('code')();
      });
      return coded;
    },
  });
}

beforeEach(async () => {
  done = [];
  coding = Promise.withResolvers();
  mayCode = Promise.withResolvers();
  database = await freshDatabase();
  await (await openStore(database.url)).close();
  proxy = await openDatabaseProxy(database.url);
});
afterEach(async () => {
  proxy.heal();
  await engine.shutdown();
  await executors.close();
  await proxy.close();
  await database.drop();
});

async function endsOnce(settled: Promise<unknown>): Promise<void> {
  expect(await settled).toEqual({ kind: 'done', value: [{ kind: 'done', value: 'code' }] });
  expect(done).toEqual(['first', 'code', 'last']);
}

/** What a transaction of DBOS sends before its commit, by what is lost with the answer to that. */
const COMMITS: Readonly<Record<string, string>> = {
  'that a flow was taken from its queue': 'recovery_attempts = recovery_attempts + 1',
  'that a run was put into the queue': 'workflow_input',
  'what a step brought': 'operation_outputs',
  'what a flow brought': 'workflow_output',
  'that a flow heard a signal': 'SET consumed = true',
};

describe('an engine whose commit is not answered', () => {
  test.each(Object.keys(COMMITS))('does each step once and ends the run: %s', async (what) => {
    tried({
      id: 'database-answer-lost',
      part: 'The database is killed or unavailable',
      what: 'The answer to a commit of the engine is lost: of a claim, a start, a step, a result, a signal.',
      held: 'Each step is done once, and the run ends.',
    });
    await openEngine(limits);
    const lost = proxy.loseAnswerTo('COMMIT', COMMITS[what]);
    mayCode.resolve();
    await engine.start('r1', null);
    const settled = engine.settled('r1');
    await engine.signal('r1', 'answer', 'k1');
    await lost;
    await endsOnce(settled);
  });
});

/** Milliseconds for which nothing passes; the long ones on request only. */
const SILENCES = ALL ? [3_000, 60_000] : [3_000];

describe('an engine that cannot reach the database', () => {
  test.each(SILENCES.flatMap((ms) => (['swallowed', 'refused'] as const).map((how) => [how, ms] as const)))(
    'continues the run in the same process: %s for %i ms',
    async (how, ms) => {
      tried({
        id: 'database-silent-under-engine',
        part: 'The database is killed or unavailable',
        what: 'No data passes to or from the database for 3 s or 60 s while a candidate is coded.',
        held: 'The run and its wait continue in the same process; no step is done twice.',
        more: 'RUNOFF_TEST_CHAOS=all',
      });
      await openEngine(ms > 10_000 ? undefined : limits);
      await engine.start('r1', null);
      const settled = engine.settled('r1').catch(() => engine.settled('r1'));
      await coding.promise;
      if (how === 'swallowed') proxy.let('swallow', 'swallow');
      else {
        proxy.refuse();
        proxy.reset();
      }
      mayCode.resolve();
      await systemClock.sleep(ms, AbortSignal.timeout(600_000));
      proxy.heal();
      const signalled = engine.signal('r1', 'answer', 'k1');
      await signalled.catch(() => engine.signal('r1', 'answer', 'k1'));
      await endsOnce(settled);
      await expect.poll(() => fence.isFresh()).toBe(true);
    },
  );
});

test('connections that only listen or hold a lock notice silence by themselves', async () => {
  await openEngine(limits);
  const sessions = async () => {
    const rows = await database.query(
      `select pid from pg_stat_activity where datname = current_database()
        and (query ilike 'listen %' or application_name = 'runoff executor' or query = 'select 1') order by pid`,
    );
    return rows.map((row) => Number(row.pid));
  };
  const before = await sessions();
  expect(before.length).toBeGreaterThan(0);
  proxy.let('swallow', 'swallow');
  await expect.poll(sessions).not.toEqual(before);
  proxy.heal();
  await expect
    .poll(async () => {
      const rows = await database.query(
        `select 1 as one from pg_locks join pg_stat_activity using (pid)
          where locktype = 'advisory' and application_name = 'runoff executor' and granted
            and datname = current_database()`,
      );
      return rows.length;
    })
    .toBe(1);
});
