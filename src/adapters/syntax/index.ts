import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';

const PACKAGE = '@vscode/tree-sitter-wasm/package.json';
const GrammarManifest = z.object({ version: z.string().regex(/^[\w.+-]+$/) });

/**
 * Installs the checker (`checks/syntax/`) and the grammars (`grammars/`) in the toolchain's folder, where every sandbox
 * can read them. Each is installed atomically and replaces another version in one step, so that two processes may do it
 * concurrently; existing files are not copied again.
 */
export async function installSyntaxCheck(toolchain: string): Promise<void> {
  const programs = await filesIn(import.meta.dirname, /\.mjs$/);
  await place(join(toolchain, 'checks', 'syntax'), await hashOf(programs), programs);
  const manifest = createRequire(import.meta.url).resolve(PACKAGE);
  const { version } = GrammarManifest.parse(JSON.parse(await readFile(manifest, 'utf8')));
  const grammars = await filesIn(join(dirname(manifest), 'wasm'), /^tree-sitter.*\.(?:js|wasm)$/);
  await place(join(toolchain, 'grammars'), version, grammars);
}

async function filesIn(folder: string, names: RegExp): Promise<readonly string[]> {
  const all = await readdir(folder);
  return all
    .filter((name) => names.test(name))
    .sort()
    .map((name) => join(folder, name));
}

async function hashOf(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(basename(file)).update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}

/** Makes `path` a link to a sibling folder that contains the files and is named after their version. */
async function place(path: string, version: string, files: readonly string[]): Promise<void> {
  const folder = `${path}-${version}`;
  if (!existsSync(folder)) await copy(files, folder);
  if ((await readlink(path).catch(() => null)) === basename(folder)) return;
  const link = `${path}.${randomBytes(6).toString('hex')}`;
  await symlink(basename(folder), link);
  await rename(link, path);
}

async function copy(files: readonly string[], folder: string): Promise<void> {
  const fresh = `${folder}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(fresh, { recursive: true });
    for (const file of files) {
      await copyFile(file, join(fresh, basename(file)));
      await chmod(join(fresh, basename(file)), 0o644);
    }
    // Set explicitly, regardless of the umask: sandboxes read it as another user.
    await chmod(fresh, 0o755);
    await chmod(dirname(fresh), 0o755);
    await rename(fresh, folder);
  } catch (thrown) {
    await rm(fresh, { recursive: true, force: true });
    // Another process was faster; its copy is identical.
    if (!existsSync(folder)) throw thrown;
  }
}
