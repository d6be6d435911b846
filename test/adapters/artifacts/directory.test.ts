import fs, { chmod, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openArtifacts } from '../../../src/adapters/artifacts/index.ts';
import { artifactsContract } from '../../contracts/artifacts.suite.ts';
import { memoryArtifacts } from '../../world/memory-store.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'runoff-artifacts-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const fresh = async () => mkdtemp(join(home, 'dir-'));

artifactsContract('files', async () => openArtifacts(await fresh()));
artifactsContract('memory', async () => memoryArtifacts());

const pathOf = (dir: string, sha256: string) => join(dir, sha256.slice(0, 2), sha256.slice(2));

test('a file is named by its hash, and no temporary file remains', async () => {
  const dir = await fresh();
  const { sha256 } = await openArtifacts(dir).put('hello');
  expect(await readFile(pathOf(dir, sha256), 'utf8')).toBe('hello');
  expect(await readdir(join(dir, sha256.slice(0, 2)))).toEqual([sha256.slice(2)]);
});

test('a file that was changed on disk is not returned, and storing the content again repairs it', async () => {
  const dir = await fresh();
  const artifacts = openArtifacts(dir);
  const ref = await artifacts.put('hello');
  await chmod(pathOf(dir, ref.sha256), 0o600);
  await writeFile(pathOf(dir, ref.sha256), 'hellp');
  await expect(artifacts.get(ref)).rejects.toThrow(/is damaged on the machine/);
  await artifacts.put('hello');
  expect(await artifacts.get(ref)).toBe('hello');
});

test.each(['EPERM', 'ENOTSUP', 'ENOSYS'])(
  'one database claims a folder without hard links (%s)',
  async (code) => {
    const dir = await fresh();
    const link = vi.spyOn(fs, 'link').mockRejectedValue(Object.assign(new Error(code), { code }));
    syncBuiltinESMExports();
    try {
      const artifacts = openArtifacts(dir);
      await artifacts.claim(async () => 'one');
      await artifacts.claim(async () => 'one');
      await expect(artifacts.claim(async () => 'another')).rejects.toMatchObject({
        code: 'ENVIRONMENT_INVALID',
      });
      expect(link).toHaveBeenCalledOnce();
      expect(await readdir(dir)).toEqual(['database']);
    } finally {
      link.mockRestore();
      syncBuiltinESMExports();
    }
  },
);

test('a name that is not a hash never becomes a path', async () => {
  const artifacts = openArtifacts(await fresh());
  await expect(artifacts.get({ sha256: '../../../../etc/passwd', bytes: 1 })).rejects.toThrow(
    /is not the name of an artifact/,
  );
});

test('a sweep removes temporary files of a crash, and no file of others', async () => {
  const dir = await fresh();
  const artifacts = openArtifacts(dir);
  const ref = await artifacts.put('hello');
  await writeFile(`${pathOf(dir, ref.sha256)}.0123456789ab`, 'hel');
  await writeFile(join(dir, ref.sha256.slice(0, 2), 'README'), 'of somebody');
  await writeFile(join(dir, 'README'), 'of somebody');
  expect(await artifacts.sweep({ keep: () => true, before: Date.now() + 60_000 })).toEqual({
    files: 1,
    bytes: 3,
  });
  expect((await readdir(join(dir, ref.sha256.slice(0, 2)))).toSorted()).toEqual(
    ['README', ref.sha256.slice(2)].toSorted(),
  );
  expect(await artifacts.get(ref)).toBe('hello');
});

test('content that is stored again counts as new: an earlier sweep does not remove it', async () => {
  const dir = await fresh();
  const artifacts = openArtifacts(dir);
  const { sha256 } = await artifacts.put('hello');
  await utimes(pathOf(dir, sha256), 0, 0);
  const before = Date.now() - 10_000;
  const ref = await artifacts.put('hello');
  expect(await artifacts.sweep({ keep: () => false, before })).toEqual({ files: 0, bytes: 0 });
  expect(await artifacts.get(ref)).toBe('hello');
});

test('an artifact exists once it is stored, even if several processes store and sweep at once', async () => {
  const dir = await fresh();
  const [writer, sweeper] = [openArtifacts(dir), openArtifacts(dir)];
  let ended = false;
  const sweeping = (async () => {
    while (!ended) await sweeper.sweep({ keep: () => false, before: Date.now() - 1_000 });
  })();
  for (let round = 0; round < 60; round += 1) {
    const ref = await writer.put('hello');
    expect(await writer.get(ref)).toBe('hello');
    await utimes(pathOf(dir, ref.sha256), 0, 0).catch(() => undefined);
  }
  ended = true;
  await sweeping;
});
