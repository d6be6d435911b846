import { execFile, spawn } from 'node:child_process';
import { fstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type OutputPipes, openPipeMaker, orDiscard } from '../../../src/adapters/sandbox/output-pipes.ts';
import { spawnFault } from '../../../src/adapters/sandbox/processes.ts';

const descriptors = () => readdirSync('/proc/self/fd').length;
const said = async (pipes: OutputPipes, line: string): Promise<readonly string[]> => {
  const read = Promise.all([pipes.stdout, pipes.stderr].map((stream: Readable) => text(stream)));
  pipes.spawning((stdout, stderr) => spawn('sh', ['-c', line], { stdio: ['ignore', stdout, stderr] }));
  await pipes.closed;
  return read;
};

describe('pipes for the output of a command', () => {
  test('are read to their end, and leave nothing open', async () => {
    const maker = openPipeMaker();
    const before = descriptors();
    // Five shells make eighty pipes, so that none is left for the next commands.
    const all = await Promise.all(
      Array.from({ length: 40 }, async (_, nth) =>
        said(await maker.open(), `echo out ${nth}; echo error ${nth} > /dev/stderr`),
      ),
    );
    expect(all).toEqual(Array.from({ length: 40 }, (_, nth) => [`out ${nth}\n`, `error ${nth}\n`]));
    await expect.poll(descriptors, { timeout: 20_000 }).toBeLessThanOrEqual(before + 2);
  });

  test('have no name, and can be opened again by the user of a command', async () => {
    const pipes = await openPipeMaker().open();
    const [links, modes] = pipes.spawning((...fds) => [
      fds.map((fd) => readlinkSync(`/proc/self/fd/${fd}`)),
      fds.map((fd) => fstatSync(fd).mode & 0o777),
    ]);
    expect(links).toEqual([expect.stringMatching(/^pipe:\[\d+\]$/), expect.stringMatching(/^pipe:\[\d+\]$/)]);
    expect(links[0]).not.toBe(links[1]);
    expect(modes).toEqual([0o666, 0o666]);
    pipes.discard();
  });

  test('are inherited by no other program', async () => {
    const maker = openPipeMaker();
    const pipes = await maker.open();
    const { stdout } = await promisify(execFile)('ls', ['-l', '/proc/self/fd']);
    expect(stdout).toContain('/proc/');
    const ours = pipes.spawning((...fds) => fds.map((fd) => readlinkSync(`/proc/self/fd/${fd}`)));
    expect(ours.filter((link) => stdout.includes(link))).toEqual([]);
    pipes.discard();
  });

  test('are closed where nothing starts', async () => {
    const maker = openPipeMaker();
    (await maker.open()).discard();
    // Others are left by the shell that made them.
    const before = descriptors();
    const pipes = await maker.open();
    const fail = () => {
      throw new Error('no more descriptors');
    };
    expect(() => orDiscard(pipes, fail)).toThrow('no more descriptors');
    const others = await maker.open();
    expect(() => orDiscard(others, () => others.spawning(fail))).toThrow('no more descriptors');
    await Promise.all([pipes.closed, others.closed]);
    await expect.poll(descriptors, { timeout: 20_000 }).toBeLessThanOrEqual(before - 8);
  });

  const children = (pid: number | string): readonly string[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);

  test.each(['the shell', 'one of its processes'])('are made again if %s is killed before', async (who) => {
    const earlier = new Set(children(process.pid));
    const opened = openPipeMaker().open();
    // Nothing is read meanwhile.
    let [shell, holder]: (string | undefined)[] = [];
    while (shell === undefined) shell = children(process.pid).find((pid) => !earlier.has(pid));
    while (holder === undefined) [holder] = children(shell);
    process.kill(Number(who === 'the shell' ? shell : holder), 'SIGKILL');
    const pipes = await opened;
    expect(pipes.spawning((stdout) => fstatSync(stdout).isFIFO())).toBe(true);
    pipes.discard();
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
