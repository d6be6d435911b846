import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGit } from '../../../src/adapters/git/git.ts';
import { openLocks } from '../../../src/adapters/git/locks.ts';
import { tried } from '../../world/tried.ts';
import { type GitWorld, openGitWorld } from './world.ts';

describe('a git process that is killed', () => {
  let world: GitWorld;
  const path = process.env.PATH ?? '';
  beforeAll(() => {
    world = openGitWorld();
  });
  afterAll(() => {
    process.env.PATH = path;
    world.close();
  });

  /** A program in front of the real one; `$n` is the number of this start. */
  function inFront(program: string, script: string): () => number {
    const folder = world.folder();
    const starts = join(folder, 'starts');
    mkdirSync(starts);
    const count = `n=1; while ! mkdir ${starts}/$n 2> /dev/null; do n=$((n + 1)); done`;
    const file = join(folder, program);
    writeFileSync(file, `#!/bin/sh\n${count}\n${script}\nexec /usr/bin/${program} "$@"\n`);
    chmodSync(file, 0o755);
    process.env.PATH = `${folder}:${path}`;
    return () => readdirSync(starts).length;
  }

  const run = (more: object = {}) =>
    openGit(join(world.root, 'gitconfig'))({ cwd: world.root, args: ['--version'], ...more } as Parameters<
      ReturnType<typeof openGit>
    >[0]);

  const LOSSES = [
    ['killed', 'kill -KILL $$'],
    ['ended by SIGTERM', 'kill -TERM $$'],
    ['ended by SIGSEGV', 'kill -SEGV $$'],
    ['killed inside of a wrapper', 'exit 137'],
    ['without its helper', 'echo "error: git-remote-https died of signal 9" >&2; exit 128'],
  ] as const;

  test.each(LOSSES)('%s twice, is restarted', async (_, how) => {
    tried({
      id: 'git-lost',
      part: 'Child processes are killed',
      what: 'A git process, by SIGKILL, SIGTERM or SIGSEGV, inside a wrapper, or one of its helpers; twice in a row.',
      held: 'Its leftovers are removed, and it is restarted.',
    });
    const starts = inFront('git', `if [ $n -le 2 ]; then ${how}; fi`);
    let cleared = 0;
    const onKilled = async (): Promise<void> => {
      cleared += 1;
    };
    expect((await run({ onKilled })).stdout).toMatch(/^git version/);
    expect([starts(), cleared]).toEqual([3, 2]);
  });

  const CUT = 'echo "fatal: Could not read from remote repository." >&2; exit 128';

  test('through its helper process is restarted', async () => {
    const starts = inFront('git', `if [ $n -le 2 ]; then ${CUT}; fi`);
    const fetch = { args: ['fetch', '--dry-run', world.root, 'HEAD'] };
    expect(await run(fetch)).not.toMatchObject({ stderr: expect.stringContaining('Could not read') });
    expect(starts()).toBeGreaterThanOrEqual(3);
  });

  test.each([
    ['that is always cut off', ['fetch', '/repository', 'HEAD'], 4],
    ['from another machine', ['fetch', 'https://git.example/repository', 'HEAD'], 1],
  ])("during a fetch %s reports git's own message", async (_, args, times) => {
    const starts = inFront('git', CUT);
    expect(await run({ args })).toMatchObject({ exitCode: 128, stderr: /Could not read from remote/ });
    expect(starts()).toBe(times);
  });

  test('each time is a fault that names it, and that runs wait out', async () => {
    const starts = inFront('git', 'kill -KILL $$');
    await expect(run()).rejects.toMatchObject({
      code: 'PROGRAM_KILLED',
      message: expect.stringMatching(/^git --version was killed 4 times; .*out of memory/),
    });
    expect(starts()).toBe(4);
  });

  test('is not restarted if its caller must check first', async () => {
    const starts = inFront('git', 'kill -KILL $$');
    await expect(run({ starts: 'once' })).rejects.toMatchObject({ code: 'PROGRAM_KILLED' });
    expect(starts()).toBe(1);
  });

  test('is told from one that exits by itself, which is not restarted', async () => {
    const starts = inFront('git', 'echo "fatal: no" >&2; exit 128');
    expect(await run()).toMatchObject({ exitCode: 128, stderr: 'fatal: no\n' });
    expect(starts()).toBe(1);
  });

  test('is told from one that does not exist, or whose folder is missing', async () => {
    process.env.PATH = '/nonexistent';
    await expect(run()).rejects.toMatchObject({
      code: 'PROGRAM_KILLED',
      message: /could not be started: ENOENT/,
    });
    process.env.PATH = path;
    expect(await run({ cwd: join(world.root, 'gone') })).toMatchObject({ exitCode: 128 });
  });

  test('does not include flock: its lock survives the kill', async () => {
    tried({
      id: 'flock-killed',
      part: 'Child processes are killed',
      what: 'The program flock, twice in a row, while it takes a lock.',
      held: 'It is restarted, and the lock holds until its owner releases it.',
    });
    const folder = world.folder();
    const starts = inFront('flock', 'if [ $n -le 2 ]; then kill -KILL $$; fi');
    const [mine, other] = [openLocks(folder), openLocks(folder)];
    const found = await mine.using('k', async () => {
      expect(starts()).toBe(3);
      return other.alone('k', async () => 'alone');
    });
    expect(found).toBeNull();
    expect(await other.alone('k', async () => 'alone')).toBe('alone');
    expect(existsSync(join(folder, 'k'))).toBe(true);
  });
});
