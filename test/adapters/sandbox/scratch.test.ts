import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownFolder, removeOrphans } from '../../../src/adapters/sandbox/index.ts';

const SCRATCH = new URL('../../../src/adapters/sandbox/scratch.ts', import.meta.url).href;

describe('folders that one process uses', () => {
  let parent: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'runoff-scratch-'));
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  /** The folder of another process, which waits. */
  async function inAnotherProcess() {
    const program = `
      import { mkdirSync } from 'node:fs';
      import { ownFolder } from ${JSON.stringify(SCRATCH)};
      const folder = ownFolder(${JSON.stringify(parent)}, 'try');
      mkdirSync(folder + '/upper', { recursive: true });
      console.log(folder);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const kill = async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    };
    return { folder: line.toString().trim(), kill };
  }

  test('stay as long as it runs, and are removed after it was killed', async () => {
    const other = await inAnotherProcess();
    await removeOrphans(parent);
    expect(existsSync(other.folder)).toBe(true);
    await other.kill();
    await removeOrphans(parent);
    expect(existsSync(other.folder)).toBe(false);
  });

  test('of this process stay, and so does everything that is nobody’s', async () => {
    const own = ownFolder(parent, 'probe');
    await mkdir(own);
    await mkdir(join(parent, 'egress'));
    await writeFile(join(parent, 'try-note'), 'x');
    await removeOrphans(parent);
    expect([own, join(parent, 'egress'), join(parent, 'try-note')].every((path) => existsSync(path))).toBe(
      true,
    );
  });

  test('of another container are removed after a day, because nobody can tell whether it runs', async () => {
    const theirs = join(parent, 'try-1-1-1-0123456789ab');
    await mkdir(theirs);
    await removeOrphans(parent);
    expect(existsSync(theirs)).toBe(true);
    const before = new Date(Date.now() - 25 * 60 * 60_000);
    await utimes(theirs, before, before);
    await removeOrphans(parent);
    expect(existsSync(theirs)).toBe(false);
  });

  test('of another machine, whose processes have the same numbers, are removed after a day', async () => {
    const boot = join(parent, 'boot');
    await writeFile(boot, '11111111-2222-3333-4444-555555555555\n');
    // The namespace of processes stays this one.
    const elsewhere = ['--dev-bind', '/', '/', '--ro-bind', boot, '/proc/sys/kernel/random/boot_id'];
    const program = `
      import { ownFolder } from ${JSON.stringify(SCRATCH)};
      console.log(ownFolder(${JSON.stringify(parent)}, 'agent'));`;
    const node = [process.execPath, '--input-type=module', '-e', program];
    const theirs = execFileSync('bwrap', [...elsewhere, ...node], { encoding: 'utf8' }).trim();
    await mkdir(theirs);
    await removeOrphans(parent);
    expect(existsSync(theirs)).toBe(true);
    const before = new Date(Date.now() - 25 * 60 * 60_000);
    await utimes(theirs, before, before);
    await removeOrphans(parent);
    expect(existsSync(theirs)).toBe(false);
  });

  test('need no parent folder', async () => {
    await expect(removeOrphans(join(parent, 'missing'))).resolves.toBeUndefined();
  });
});
