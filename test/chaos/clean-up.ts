import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataPaths } from '../../src/compose/data-folder.ts';
import { MARK } from './chaos-environment.ts';
import { ownProcess, send } from './descendants.ts';

/** Ends what a round left that was ended itself: by the mark in its environment, which names a folder below ours. */
export async function endLeftOvers(homes: string): Promise<number> {
  let ended = 0;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (Number(pid) === process.pid) continue;
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (!environment.split('\0').some((one) => one.startsWith(`${MARK}=${homes}/`))) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
      ended += 1;
    } catch {
      // It ended by itself.
    }
  }
  return ended;
}

/** Servers of rounds that were cut off: their environment is their own, and a file in the round's folder names them. */
export async function endDatabases(homes: string): Promise<void> {
  for (const name of await readdir(homes)) {
    const file = join(dataPaths(join(homes, name, 'data')).database, 'pg18', 'postmaster.pid');
    const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n', 1)[0]);
    const server = pid > 0 ? ownProcess(pid, homes) : null;
    if (server) send(server, 'SIGQUIT');
  }
}

/** Small disks of rounds that were cut off: those that are mounted below our folder. */
export async function unmountLeftOvers(homes: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const dir of mounts.filter((one) => one.startsWith(`${homes}/`))) {
    await once(spawn('umount', ['--lazy', dir], { stdio: 'ignore' }), 'close');
  }
}

/** Whether a file system can be mounted: only by root, and not in every container. */
export async function mayMount(): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), 'runoff-chaos-mount-'));
  const ended = (command: string, args: readonly string[]) =>
    new Promise<boolean>((resolve) => {
      const child = spawn(command, args, { stdio: 'ignore' });
      child.on('error', () => resolve(false));
      child.on('close', (code) => resolve(code === 0));
    });
  const may = await ended('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir]);
  if (may) await ended('umount', [dir]);
  await rm(dir, { recursive: true, force: true });
  return may;
}
