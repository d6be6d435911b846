import { lstat, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';

/** Creates or overwrites a file of the repository. Returns what happened, for the model. */
export async function writeRepoFile(root: string, path: string, content: string): Promise<string> {
  const file = await inside(root, path);
  if (!file) return `error: ${path} is outside of the repository`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  return `wrote ${relative(root, file)}`;
}

/** Replaces the one occurrence of a text in a file of the repository. Returns what happened, for the model. */
export async function editRepoFile(root: string, path: string, old: string, fresh: string): Promise<string> {
  const file = await inside(root, path);
  if (!file) return `error: ${path} is outside of the repository`;
  if (old === '') return 'error: old is empty; use write to make a file';
  const text = await readFile(file, 'utf8');
  const count = text.split(old).length - 1;
  if (count !== 1) return `error: old occurs ${count} times in ${path}; it must occur exactly once`;
  // A function, as `$&` in a replacement text would be expanded.
  await writeFile(
    file,
    text.replace(old, () => fresh),
  );
  return `edited ${relative(root, file)}`;
}

/**
 * The real path of a file that is or would be in the repository; null when it would lie outside, also by way of a
 * symbolic link. The sandbox is the wall; this keeps an honest model from writing where its work would be lost.
 */
async function inside(root: string, path: string): Promise<string | null> {
  const realRoot = await realpath(root);
  const wanted = resolve(realRoot, path);
  if (!within(realRoot, wanted)) return null;
  const existing = await deepestExisting(wanted);
  const real = await realpath(existing).catch(() => null);
  if (real === null || !within(realRoot, real)) return null;
  const file = resolve(real, relative(existing, wanted));
  return file === realRoot ? null : file;
}

const within = (root: string, path: string) => path === root || path.startsWith(root + sep);

async function deepestExisting(path: string): Promise<string> {
  const there = await lstat(path).then(
    () => true,
    () => false,
  );
  return there || dirname(path) === path ? path : deepestExisting(dirname(path));
}
