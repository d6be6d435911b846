import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/adapters/database/index.ts';
import { asDatabaseFault } from '../../../src/adapters/store/connection.ts';
import { openStore } from '../../../src/adapters/store/index.ts';
import { freshDatabase } from '../../world/database.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

test('a server that became read-only is an outage with its reason', async () => {
  const database = await freshDatabase();
  closers.push(() => database.drop());
  const store = await openStore(database.url);
  closers.push(() => store.close());
  const before = await store.runs(5);
  await database.query(`alter database ${database.name} set default_transaction_read_only = on`);
  const again = await openClient(database.url);
  const refused = await again
    .query("insert into runoff.audit (at, kind, entry) values (1, 'x', '{}')")
    .catch(asDatabaseFault);
  expect(refused).toMatchObject({
    code: 'DATABASE_UNAVAILABLE',
    message: expect.stringMatching(/^The database takes no writes: it is read-only/),
  });
  expect(await store.runs(5)).toEqual(before);
});

async function openClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  closers.push(() => client.end());
  return client;
}

/** A file system of our own, which only root can make: the rest of the machine stays as it is. */
const mayMount = (() => {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

test.runIf(mayMount)(
  'a full disk is an outage: what was begun is not kept by halves, and with room it goes on',
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'runoff-full-'));
    await chmod(home, 0o755);
    const disk = join(home, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=0755', 'tmpfs', disk]);
    closers.push(() => rm(home, { recursive: true, force: true }));
    closers.push(async () => execFileSync('umount', ['--lazy', disk]));
    const server = await startEmbeddedPostgres({ dir: join(disk, 'pg') });
    closers.push(() => server.stop({ force: true }));
    await server.ensureDatabase('runoff');
    const store = await openStore(server.url('runoff'));
    closers.push(() => store.close());
    const client = await openClient(server.url('runoff'));

    // A file beside it takes what is left but for a few pages: the write ahead log has its room already.
    await client.query('create unlogged table filler (text text)');
    // The first row of a table takes a page; the second finds room in it.
    await client.query("insert into runoff.audit (at, kind, entry) values (1, 'first', '{}')");
    execFileSync('sh', ['-c', `head -c 1G /dev/zero > ${join(disk, 'filler')} || true`], { stdio: 'ignore' });
    await client.query('begin');
    await client.query("insert into runoff.audit (at, kind, entry) values (1, 'half', '{}')");
    const refused = await client
      .query('insert into filler select repeat(md5(n::text), 40) from generate_series(1, 100000) n')
      .catch(asDatabaseFault);
    await client.query('rollback');
    expect(refused).toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/^The database takes no writes: its disk is full/),
    });
    expect((await client.query('select kind from runoff.audit')).rows).toEqual([{ kind: 'first' }]);
    expect(await store.runs(5)).toEqual([]);

    await server.stop({ force: true });
    expect(existsSync(join(disk, 'pg', 'pg18', 'postmaster.pid'))).toBe(false);

    await rm(join(disk, 'filler'));
    const again = await startEmbeddedPostgres({ dir: join(disk, 'pg') });
    closers.push(() => again.stop({ force: true }));
    const after = await openClient(again.url('runoff'));
    await after.query("insert into runoff.audit (at, kind, entry) values (1, 'whole', '{}')");
    expect((await after.query('select kind from runoff.audit order by id')).rows).toEqual([
      { kind: 'first' },
      { kind: 'whole' },
    ]);
  },
);
