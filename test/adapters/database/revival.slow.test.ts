import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/adapters/database/index.ts';
import type { Log } from '../../../src/ports/index.ts';
import { silent } from '../../world/silent-log.ts';
import { tried } from '../../world/tried.ts';

let home: string;
let dir: string;
let said: string[];
const opened: EmbeddedPostgres[] = [];

// One folder for all: setting one up takes longer than all that is done with it.
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'runoff-revival-'));
  await chmod(home, 0o755);
  dir = join(home, 'pg');
});
beforeEach(() => {
  said = [];
});
afterEach(async () => {
  for (const server of opened.splice(0)) await server.stop({ force: true });
});
afterAll(() => rm(home, { recursive: true, force: true }));

const hearing: Log = {
  ...silent,
  info: (_, text) => void said.push(text),
  warn: (_, text) => void said.push(text),
  error: (_, text) => void said.push(text),
};

async function open(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dir, log: hearing });
  opened.push(server);
  return server;
}

const pidFile = () => join(dir, 'pg18', 'postmaster.pid');
const postmaster = async () => Number((await readFile(pidFile(), 'utf8')).split('\n')[0]);

function poolOf(server: EmbeddedPostgres): pg.Pool {
  const pool = new pg.Pool({
    connectionString: server.url('postgres'),
    max: 3,
    connectionTimeoutMillis: 5_000,
  });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** What a person would see who asks again until there is an answer. */
const soon = (work: () => Promise<unknown>) =>
  expect.poll(() => work().catch((error: Error) => error.message));

test('a server that is killed repeatedly comes back at the same address with all committed data', async () => {
  tried({
    id: 'embedded-revived',
    part: 'The database is killed or unavailable',
    what: 'The embedded server, twice, under a running process.',
    held: 'It comes back at the same address, with all committed data.',
  });
  const server = await open();
  const pool = poolOf(server);
  await pool.query('create table kept (n integer primary key)');
  for (let round = 1; round <= 2; round += 1) {
    await pool.query('insert into kept values ($1)', [round]);
    const before = await postmaster();
    process.kill(before, 'SIGKILL');
    await expect.poll(() => said.filter((text) => /is running again/.test(text)).length).toBe(round);
    expect(await postmaster()).not.toBe(before);
    await soon(async () => (await pool.query('select count(*)::int as n from kept')).rows).toEqual([
      { n: round },
    ]);
  }
  await server.ensureDatabase('made_after');
  await pool.end();
  await server.stop();
  expect(existsSync(pidFile())).toBe(false);
});

test('a server recovers after one of its processes is killed, and Runoff reconnects', async () => {
  const server = await open();
  const pool = poolOf(server);
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const before = await postmaster();
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
  await soon(async () => (await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await expect.poll(() => said.at(-1)).toMatch(/is running again/);
  expect(await postmaster()).toBe(before);
  await pool.end();
});

test('several processes of one folder restart their server once, and all continue', async () => {
  tried({
    id: 'embedded-revived-once',
    part: 'The database is killed or unavailable',
    what: 'The embedded server, under three processes that share it.',
    held: 'It is restarted once, and all continue.',
  });
  const servers = [await open(), await open(), await open()];
  process.kill(await postmaster(), 'SIGKILL');
  await expect.poll(() => said.filter((text) => /is running again/.test(text)).length).toBe(3);
  for (const server of servers) await server.ensureDatabase('made_after');
  for (const server of servers.slice(0, 2)) await server.stop();
  expect(existsSync(pidFile())).toBe(true);
  await servers[2]?.stop();
  expect(existsSync(pidFile())).toBe(false);
});

test('a server that a person stopped is not restarted', async () => {
  const [ours, theirs] = [await open(), await open()];
  await theirs.stop({ force: true });
  await expect
    .poll(() => said.at(-1))
    .toBe('The embedded database was stopped from outside. Restart Runoff to continue.');
  await ours.stop();
  expect(existsSync(pidFile())).toBe(false);
});

test('a process that releases its server while it is down does not restart it', async () => {
  const server = await open();
  process.kill(await postmaster(), 'SIGKILL');
  await server.stop({ force: true });
  expect(said.filter((text) => /could not be restarted/.test(text))).toEqual([]);
});
