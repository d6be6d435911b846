import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/adapters/database/index.ts';
import { tried } from '../../world/tried.ts';

const isRoot = process.getuid?.() === 0;

let home: string;
let dir: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'runoff-database-'));
  await chmod(home, 0o755);
  dir = join(home, 'pg');
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
  }
  const left = await postmaster();
  if (left !== null) await (await startEmbeddedPostgres({ dir })).stop({ force: true });
  await rm(home, { recursive: true, force: true });
});

/** Pid of the server that the data folder names; null when there is none. */
async function postmaster(): Promise<number | null> {
  const file = await readFile(join(dir, 'pg18', 'postmaster.pid'), 'utf8').catch(() => null);
  return file === null ? null : Number(file.split('\n')[0]);
}

async function query(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

interface Said {
  readonly attached?: boolean;
  readonly url?: string;
  readonly stopped?: boolean;
  readonly fault?: string;
}

/** Another process that uses the same folder. */
function holder(folder = dir, ids: { uid?: number; gid?: number } = {}) {
  const program = fileURLToPath(new URL('holder.ts', import.meta.url));
  const child = spawn(process.execPath, [program, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
    ...ids,
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const gone = once(child, 'exit');
  return {
    says: async () => JSON.parse((await lines.next()).value ?? '{}') as Said,
    async stop() {
      child.stdin.write('stop\n');
      const said = JSON.parse((await lines.next()).value ?? '{}') as Said;
      await gone;
      return said;
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

describe('the embedded database', () => {
  test('is set up, keeps its data across a stop, and is found again', async () => {
    const first = await startEmbeddedPostgres({ dir });
    expect(first).toMatchObject({ attached: false, version: expect.stringMatching(/^18\./) });
    await first.ensureDatabase('shop');
    await first.ensureDatabase('shop');
    await query(first.url('shop'), 'create table kept as select 42 as n');
    await first.stop();
    expect(await postmaster()).toBeNull();

    const second = await startEmbeddedPostgres({ dir });
    expect(second.attached).toBe(false);
    expect(await query(second.url('shop'), 'select n from kept')).toEqual([{ n: 42 }]);
    expect(second.url('shop')).toBe(first.url('shop'));
    await second.stop();
  });

  test('accepts connections only from this machine, with a password that only its user can read', async () => {
    const server = await startEmbeddedPostgres({ dir });
    const url = new URL(server.url('postgres'));
    expect(url.hostname).toBe('127.0.0.1');
    url.password = 'guessed';
    await expect(query(url.href, 'select 1')).rejects.toThrow(/password authentication failed/);
    const [setting] = await query(server.url('postgres'), 'show listen_addresses');
    expect(setting).toEqual({ listen_addresses: '127.0.0.1' });
    expect((await stat(join(dir, 'pg.json'))).mode & 0o777).toBe(0o600);
    await server.stop();
  });

  test('rejects a name that is not a plain word', async () => {
    const server = await startEmbeddedPostgres({ dir });
    await expect(server.ensureDatabase('a"; drop table x')).rejects.toMatchObject({ code: 'INTERNAL' });
    await server.stop();
  });

  test('finds its server again after kill -9 of the process, and of the server', async () => {
    tried({
      id: 'embedded-killed',
      part: 'The database is killed or unavailable',
      what: 'Runoff with its embedded server, and then the server.',
      held: 'The next start finds the server, or starts it again with all its data.',
    });
    const crashed = holder();
    const { url = '' } = await crashed.says();
    await query(url, 'create table kept as select 42 as n');
    await crashed.kill();
    const survivor = await startEmbeddedPostgres({ dir });
    expect(survivor.attached).toBe(true);
    expect(survivor.url('shared')).toBe(url);

    const pid = await postmaster();
    process.kill(pid ?? 0, 'SIGKILL');
    const again = await startEmbeddedPostgres({ dir });
    expect(await postmaster()).not.toBe(pid);
    expect(await query(again.url('shared'), 'select n from kept')).toEqual([{ n: 42 }]);
    await survivor.stop();
    await again.stop();
  });

  test('starts despite a pid file that names another running process', async () => {
    await (await startEmbeddedPostgres({ dir })).stop();
    const file = join(dir, 'pg18', 'postmaster.pid');
    await writeFile(file, `${process.pid}\n${join(dir, 'pg18')}\n1\n5432\n\n127.0.0.1\n\nready\n`);
    const server = await startEmbeddedPostgres({ dir });
    expect(server.attached).toBe(false);
    await server.stop();
  });

  test('recovers from an interrupted set-up', async () => {
    tried({
      id: 'embedded-set-up-cut',
      part: 'The database is killed or unavailable',
      what: 'The first set-up of the embedded server is interrupted.',
      held: 'The next one completes it.',
    });
    await mkdir(join(dir, 'pg18.new'), { recursive: true });
    await chmod(dir, 0o755);
    await writeFile(join(dir, 'pg18.new', 'PG_VERSION'), '18\n');
    await mkdir(join(dir, 'bin-17.0.0'));
    const server = await startEmbeddedPostgres({ dir });
    expect((await readdir(dir)).toSorted()).toEqual(
      [expect.stringMatching(/^bin-18\./), 'pg.json', 'pg.log', 'pg18'].toSorted(),
    );
    await server.stop();
  });

  test('names its password file if that is missing', async () => {
    await (await startEmbeddedPostgres({ dir })).stop();
    await rename(join(dir, 'pg.json'), join(dir, 'pg.json.aside'));
    await expect(startEmbeddedPostgres({ dir })).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringContaining(join(dir, 'pg.json')),
    });
  });
});

describe('several processes', () => {
  test('that start at once share one server, which runs until the last releases it', async () => {
    tried({
      id: 'embedded-shared',
      part: 'Several processes',
      what: 'Several processes start the embedded server at once.',
      held: 'They share one server, which runs until the last process releases it.',
    });
    const holders = [holder(), holder(), holder()];
    const said = await Promise.all(holders.map((one) => one.says()));
    expect(said.filter((one) => one.attached === false)).toHaveLength(1);
    expect(new Set(said.map((one) => one.url)).size).toBe(1);

    for (const one of holders.slice(0, 2)) expect(await one.stop()).toEqual({ stopped: true });
    expect(await query(said[0]?.url ?? '', 'select 1 as one')).toEqual([{ one: 1 }]);
    await holders[2]?.stop();
    expect(await postmaster()).toBeNull();
  });

  test('are not blocked by a start that was killed halfway', async () => {
    tried({
      id: 'embedded-start-killed',
      part: 'The database is killed or unavailable',
      what: 'A process that starts the embedded server.',
      held: 'The next start is not blocked.',
    });
    const ended = spawn(process.execPath, ['-e', '0']);
    await once(ended, 'exit');
    await mkdir(dir);
    await chmod(dir, 0o755);
    await writeFile(join(dir, 'pg.lock'), `${ended.pid} 1`);
    const server = await startEmbeddedPostgres({ dir });
    await server.stop();
    expect(await readdir(dir)).not.toContain('pg.lock');
  });

  test('find the same server through a link to the folder', async () => {
    const server = await startEmbeddedPostgres({ dir });
    await symlink(dir, join(home, 'link'));
    const linked = holder(join(home, 'link'));
    expect(await linked.says()).toMatchObject({ attached: true, url: server.url('shared') });
    await linked.stop();
    expect(await postmaster()).not.toBeNull();
    await server.stop();
  });

  test('keep the server while a connection is open, unless it is stopped by force', async () => {
    const server = await startEmbeddedPostgres({ dir });
    const open = new pg.Client({ connectionString: server.url('postgres') });
    open.on('error', () => undefined);
    await open.connect();
    await server.stop();
    expect(await open.query('select 1 as one')).toMatchObject({ rows: [{ one: 1 }] });
    await (await startEmbeddedPostgres({ dir })).stop({ force: true });
    expect(await postmaster()).toBeNull();
  });
});

describe.runIf(isRoot)('as root', () => {
  test('run the server as another user, who owns only its data', async () => {
    const server = await startEmbeddedPostgres({ dir });
    const pid = await postmaster();
    expect((await stat(`/proc/${pid}`)).uid).not.toBe(0);
    expect((await stat(join(dir, 'pg18'))).uid).not.toBe(0);
    expect((await stat(dir)).uid).toBe(0);
    expect((await stat(join(dir, 'pg.json'))).uid).toBe(0);
    await server.stop();
  });

  test('report a folder that this user cannot enter, and leave nothing in it', async () => {
    await chmod(home, 0o700);
    await expect(startEmbeddedPostgres({ dir: join(home, 'deep', 'pg') })).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringMatching(new RegExp(`user \\w+, who may not enter ${home}\\.`)),
    });
    expect(await readdir(home)).toEqual([]);
  });

  test('of an ordinary user start their own server', async () => {
    const nobody = { uid: 65_534, gid: 65_534 };
    await mkdir(join(home, 'own'), { mode: 0o700 });
    await chown(join(home, 'own'), nobody.uid, nobody.gid);
    dir = join(home, 'own', 'pg');
    const own = holder(dir, nobody);
    expect(await own.says()).toMatchObject({ attached: false });
    expect((await stat(`/proc/${await postmaster()}`)).uid).toBe(nobody.uid);
    expect(await own.stop()).toEqual({ stopped: true });
    expect(await postmaster()).toBeNull();
  });

  test("of an ordinary user cannot open root's database, and learn why", async () => {
    const server = await startEmbeddedPostgres({ dir });
    const other = holder(dir, { uid: 65_534, gid: 65_534 });
    expect((await other.says()).fault).toMatch(/is closed to this user/);
    await server.stop();
  });
});
