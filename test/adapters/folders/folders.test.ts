import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder } from '../../../src/adapters/folders/index.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'folders-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('missing folders are created with their mode, and the first of them is named', async () => {
  const deep = join(folder, 'a', 'b', 'c');
  expect(await makeFolder(deep, 0o711)).toBe(join(folder, 'a'));
  expect(statSync(deep).mode & 0o777).toBe(0o711);
  expect(await makeFolder(deep)).toBeUndefined();
  expect(await makeFolder('/')).toBeUndefined();
});

test('several can create the same folder', async () => {
  const made = await Promise.all([1, 2, 3].map(() => makeFolder(join(folder, 'a', 'b'))));
  expect(statSync(join(folder, 'a', 'b')).isDirectory()).toBe(true);
  expect(made.some((first) => first !== undefined)).toBe(true);
});

test('a link to a folder is one; a file and a link to nothing are none', async () => {
  const [linked, dangling, file] = ['linked', 'dangling', 'file'].map((name) => join(folder, name));
  mkdirSync(join(folder, 'target'));
  symlinkSync(join(folder, 'target'), linked ?? '');
  symlinkSync(join(folder, 'gone'), dangling ?? '');
  writeFileSync(file ?? '', '');
  expect(await makeFolder(linked ?? '')).toBeUndefined();
  await expect(makeFolder(dangling ?? '')).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(file ?? '')).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(file ?? '', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

// Node's own recursive `mkdir` never ends there.
test.runIf(process.platform === 'linux')('a folder below /proc is refused', async () => {
  await expect(makeFolder('/proc/nope/deeper')).rejects.toMatchObject({ code: 'ENOENT' });
});
