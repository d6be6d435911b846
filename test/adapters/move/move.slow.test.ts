import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { LAUNCH_LOCK, prepareEngineSchema } from '../../../src/adapters/engine/index.ts';
import { moveDatabase } from '../../../src/adapters/move/index.ts';
import { openStore } from '../../../src/adapters/store/index.ts';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { memoryArtifacts } from '../../world/memory-store.ts';
import { silent } from '../../world/silent-log.ts';
import { tried } from '../../world/tried.ts';
import { executors } from '../engine/executors.ts';

const opened: TestDatabase[] = [];
const machines = executors();
afterEach(async () => {
  await machines.killAll();
  for (const database of opened.splice(0)) await database.drop();
});

async function fresh(): Promise<TestDatabase> {
  const database = await freshDatabase();
  opened.push(database);
  return database;
}

async function prepare(url: string): Promise<void> {
  await (await openStore(url)).close();
  await prepareEngineSchema(url, silent);
}

const between = (from: TestDatabase, to: TestDatabase) => ({
  from: from.url,
  to: to.url,
  launchLock: LAUNCH_LOCK,
  prepare,
});
const move = (from: TestDatabase, to: TestDatabase, dryRun = false) =>
  moveDatabase({ ...between(from, to), dryRun, onTable: () => undefined });

/** Rows of every kind that is hard to carry: numbers from a sequence, JSON, bytes beyond ASCII, many. */
async function fill(database: TestDatabase): Promise<void> {
  await prepare(database.url);
  await database.query(
    `insert into runoff.run (id, origin, state, title, request, created_at, updated_at)
     select 'r' || n, '{"kind": "local"}', 'failed', 'Grüße, "quoted" \\ ' || n, '{"text": "é\\n\\u0001 1e400"}', 1764000000000 + n, n
     from generate_series(1, 450) n`,
  );
  await database.query(
    `insert into runoff.transition (run_id, from_state, to_state, cause, at)
     select 'r' || n, 'coded', 'failed', 'why', n from generate_series(1, 450) n`,
  );
  await database.query(
    `insert into runoff.audit (at, kind, entry) values (1, 'command', '{"number": 12345678901234567890.123456789}')`,
  );
}

test('a run that waits at the source ends at the destination without repeating finished steps', async () => {
  tried({
    id: 'move-waiting',
    part: 'Upgrades',
    what: 'A database is moved while one of its runs waits.',
    held: 'The run ends at the destination; no finished step is repeated.',
  });
  const [from, to] = [await fresh(), await fresh()];
  const queue = { name: 'coders', perWorker: 3, perPartition: 3 };
  const common = { executorId: 'box-1', queue, hold: [], waitMs: 600_000 };
  const first = machines.start({ ...common, databaseUrl: from.url });
  await first.until(({ what }) => what === 'ready');
  first.tell({ do: 'start', id: 'r1' });
  await first.until(({ what }) => what === 'waits');
  await first.kill();

  await move(from, to);

  const second = machines.start({ ...common, databaseUrl: to.url });
  second.tell({ do: 'signal', id: 'r1' });
  second.tell({ do: 'settle', id: 'r1' });
  const { value } = await second.until(({ what }) => what === 'settled');
  expect(value).toMatchObject({ kind: 'done' });
  expect(machines.begun()).toMatchObject({ 'r1 plan': 1, 'r1 publish': 1 });
});

test('every row arrives unchanged, numbering continues, and the source stays unchanged', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await fill(from);
  const far: string[] = [];
  const moved = await moveDatabase({
    ...between(from, to),
    dryRun: false,
    onTable: (table, rows, of) => far.push(`${table} ${rows}/${of}`),
  });
  expect(moved).toContainEqual({ table: 'runoff.run', rows: 450 });
  expect(far.filter((line) => line.startsWith('runoff.run '))).toEqual([
    'runoff.run 200/450',
    'runoff.run 400/450',
    'runoff.run 450/450',
  ]);
  for (const table of ['run', 'transition', 'audit']) {
    const all = `select row_to_json(t)::text as row from runoff.${table} t order by 1`;
    expect(await to.query(all)).toEqual(await from.query(all));
  }
  await to.query(
    `insert into runoff.transition (run_id, from_state, to_state, cause, at) values ('r1', 'a', 'b', 'c', 1)`,
  );
  expect(await to.query('select max(id)::int as last from runoff.transition')).toEqual([{ last: 451 }]);
});

test('an unreachable destination is reported as such', async () => {
  const from = await fresh();
  const nowhere = { ...from, url: 'postgres://x@127.0.0.1:1/none' };
  await expect(move(from, nowhere)).rejects.toMatchObject({
    code: 'MOVE_REFUSED',
    message: expect.stringMatching(/^The destination database cannot be reached: /),
  });
});

test('a move is refused while anybody is connected, or to a destination with runs; a dry run changes nothing', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await fill(from);
  expect(await move(from, to, true)).toContainEqual({ table: 'runoff.run', rows: 450 });
  expect(await to.query("select 1 from pg_namespace where nspname = 'runoff'")).toEqual([]);

  const open = new pg.Client({ connectionString: from.url, application_name: 'runoff executor' });
  await open.connect();
  await expect(move(from, to)).rejects.toMatchObject({
    code: 'MOVE_REFUSED',
    message: expect.stringMatching(/^The source database is in use: runoff executor on 127\.0\.0\.1 \(1\)\./),
  });
  await open.end();
  await expect(move(from, from)).rejects.toThrow(/are the same database/);
  const moving = new pg.Client({ connectionString: from.url, application_name: 'runoff move' });
  await moving.connect();
  await moving.query('select pg_advisory_lock(7346003)');
  await expect(move(from, await fresh())).rejects.toThrow(/another move is under way/);
  await moving.end();
  await move(from, to);
  await expect(move(from, to)).rejects.toThrow(/has rows in runoff\.\w+ already/);
});

test('an interrupted move leaves the destination empty, and the next attempt succeeds', async () => {
  tried({
    id: 'move-cut',
    part: 'Upgrades',
    what: 'The move to another database is interrupted.',
    held: 'The destination is empty, and the next attempt succeeds.',
  });
  const [from, to] = [await fresh(), await fresh()];
  await fill(from);
  const cut = moveDatabase({
    ...between(from, to),
    dryRun: false,
    onTable(table) {
      if (table === 'runoff.transition') throw new Error('pulled the plug');
    },
  });
  await expect(cut).rejects.toThrow('pulled the plug');
  expect(await to.query('select id from runoff.run')).toEqual([]);
  expect(await move(from, to)).toContainEqual({ table: 'runoff.transition', rows: 450 });
});

test('a destination on which Runoff was started too early, with the artifacts of the source, is still empty', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await fill(from);
  const artifacts = memoryArtifacts();
  const start = async ({ url }: TestDatabase): Promise<void> => {
    const store = await openStore(url);
    await artifacts.claim((owner) => store.databaseName(owner)).finally(() => store.close());
  };
  await start(from);
  await expect(start(to)).rejects.toMatchObject({ code: 'ENVIRONMENT_INVALID' });
  expect(await to.query('select * from runoff.intent')).toEqual([]);
  // It may have a name of its own from a start with another place for artifacts.
  await openStore(to.url).then((store) => store.databaseName(null).finally(() => store.close()));

  expect(await move(from, to)).toContainEqual({ table: 'runoff.run', rows: 450 });
  await start(to);
});
