import { z } from 'zod';
import { JSON_LIMITS, parseUntrustedJson } from '../model/index.ts';

/** Folders of installed packages that a working tree can have without being part of the repository. */
const TOP_FOLDERS = ['node_modules', '.venv', 'venv', 'vendor'] as const;

/** Maximum number of packages of a workspace whose own `node_modules` are looked for. Default. */
const MAX_PACKAGES = 200;

/** Paths at which a working tree may have installed packages: at its top, and beside each `package.json`. */
export function packageFolders(paths: readonly string[]): readonly string[] {
  const nested = paths
    .filter((path) => path.endsWith('/package.json') && !path.includes('node_modules/'))
    .slice(0, MAX_PACKAGES)
    .map((path) => path.replace(/package\.json$/, 'node_modules'));
  return [...TOP_FOLDERS, ...nested];
}

/** Where npm records what it installed. */
export const NPM_RECORD = 'node_modules/.package-lock.json';
export const NPM_LOCK = 'package-lock.json';

const Lock = z.looseObject({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      link: z.boolean().optional(),
      optional: z.boolean().optional(),
      devOptional: z.boolean().optional(),
      peer: z.boolean().optional(),
    }),
  ),
});
type LockedPackages = z.infer<typeof Lock>['packages'];

/** Lock files are long. */
const LOCK_LIMITS = { ...JSON_LIMITS, values: 5_000_000 };

/**
 * A package whose installed version is not the one of the lock file, as a clause: `the lock file names ms 2.1.3, and
 * 2.0.0 is installed`. Null if all are the same, or if one of the texts is not npm's. Packages that npm may leave out
 * (optional ones, peers) are not missed.
 */
export function staleNpmPackage(lockText: string, recordText: string): string | null {
  const [locked, installed] = [npmLockPackages(lockText), npmLockPackages(recordText)];
  if (locked === null || installed === null) return null;
  for (const [path, wanted] of Object.entries(locked)) {
    if (!path.includes('node_modules/') || wanted.link || wanted.version === undefined) continue;
    const found = installed[path];
    const name = `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${wanted.version}`;
    if (found === undefined) {
      if (wanted.optional || wanted.devOptional || wanted.peer) continue;
      return `the lock file names ${name}, which is not installed`;
    }
    if (found.version !== wanted.version)
      return `the lock file names ${name}, and ${found.version ?? 'another version'} is installed`;
  }
  return null;
}

/** The packages of a lock file or record of npm (version 2 or 3), by their folders; null if the text is neither. */
export function npmLockPackages(text: string): LockedPackages | null {
  const read = parseUntrustedJson(text, LOCK_LIMITS);
  const lock = read.kind === 'json' ? Lock.safeParse(read.value) : null;
  return lock?.success ? lock.data.packages : null;
}
