import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const PROBE_SOURCES = join(import.meta.dirname, 'inside');

/**
 * Installs the programs that derive and run probes in the toolchain's folder, as `checks/probes/`, where every sandbox
 * can read them: completely or not at all, and replacing another version in one step, so that two processes may do it
 * at once. `derive.mjs` takes the folder of the grammars, which the syntax check installs, as its argument; `run.mjs`
 * needs nothing; derived test files load `observe.cjs`, with `observe.py` next to it.
 */
export const installProbes = (toolchain: string): Promise<void> =>
  install(PROBE_SOURCES, join(toolchain, 'checks', 'probes'));

/**
 * Likewise installs `checks/assertions/`: what Node and Python load before any other code, so that assertion libraries
 * stay what they are (docs/decisions/0169-assertion-libraries-are-locked.md).
 */
export const installAssertionLock = (toolchain: string): Promise<void> =>
  install(join(import.meta.dirname, 'assertions'), join(toolchain, 'checks', 'assertions'));

async function install(sources: string, path: string): Promise<void> {
  const programs = await readPrograms(sources);
  const hash = createHash('sha256');
  for (const [name, text] of programs) hash.update(name).update(text);
  const folder = `${path}-${hash.digest('hex').slice(0, 16)}`;
  if (!existsSync(folder)) await copy(programs, folder);
  if ((await readlink(path).catch(() => null)) === basename(folder)) return;
  const link = `${path}.${randomBytes(6).toString('hex')}`;
  await symlink(basename(folder), link);
  await rename(link, path);
}

/** The programs by file name. */
async function readPrograms(sources: string): Promise<ReadonlyMap<string, string>> {
  const programs = new Map<string, string>();
  for (const name of (await readdir(sources)).sort()) {
    const text = await readFile(join(sources, name), 'utf8');
    if (/\.(?:cjs|py|ts)$/.test(name)) programs.set(name, text);
  }
  return programs;
}

/** Strips the types once, and not at each start in a sandbox. Stops the transformer's service afterwards. */
async function withoutTypes(programs: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
  const { stop, transform } = await import('esbuild');
  const plain = new Map<string, string>();
  try {
    for (const [name, text] of programs) {
      if (!name.endsWith('.ts')) plain.set(name, text);
      else {
        const { code } = await transform(text, { loader: 'ts', format: 'esm', target: 'node24' });
        plain.set(name.replace(/\.ts$/, '.mjs'), code.replace(/(from "\.\/[\w-]+)\.ts"/g, '$1.mjs"'));
      }
    }
    return plain;
  } finally {
    await stop();
  }
}

async function copy(programs: ReadonlyMap<string, string>, folder: string): Promise<void> {
  const fresh = `${folder}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(fresh, { recursive: true });
    for (const [name, text] of await withoutTypes(programs))
      await writeFile(join(fresh, name), text, { mode: 0o644 });
    // Set explicitly, whatever the umask: the sandboxes read it as another user.
    await chmod(fresh, 0o755);
    await chmod(dirname(fresh), 0o755);
    await rename(fresh, folder);
  } catch (thrown) {
    await rm(fresh, { recursive: true, force: true });
    // Another process was faster; its files are the same.
    if (!existsSync(folder)) throw thrown;
  }
}
