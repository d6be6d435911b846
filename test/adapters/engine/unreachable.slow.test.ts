import dns from 'node:dns';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openDbosEngine } from '../../../src/adapters/engine/index.ts';
import type { Engine, FlowContext, Flows } from '../../../src/ports/index.ts';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { silent } from '../../world/silent-log.ts';
import { tried } from '../../world/tried.ts';

/** The database's name, as that of a container. */
const NAME = 'postgres.test';

let database: TestDatabase;
let engine: Engine;
let isGone: boolean;
let warnings: string[];
/** What the flows have done, in order. */
let done: string[];
let coding: PromiseWithResolvers<void>;
let mayEnd: PromiseWithResolvers<void>;

const code = ({ step }: FlowContext) =>
  step('code', async () => {
    done.push('code');
    coding.resolve();
    await mayEnd.promise;
    return 'a patch';
  });

async function launch(flows: Partial<Flows>, perWorker = 2): Promise<void> {
  engine = openDbosEngine({
    databaseUrl: database.url.replace('127.0.0.1', NAME),
    executorId: 'box-1',
    queue: { name: 'coders', perWorker, perPartition: 2 },
    lostFlowLookMs: 50,
    log: {
      ...silent,
      warn: (_facts, said) => void warnings.push(said),
      error: (_facts, said) => void warnings.push(said),
    },
  });
  await engine.launch({
    run: ({ fanOut }) => fanOut([{ key: 'A', partition: 'p', input: null }]),
    candidate: code,
    examination: async () => null,
    ...flows,
  });
}

/** Ends the engine's sessions, as the end of the server would. */
const endSessions = () =>
  database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'runoff engine box-1'",
  );

/** Resolves when DBOS has met this outage. */
const met = (why: RegExp) => expect.poll(() => warnings.some((line) => why.test(line))).toBe(true);

beforeEach(async () => {
  database = await freshDatabase();
  isGone = false;
  warnings = [];
  done = [];
  coding = Promise.withResolvers();
  mayEnd = Promise.withResolvers();
  const real = dns.lookup as (...given: unknown[]) => void;
  vi.spyOn(dns, 'lookup').mockImplementation(((host: string, ...rest: unknown[]) => {
    if (host !== NAME) return real(host, ...rest);
    if (!isGone) return real('127.0.0.1', ...rest);
    const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
    process.nextTick(rest.at(-1) as (error: Error) => void, error);
  }) as typeof dns.lookup);
});
afterEach(async () => {
  isGone = false;
  mayEnd.resolve();
  await engine.shutdown(100);
  vi.restoreAllMocks();
  await database.drop();
});

async function loseName(): Promise<void> {
  isGone = true;
  await endSessions();
}

test('a candidate that ends while the name of the database does not resolve is recorded when it does', async () => {
  tried({
    id: 'database-name-gone',
    part: 'The database is killed or unavailable',
    what: 'The name of the server does not resolve for some seconds, as while its container restarts.',
    held: 'A step that ends meanwhile is recorded once the name is back, and waiting runs hear replies.',
  });
  await launch({});
  await engine.start('r1', null);
  await coding.promise;
  await loseName();
  mayEnd.resolve();
  await met(/connection failed: getaddrinfo ENOTFOUND/);
  isGone = false;
  expect(await engine.settled('r1')).toEqual({ kind: 'done', value: [{ kind: 'done', value: 'a patch' }] });
  expect(done).toEqual(['code']);
});

test('a run that waits for people through such an outage hears their reply', async () => {
  await launch({
    run: async ({ step, wait }) => {
      await step('ask', async () => coding.resolve());
      return wait('reply', 3_600_000);
    },
  });
  await engine.start('r1', null);
  await coding.promise;
  await loseName();
  await met(/connection failed: getaddrinfo ENOTFOUND/);
  isGone = false;
  await engine.signal('r1', 'reply', 'k1');
  expect(await engine.settled('r1')).toEqual({ kind: 'done', value: 'signalled' });
});

test('a candidate on another machine is not given up when its result cannot be asked for', async () => {
  await launch({}, 0);
  await engine.start('r1', null);
  await expect.poll(() => engine.status('r1-A')).toEqual({ kind: 'running' });
  await loseName();
  await met(/connection failed: getaddrinfo ENOTFOUND/);
  isGone = false;
  await expect
    .poll(() => database.query("select 1 from dbos.workflow_status where status = 'ENQUEUED'"))
    .toHaveLength(1);
  await engine.cancel('r1-A');
  expect(await engine.settled('r1')).toEqual({
    kind: 'done',
    value: [{ kind: 'failed', why: 'It was cancelled.' }],
  });
});

test('a candidate that ends while the database is read-only is recorded when it can be written', async () => {
  tried({
    id: 'database-read-only',
    part: 'The database is killed or unavailable',
    what: 'The server is read-only for some seconds, as at a fail-over or when its disk is nearly full.',
    held: 'A step that ends meanwhile is recorded afterwards, over connections that lead to a server that writes.',
  });
  await launch({});
  await engine.start('r1', null);
  await coding.promise;
  await database.query(`alter database ${database.name} set default_transaction_read_only = on`);
  await endSessions();
  mayEnd.resolve();
  await met(/connection failed: cannot execute .* in a read-only transaction/);
  // Sessions that are open stay read-only, as those to the old server after a fail-over.
  await database.query(
    `set transaction read write; alter database ${database.name} reset default_transaction_read_only`,
  );
  expect(await engine.settled('r1')).toEqual({ kind: 'done', value: [{ kind: 'done', value: 'a patch' }] });
  expect(done).toEqual(['code']);
});

test('a flow whose end could not be recorded for a reason that nobody knows is continued', async () => {
  await launch({
    candidate: async (context) => {
      await code(context);
      done.push('end');
    },
  });
  await engine.start('r1', null);
  await coding.promise;
  await database.query(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'no luck'; end $$`);
  await database.query(`create trigger no_end before update on dbos.workflow_status for each row
    when (new.status in ('SUCCESS', 'ERROR')) execute function refuse()`);
  mayEnd.resolve();
  await expect.poll(() => done).toEqual(['code', 'end']);
  await database.query('drop trigger no_end on dbos.workflow_status');
  expect(await engine.settled('r1')).toEqual({ kind: 'done', value: [{ kind: 'done' }] });
  // The paid step was recorded.
  expect(done.filter((what) => what === 'code')).toHaveLength(1);
  expect(done.length).toBeGreaterThan(2);
  expect(warnings).toContainEqual(expect.stringContaining('had ended, and the database did not record it'));
});
