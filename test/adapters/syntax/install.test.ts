import { mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { installSyntaxCheck } from '../../../src/adapters/syntax/index.ts';

async function toolchain(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'runoff-syntax-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('puts the checker and the grammars where sandboxes of another user read them', async () => {
  const folder = await toolchain();
  await installSyntaxCheck(folder);
  const grammars = await readdir(join(folder, 'grammars'));
  expect(grammars).toEqual(
    expect.arrayContaining([
      'tree-sitter.js',
      'tree-sitter.wasm',
      'tree-sitter-go.wasm',
      'tree-sitter-tsx.wasm',
    ]),
  );
  for (const path of ['checks', 'checks/syntax', 'grammars']) {
    expect((await stat(join(folder, path))).mode & 0o777, path).toBe(0o755);
  }
  for (const path of ['checks/syntax/check.mjs', 'grammars/tree-sitter-go.wasm']) {
    expect((await stat(join(folder, path))).mode & 0o777, path).toBe(0o644);
  }
});

test('what is there is not copied again', async () => {
  const folder = await toolchain();
  await installSyntaxCheck(folder);
  const file = join(folder, 'grammars/tree-sitter-go.wasm');
  const { ino, mtimeMs } = await stat(file);
  await installSyntaxCheck(folder);
  expect(await stat(file)).toMatchObject({ ino, mtimeMs });
});

test('processes that install at the same time leave one whole copy and nothing else', async () => {
  const folder = await toolchain();
  await Promise.all(Array.from({ length: 4 }, () => installSyntaxCheck(folder)));
  const version = await readlink(join(folder, 'grammars'));
  expect((await readdir(folder)).sort()).toEqual(['checks', 'grammars', version].sort());
  expect(await readdir(join(folder, 'checks'))).toHaveLength(2);
});

test('another version is replaced, and stays whole for sandboxes that use it', async () => {
  const folder = await toolchain();
  await installSyntaxCheck(folder);
  const now = await readlink(join(folder, 'grammars'));
  await rm(join(folder, 'grammars'));
  await writeFile(join(folder, 'old'), 'an older version');
  await symlink('old', join(folder, 'grammars'));
  await installSyntaxCheck(folder);
  expect(await readlink(join(folder, 'grammars'))).toBe(now);
  expect(await readFile(join(folder, 'old'), 'utf8')).toBe('an older version');
});
