import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MIGRATIONS, type Migration, migrate, openStore } from '../../src/adapters/store/index.ts';
import { freshDatabase, type TestDatabase } from '../world/database.ts';
import { spentSince } from '../world/ledger.ts';
import { tried } from '../world/tried.ts';
import { SAMPLES } from './samples.ts';

let database: TestDatabase;
let db: Kysely<unknown>;
beforeEach(async () => {
  database = await freshDatabase();
  db = new Kysely({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: database.url, max: 2 }) }),
  });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

const upTo = (version: number) => MIGRATIONS.filter((migration) => migration.version <= version);

async function load(version: number): Promise<void> {
  for (const statement of SAMPLES[version] ?? []) await sql.raw(statement).execute(db);
}

interface Column {
  readonly table: string;
  readonly column: string;
  readonly required: boolean;
  readonly hasDefault: boolean;
  /** Within its table; stays when the column is renamed. */
  readonly position: number;
}

async function columns(): Promise<readonly Column[]> {
  const { rows } = await sql<Column>`
    select table_name as "table", column_name as "column", is_nullable = 'NO' as required,
           (column_default is not null or is_identity = 'YES' or is_generated = 'ALWAYS') as "hasDefault",
           ordinal_position as position
      from information_schema.columns
     where table_schema = 'runoff' and table_name <> 'migration'
     order by 1, 2`.execute(db);
  return rows;
}

const tablesOf = (found: readonly Column[]): ReadonlySet<string> => new Set(found.map((one) => one.table));

/** Columns that rows of an older version could not have filled in. */
async function unfillable(migration: Migration): Promise<readonly string[]> {
  const before = await columns();
  await migrate(db, [...upTo(migration.version - 1), migration]);
  const known = new Set(before.map((one) => `${one.table}.${one.position}`));
  return (await columns())
    .filter((one) => tablesOf(before).has(one.table) && one.required && !one.hasDefault)
    .filter((one) => !known.has(`${one.table}.${one.position}`))
    .map((one) => `${one.table}.${one.column}`);
}

async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of tablesOf(await columns())) {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from runoff.${sql.id(table)}`.execute(
      db,
    );
    found[table] = rows[0]?.n ?? 0;
  }
  return found;
}

test('versions are 1, 2, 3, … and each has sample rows', () => {
  expect(MIGRATIONS.map((migration) => migration.version)).toEqual(MIGRATIONS.map((_, i) => i + 1));
  expect(Object.keys(SAMPLES).map(Number)).toEqual(MIGRATIONS.map((migration) => migration.version));
});

describe.each(MIGRATIONS)('migration $version, $name', (migration) => {
  test('runs on a database with rows of the version before, and loses none', async () => {
    tried({
      id: 'migration-with-rows',
      part: 'Upgrades',
      what: 'Each migration runs on a database with rows in every table of the version before.',
      held: 'No row is lost.',
    });
    await migrate(db, upTo(migration.version - 1));
    await load(migration.version - 1);
    const before = await counts();
    expect(await migrate(db, upTo(migration.version))).toEqual([migration.version]);
    expect(await counts()).toMatchObject(before);
  });

  test('adds no column that old rows cannot fill', async () => {
    await migrate(db, upTo(migration.version - 1));
    expect(await unfillable(migration)).toEqual([]);
  });

  test('has a sample row in every table, and the store of today reads them', async () => {
    await migrate(db, upTo(migration.version));
    await load(migration.version);
    for (const [table, count] of Object.entries(await counts())) {
      expect(count, `runoff.${table} has no sample row`).toBeGreaterThan(0);
    }
    const store = await openStore(database.url);
    expect((await store.runs(9)).map((run) => run.id)).toEqual(['r2', 'r1']);
    expect(await store.run('r1')).toMatchObject({ state: 'published', brief: { goal: 'It rounds up.' } });
    expect((await store.run('r1'))?.task?.settings).toEqual({ candidates: 2, checks: { test: 'npm test' } });
    expect((await store.run('r2'))?.task).toBeUndefined();
    expect(await store.candidates('r1')).toMatchObject([{ alias: 'A', ms: 1234.5 }]);
    expect(await store.transitions('r1')).toHaveLength(1);
    expect(await store.steps('r1', { alias: 'A', limit: 9 })).toMatchObject([
      { number: 1, kind: 'start' },
      { number: 2, kind: 'result', exitCode: 1, ok: false },
    ]);
    expect(await store.usage('r1')).toMatchObject({ calls: 1, usd: 0.5 });
    expect((await store.intend('r1', 'pull')).intent).toEqual({ state: 'done', result: { number: 12 } });
    expect(await store.intent('c991', 'reply')).toEqual({ state: 'done', result: { id: 992 } });
    expect((await store.runsAt(42, 12)).map((run) => run.id)).toEqual(['r1']);
    expect(await spentSince(store, 1100, 'github-42')).toBe(0.5);
    expect(await store.outcomes({ repositories: ['github-42'], runs: 9 })).toMatchObject([
      { runId: 'r1', alias: 'A', pull: { state: 'merged', edited: 0.25, revertedAt: null } },
    ]);
    expect(await store.tokens({ limit: 9 })).toMatchObject([{ id: '0123456789ab', lastUsedAt: 1_100 }]);
    await store.close();
  });
});

describe('the runner', () => {
  /** A step that a later version could add. */
  const next = (...up: Migration['up']): Migration => ({ version: MIGRATIONS.length + 1, name: 'next', up });

  test('runs a step on the rows of the version before, and loses none', async () => {
    await migrate(db);
    await load(MIGRATIONS.length);
    const before = await counts();
    const step = next(sql`alter table runoff.run add column owner text not null default 'us'`);
    expect(await migrate(db, [...MIGRATIONS, step])).toEqual([step.version]);
    expect(await counts()).toMatchObject(before);
    expect((await sql`select distinct owner from runoff.run`.execute(db)).rows).toEqual([{ owner: 'us' }]);
  });

  test('does nothing the second time', async () => {
    expect(await migrate(db)).toHaveLength(MIGRATIONS.length);
    expect(await migrate(db)).toEqual([]);
  });

  test('can run in several processes at once on an empty database', async () => {
    tried({
      id: 'migrations-race',
      part: 'Upgrades',
      what: 'Four stores are opened at once on an empty database.',
      held: 'The schema is created once, and all stores work.',
    });
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(database.url)));
    for (const store of stores) await store.close();
    expect(await migrate(db)).toEqual([]);
  });

  test('upgrades once for several processes, with all rows', async () => {
    tried({
      id: 'upgrades-race',
      part: 'Upgrades',
      what: 'Four processes of a later version start at once on the database of the one before, with rows in every table.',
      held: 'Each migration runs once, and no row is lost.',
    });
    await migrate(db);
    await load(MIGRATIONS.length);
    const before = await counts();
    // Run twice, it would fail.
    const later = [...MIGRATIONS, next(sql`alter table runoff.run add column owner text`)];
    const applied = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const pool = new pg.Pool({ connectionString: database.url, max: 1 });
        const own = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
        try {
          return await migrate(own, later);
        } finally {
          await own.destroy();
        }
      }),
    );
    expect(applied.flat()).toEqual([later.length]);
    expect(await counts()).toMatchObject(before);
    const { rows } = await sql<{ version: number }>`
      select version from runoff.migration order by 1`.execute(db);
    expect(rows).toEqual(later.map(({ version }) => ({ version })));
  });

  test('leaves the database unchanged if a step fails', async () => {
    tried({
      id: 'migration-fails',
      part: 'Upgrades',
      what: 'A migration fails halfway.',
      held: 'The database is unchanged.',
    });
    await migrate(db);
    const before = await columns();
    const broken = next(sql`alter table runoff.run add column extra text`, sql`select no_such_function()`);
    await expect(migrate(db, [...MIGRATIONS, broken])).rejects.toThrow(/no_such_function/);
    expect(await columns()).toEqual(before);
  });

  test('does not change a database of a newer Runoff', async () => {
    tried({
      id: 'older-next-to-newer',
      part: 'Upgrades',
      what: 'An older Runoff starts on the database of a newer one.',
      held: 'It refuses with DATABASE_UNAVAILABLE and changes nothing.',
    });
    await migrate(db, [...MIGRATIONS, next(sql`create table runoff.later (id text)`)]);
    await expect(openStore(database.url)).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/newer Runoff/),
    });
  });

  test('rejects a new column that old rows cannot fill', async () => {
    await migrate(db);
    expect(await unfillable(next(sql`alter table runoff.run add column owner text not null`))).toEqual([
      'run.owner',
    ]);
  });

  test.each([
    ['nullable', sql`alter table runoff.run add column owner text`],
    ['with a default', sql`alter table runoff.run add column owner text not null default 'us'`],
    ['an old one under another name', sql`alter table runoff.run rename column title to name`],
    ['of a new table', sql`create table runoff.owner (name text not null)`],
  ])('accepts a new column that is %s', async (_what, statement) => {
    await migrate(db);
    expect(await unfillable(next(statement))).toEqual([]);
  });
});
