import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defaultData, openDataFolder } from '../../src/compose/data-folder.ts';

const isRoot = process.getuid?.() === 0;
const owner = isRoot ? { gid: 65_534 } : null;

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'runoff-data-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const look = async (path: string) => {
  const { mode, uid, gid } = await stat(path);
  return { mode: mode & 0o7777, uid, gid };
};

describe('the data folder', () => {
  test("is created with its parents so that the sandbox's user can pass through, whatever the umask", async () => {
    const before = process.umask(0o077);
    try {
      await openDataFolder(join(home, 'lib', 'runoff'), owner);
    } finally {
      process.umask(before);
    }
    expect((await look(join(home, 'lib'))).mode).toBe(0o711);
    expect((await look(join(home, 'lib', 'runoff'))).mode).toBe(0o711);
    expect((await look(home)).mode).toBe(0o700);
  });

  test('is used unchanged if it exists and is empty', async () => {
    await chmod(home, 0o750);
    await writeFile(join(home, '.env'), 'PORT=1\n');
    const before = await look(home);
    await openDataFolder(home, owner);
    expect(await look(home)).toEqual(before);
  });

  test.runIf(isRoot)('is opened to the sandbox when Runoff wrote to it before', async () => {
    await mkdir(join(home, 'toolchain'));
    await openDataFolder(home, owner);
    expect(await look(home)).toEqual({ mode: 0o711, uid: 0, gid: 65_534 });
  });

  const others: readonly [string, string, number, RegExp][] = [
    ['that holds other things', 'artifacts', 0o755, /RUNOFF_DATA: .* it holds other things.*Name a folder/],
    ['that everybody may write to', 'pg', 0o1777, /RUNOFF_DATA: .* everybody may write to it/],
  ];
  test.each(others)('cannot be one %s, which stays unchanged', async (_name, inside, mode, words) => {
    await mkdir(join(home, inside));
    await chmod(home, mode);
    const before = await look(home);
    await expect(openDataFolder(home, owner)).rejects.toMatchObject({
      code: 'ENVIRONMENT_INVALID',
      message: expect.stringMatching(words),
    });
    expect(await look(home)).toEqual(before);
  });

  test.runIf(process.platform === 'linux')('cannot be below a folder that takes none', async () => {
    await expect(openDataFolder('/proc/nope/data', null)).rejects.toMatchObject({
      code: 'ENVIRONMENT_INVALID',
      message: expect.stringContaining('the data folder /proc/nope/data cannot be created'),
    });
  });

  test('cannot be one that another user made', async () => {
    await mkdir(join(home, 'pg'));
    await chmod(home, 0o311);
    if (isRoot) process.seteuid?.(65_534);
    try {
      await expect(openDataFolder(home, null)).rejects.toMatchObject({
        code: 'ENVIRONMENT_INVALID',
        message: expect.stringContaining(
          `RUNOFF_DATA: ${home} cannot be the data folder: it belongs to another user.`,
        ),
      });
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(home, 0o711);
    }
  });

  test('below a file is a fault that names RUNOFF_DATA', async () => {
    await writeFile(join(home, 'file'), '');
    await expect(openDataFolder(join(home, 'file', 'data'), owner)).rejects.toMatchObject({
      code: 'ENVIRONMENT_INVALID',
    });
  });
});

test.skipIf(isRoot)('without a home folder there is no usual place for data', () => {
  expect(() => defaultData({})).toThrow(/neither HOME nor RUNOFF_DATA/);
  expect(defaultData({ HOME: '/home/ann', XDG_DATA_HOME: 'here' })).toBe('/home/ann/.local/share/runoff');
});
