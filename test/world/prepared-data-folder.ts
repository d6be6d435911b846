import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/adapters/database/index.ts';
import { dataPaths } from '../../src/compose/data-folder.ts';
import { openRuntime } from '../../src/compose/index.ts';
import { parseEnvironment } from '../../src/core/settings/index.ts';
import { flows } from '../../src/runs/index.ts';

const run = promisify(execFile);

/**
 * Makes a data folder as a Runoff leaves it that ran here before: toolchain and database are set up, and no run is
 * stored. Setting it up takes longer than most stories; here it is done once for a test run, and copied.
 * `made`: where the one lies that is copied; the first who asks makes it.
 */
export async function furnishFrom(made: string, data: string): Promise<void> {
  while (!existsSync(made)) await alone(`${made}.lock`, () => make(made));
  const [from, to] = [dataPaths(made), dataPaths(data)];
  await mkdir(to.database, { recursive: true, mode: 0o755 });
  await chmod(dirname(data), 0o711);
  await chmod(data, 0o711);
  await chmod(to.database, 0o755);
  // Nobody writes to programs: on one file system they need no copies.
  const linked = (await stat(made)).dev === (await stat(data)).dev ? '-al' : '-a';
  await run('cp', [linked, from.toolchain, to.toolchain]);
  for (const name of await readdir(from.database)) {
    const how = name.startsWith('bin-') ? linked : '-a';
    await run('cp', [how, join(from.database, name), join(to.database, name)]);
  }
}

/** Works unless another worker is at it, and waits a moment then: on a slow machine it takes a while. */
async function alone(lock: string, work: () => Promise<void>): Promise<void> {
  try {
    await mkdir(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return sleep(100);
  }
  try {
    await work();
  } finally {
    await rmdir(lock);
  }
}

async function make(data: string): Promise<void> {
  const draft = `${data}.draft`;
  await rm(draft, { recursive: true, force: true });
  await chmod(dirname(data), 0o711);
  const parsed = parseEnvironment({ RUNOFF_DATA: draft });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  const runtime = await openRuntime(
    { ...parsed.operator, logLevel: 'silent' },
    { role: 'standalone', executor: 'cli-first' },
  );
  try {
    await runtime.world.engine.launch(flows(runtime.world));
  } finally {
    await runtime.close();
  }
  const { database } = dataPaths(draft);
  await doNotWaitForTheDisk(database);
  await forgetPort(join(database, 'pg.json'));
  await rename(draft, data);
}

/** Nothing in a test has to survive a power cut. */
async function doNotWaitForTheDisk(dir: string): Promise<void> {
  const server = await startEmbeddedPostgres({ dir });
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  await client.query('alter system set fsync = off');
  await client.end();
  await server.stop();
}

/** Copies that all begin with one port would get into each other's way. */
async function forgetPort(file: string): Promise<void> {
  const credentials = JSON.parse(await readFile(file, 'utf8')) as { password: string; port: number };
  await writeFile(file, JSON.stringify({ ...credentials, port: 0 }));
}
