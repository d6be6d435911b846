import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OutputPipes, openPipeMaker, orDiscard } from '../../../src/adapters/sandbox/output-pipes.ts';
import { spawnFault } from '../../../src/adapters/sandbox/processes.ts';

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'runoff-pipes-'));
  folder = join(root, 'pipes');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const descriptors = () => readdirSync('/proc/self/fd').length;
const said = async (pipes: OutputPipes, line: string): Promise<readonly string[]> => {
  const read = Promise.all([pipes.stdout, pipes.stderr].map((stream: Readable) => text(stream)));
  pipes.spawning((stdout, stderr) => spawn('sh', ['-c', line], { stdio: ['ignore', stdout, stderr] }));
  await pipes.closed;
  return read;
};

describe('pipes for the output of a command', () => {
  test('are read to their end, and leave nothing open', async () => {
    const maker = openPipeMaker(folder);
    const before = descriptors();
    const all = await Promise.all(
      Array.from({ length: 40 }, async (_, nth) =>
        said(await maker.open(), `echo out ${nth}; echo error ${nth} > /dev/stderr`),
      ),
    );
    expect(all).toEqual(Array.from({ length: 40 }, (_, nth) => [`out ${nth}\n`, `error ${nth}\n`]));
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
  });

  test('have no name while they are used, and had one in a folder that is closed to others', async () => {
    const maker = openPipeMaker(folder);
    const pipes = await maker.open();
    const unused = readdirSync(folder);
    await maker.open().then((more) => more.discard());
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).length).toBe(unused.length - 2);
    pipes.discard();
  });

  test('are closed where nothing starts', async () => {
    const maker = openPipeMaker(folder);
    const before = descriptors();
    const pipes = await maker.open();
    const fail = () => {
      throw new Error('no more descriptors');
    };
    expect(() => orDiscard(pipes, fail)).toThrow('no more descriptors');
    const others = await maker.open();
    expect(() => orDiscard(others, () => others.spawning(fail))).toThrow('no more descriptors');
    await Promise.all([pipes.closed, others.closed]);
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
  });

  test('are made again if somebody has removed the names', async () => {
    const maker = openPipeMaker(folder);
    (await maker.open()).discard();
    rmSync(folder, { recursive: true });
    expect(await said(await maker.open(), 'echo here')).toEqual(['here\n', '']);
  });

  test('are a fault where there can be none', async () => {
    writeFileSync(join(root, 'file'), '');
    await expect(openPipeMaker(join(root, 'file', 'pipes')).open()).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
    });
  });

  test.each([
    ['ENOSPC: no space left on device, mkdir', 'ENOSPC', 'DISK_FULL'],
    ['EROFS: read-only file system, mkdir', 'EROFS', 'DISK_FAILING'],
    ['EMFILE: too many open files, open', 'EMFILE', 'PROGRAM_KILLED'],
    ['ENOTDIR: not a directory, mkdir', 'ENOTDIR', 'SANDBOX_UNAVAILABLE'],
  ])('say what the machine lacks: %s', (message, code, fault) => {
    expect(spawnFault('A command', Object.assign(new Error(message), { code }))).toMatchObject({
      code: fault,
    });
  });
});
