import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { LAUNCH_LOCK, prepareEngineSchema } from '../../../src/adapters/engine/index.ts';
import { moveDatabase } from '../../../src/adapters/move/index.ts';
import { LIMITS } from '../../../src/adapters/postgres/index.ts';
import { openStore } from '../../../src/adapters/store/index.ts';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { githubOrigin } from '../../world/origin.ts';
import { silent } from '../../world/silent-log.ts';

const opened: TestDatabase[] = [];
afterEach(async () => {
  for (const database of opened.splice(0)) await database.drop();
});

async function prepare(url: string): Promise<void> {
  await (await openStore(url)).close();
  await prepareEngineSchema(url, silent);
}

async function prepared(): Promise<TestDatabase> {
  const database = await freshDatabase();
  opened.push(database);
  await prepare(database.url);
  return database;
}

test('a command that connects during a move can read, but not write what the move would miss', async () => {
  const [from, to] = [await prepared(), await prepared()];
  const before = await openStore(from.url);
  await before.createRun({ id: 'r1', origin: githubOrigin(), title: 'x', request: {}, at: 1 });
  await before.close();
  // Holds the move before the first row is copied, whatever the speed of this machine.
  const holder = new pg.Client({ connectionString: to.url, application_name: 'runoff move' });
  await holder.connect();
  await holder.query('begin; lock table runoff.run in access share mode');
  const options = { launchLock: LAUNCH_LOCK, prepare, dryRun: false, onTable: () => undefined };
  const moving = moveDatabase({ ...options, from: from.url, to: to.url });
  const waits = `select 1 from pg_locks where mode = 'AccessExclusiveLock' and not granted`;
  await expect.poll(() => to.query(waits), { timeout: 240_000 }).toHaveLength(1);

  const store = await openStore(from.url, { limits: { ...LIMITS, lockMs: 200 } });
  expect((await store.run('r1'))?.state).toBe('queued');
  const shown = { aliases: ['A'], first: 'A', votes: {} };
  const pick = store.addPick('r1', { alias: 'A', by: null, at: 1, key: 'k', shown });
  await expect(pick).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  await store.close();

  await holder.end();
  expect(await moving).toContainEqual({ table: 'runoff.run', rows: 1 });
  const picks = 'select * from runoff.pick';
  expect([await from.query(picks), await to.query(picks)]).toEqual([[], []]);
});
