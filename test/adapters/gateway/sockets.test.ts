import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tried } from '../../world/tried.ts';
import { openRig } from './rig.ts';

test('any user of the machine may connect to a lease, but only the owner may list the leases', async () => {
  await using rig = await openRig('http://127.0.0.1:1');
  const lease = await rig.open();
  expect((await stat(lease.socket)).mode & 0o777).toBe(0o666);
  expect((await stat(rig.dir)).mode & 0o077).toBe(0o011);
});

test('sockets of a killed process are removed, those of a running one stay', async () => {
  tried({
    id: 'sockets-of-killed-app',
    part: 'The App is killed',
    what: 'A process with open sockets to models.',
    held: 'The next process removes them, and no socket of a running process.',
  });
  await using rig = await openRig('http://127.0.0.1:1');
  const dead = join(rig.dir, 'gw-00000000dead.sock');
  const alive = join(rig.dir, 'gw-0000000a11fe.sock');
  const foreign = join(rig.dir, 'notes.txt');
  await mkdir(rig.dir, { recursive: true });
  await writeFile(foreign, 'not ours');
  const child = spawn(
    process.execPath,
    ['-e', `require('net').createServer().listen(${JSON.stringify(dead)}, () => console.log('up'))`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const server = createServer().listen(alive);
  await once(server, 'listening');
  try {
    await using later = await openRig('http://127.0.0.1:1', { dir: rig.dir });
    const lease = await later.open();
    const names = (await readdir(rig.dir)).map((name) => join(rig.dir, name));
    expect(names.toSorted()).toEqual([alive, foreign, lease.socket].toSorted());
  } finally {
    server.close();
  }
});
