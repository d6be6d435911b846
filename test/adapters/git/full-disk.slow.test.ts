import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Workspaces } from '../../../src/ports/index.ts';
import { changes } from '../../contracts/workspaces.suite.ts';
import { tried } from '../../world/tried.ts';
import { type GitWorld, LIMITS, openGitWorld } from './world.ts';

const MB = 2 ** 20;
const full = { code: 'DISK_FULL' };

// A file system that can be filled takes a mount, and so root.
describe.skipIf(process.getuid?.() !== 0)('a disk without space', () => {
  let world: GitWorld;
  let dataDir: string;
  let workspaces: Workspaces;
  beforeEach(() => {
    world = openGitWorld();
    dataDir = join(world.root, 'small');
    mkdirSync(dataDir);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=755', 'tmpfs', dataDir]);
    workspaces = world.another({ dataDir });
  });
  afterEach(() => {
    execFileSync('umount', ['-l', dataDir]);
    world.close();
  });

  /** Takes what space there is but for some bytes. */
  function fill(left: number): void {
    const file = openSync(join(dataDir, 'filler'), 'w');
    const free = Number(
      execFileSync('stat', ['-f', '-c', '%a %S', dataDir])
        .toString()
        .trim()
        .split(' ')
        .reduce((one, two) => String(Number(one) * Number(two))),
    );
    writeSync(file, Buffer.alloc(Math.max(0, free - left)));
    closeSync(file);
  }
  const free = () => rmSync(join(dataDir, 'filler'));
  const halfMade = () =>
    execFileSync('find', [
      dataDir,
      '-name',
      '.tmp-*',
      '-o',
      '-name',
      'tmp_*',
      '-o',
      '-name',
      '*.lock',
    ]).toString();
  const big = (megabytes: number) => ({ 'a.txt': 'one\n', big: randomBytes(megabytes * MB) });

  test('is reported while a repository is fetched or checked out, and nothing incomplete remains', async () => {
    tried({
      id: 'disk-full-fetch',
      part: 'Disks are full',
      what: 'The disk is full while a repository is fetched and checked out.',
      held: 'The fault says so; nothing incomplete remains.',
    });
    const { path, sha } = world.repository(big(4));
    fill(MB);
    await expect(workspaces.prepare({ kind: 'local', path }, sha)).rejects.toMatchObject(full);
    expect(halfMade()).toBe('');
    free();
    fill(7 * MB);
    await expect(workspaces.prepare({ kind: 'local', path }, sha)).rejects.toMatchObject(full);
    expect(halfMade()).toBe('');
    expect(
      readdirSync(join(dataDir, 'bases')).flatMap((key) => readdirSync(join(dataDir, 'bases', key))),
    ).toEqual([]);
    free();
    execFileSync('mount', ['-o', 'remount,size=40m', dataDir]);
    expect(await workspaces.prepare({ kind: 'local', path }, sha)).toMatchObject({ sha });
  });

  test('is reported while set-up runs, and not taken for a fault of the repository', async () => {
    tried({
      id: 'disk-full-setup',
      part: 'Disks are full',
      what: 'The disk is full while the set-up of a repository runs.',
      held: 'Runoff distinguishes this from a fault of the repository.',
    });
    const { path, sha } = world.repository({ 'a.txt': 'one\n' });
    const base = await workspaces.prepare({ kind: 'local', path }, sha);
    const wish = { command: 'head -c 30000000 /dev/zero > lib', egress: [], limits: LIMITS };
    await expect(workspaces.install(base, wish)).rejects.toMatchObject(full);
    expect(readdirSync(join(dataDir, 'areas'))).toEqual([]);
    expect(await workspaces.install(base, { ...wish, command: 'echo > lib' })).toMatchObject({
      kind: 'ready',
    });
  });

  test('is reported while an area is collected, which succeeds when there is space again', async () => {
    tried({
      id: 'disk-full-collect',
      part: 'Disks are full',
      what: 'The disk is full while a patch is collected.',
      held: 'The patch can be collected when there is space again.',
    });
    const { path, sha } = world.repository({ 'a.txt': 'one\n' });
    const base = await workspaces.prepare({ kind: 'local', path }, sha);
    const area = await workspaces.open(base, 'r1-A');
    await world.run(area, 'head -c 2000000 /dev/urandom > new');
    fill(100_000);
    await expect(workspaces.collect(base, area)).rejects.toMatchObject(full);
    expect(halfMade()).toBe('');
    expect(readdirSync(join(area.upper, '..')).sort()).toEqual(['area.json', 'home', 'm', 'u', 'w']);
    free();
    expect(changes(await workspaces.collect(base, area))).toEqual(['A new']);
  });

  test('is reported when an area is opened, and the area is removed', async () => {
    tried({
      id: 'disk-full-area',
      part: 'Disks are full',
      what: 'The disk is full when an area is opened.',
      held: 'The fault says so, and the area is removed.',
    });
    const { path, sha } = world.repository({ 'a.txt': 'one\n' });
    const base = await workspaces.prepare({ kind: 'local', path }, sha);
    fill(0);
    await expect(workspaces.open(base, 'r1-A')).rejects.toMatchObject(full);
    expect(readdirSync(join(dataDir, 'areas'))).toEqual([]);
    free();
    expect(await workspaces.open(base, 'r1-A')).toMatchObject({ id: 'r1-A' });
  });
});
