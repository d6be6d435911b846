import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/adapters/store/index.ts';
import { storeContract } from '../../contracts/store.suite.ts';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { memoryStore } from '../../world/memory-store.ts';
import { tried } from '../../world/tried.ts';

describe('on one database, emptied after each test', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.drop());

  storeContract('Postgres', async () => {
    const store = await openStore(database.url);
    return {
      store,
      async close() {
        await store.close();
        await emptyTables(database);
      },
    };
  });
});
storeContract('memory', async () => {
  const store = memoryStore();
  return { store, close: () => store.close() };
});

/**
 * To create and to drop a database, or to truncate its tables, takes longer than most tests. Without triggers, foreign
 * keys leave the order of the tables free. What migrations wrote about themselves stays.
 */
async function emptyTables(database: TestDatabase): Promise<void> {
  const tables = await database.query(
    `select format('delete from %I.%I', schemaname, tablename) as sql from pg_tables
     where schemaname = 'runoff' and tablename <> 'migration'`,
  );
  const deletions = tables.map(({ sql }) => String(sql));
  await database.query(['set session_replication_role = replica', ...deletions].join('; '));
}

describe('a database in trouble', () => {
  const unavailable = { name: 'Fault', code: 'DATABASE_UNAVAILABLE' };

  test('is reported when nothing listens', async () => {
    const port = await new Promise<number>((settle) => {
      const probe = createServer().listen(0, '127.0.0.1', () => {
        const address = probe.address();
        probe.close(() => settle(typeof address === 'object' && address !== null ? address.port : 0));
      });
    });
    await expect(openStore(`postgresql://u:p@127.0.0.1:${port}/x`)).rejects.toMatchObject(unavailable);
  });

  test('is reported for a wrong password without repeating it', async () => {
    const { url, drop } = await freshDatabase();
    const wrong = new URL(url);
    wrong.password = 'open-sesame';
    const refused = await openStore(wrong.href).catch((fault: unknown) => fault);
    expect(refused).toMatchObject(unavailable);
    expect(String(refused)).not.toContain('open-sesame');
    await drop();
  });

  test('is reported when the database does not exist', async () => {
    const { url, drop } = await freshDatabase();
    await expect(openStore(`${url}_not`)).rejects.toMatchObject(unavailable);
    await drop();
  });

  test('is reported when the server stops under an open store, which does not crash', async () => {
    tried({
      id: 'database-dies-under-store',
      part: 'The database is killed or unavailable',
      what: 'The server ends the connections of an open store.',
      held: 'The store reports the fault, and the process continues.',
    });
    const database = await freshDatabase();
    const store = await openStore(database.url);
    await store.createRun({
      id: 'r1',
      origin: { kind: 'local', path: '/x' },
      title: 'x',
      request: null,
      at: 1,
    });
    await database.drop();
    await expect(store.run('r1')).rejects.toMatchObject(unavailable);
    await store.close();
  });

  test('is reported by a closed store', async () => {
    const database = await freshDatabase();
    const store = await openStore(database.url);
    await store.close();
    await expect(store.runs(1)).rejects.toMatchObject(unavailable);
    await database.drop();
  });
});
