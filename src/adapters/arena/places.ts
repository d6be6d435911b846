import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Fault } from '../../core/model/index.ts';

/** What the paths in a contest may lead to. All of them may go through links: where they lead to decides. */
export interface Places {
  /** The real path; null if there is nothing. Fault: CONTEST_INVALID if it is not the contest's to read. */
  readable(path: string): Promise<string | null>;
  /** Fault: CONTEST_INVALID unless the path, which need not exist, is in the contest's folder. */
  requireOwn(path: string): Promise<void>;
  /** Fault: CONTEST_INVALID unless the repository is the one around the contest, or the one that the user named. */
  requireRepository(path: string): Promise<void>;
}

interface PlacesOptions {
  /** Of the contest. */
  readonly root: string;
  readonly dataDir: string;
  /** The folder of contests in the data folder. */
  readonly contests: string;
  /** A path in the repository that the user named. */
  readonly repository?: string;
}

/** Fault: CONTEST_INVALID if the contest's folder is in the data folder and not one of its contests. */
export async function placesOf({ root: given, ...options }: PlacesOptions): Promise<Places> {
  const root = await leadsTo(given);
  const data = await leadsTo(options.dataDir);
  const isInData = isInside(root, data);
  if (
    isInData &&
    (!isInside(root, await leadsTo(options.contests)) || root === (await leadsTo(options.contests)))
  )
    throw new Fault(
      'CONTEST_INVALID',
      `${given} is in Runoff's data folder and no contest. Choose another folder.`,
    );
  const around = isInData ? null : await repositoryAround(root);
  const named =
    options.repository === undefined ? null : await repositoryAround(await leadsTo(options.repository));
  const outside = (path: string, real: string): Fault =>
    new Fault(
      'CONTEST_INVALID',
      `The contest names ${path}${real === path ? '' : `, which is ${real}`}. A contest may read its own folder${around === null ? '' : ` and the working tree around it, ${around}`}, and nothing else. Copy what it needs into ${root}.`,
    );
  return {
    async readable(path) {
      const real = await leadsTo(path);
      const isOwn = isInside(real, root) && !(around !== null && isInside(data, real));
      const isAround = around !== null && isInside(real, around);
      const isData = !isInData && (isInside(real, data) || isInside(data, real));
      if ((!isOwn && !isAround) || isData || isInGit(real)) throw outside(path, real);
      return (await lstatOf(real)) === null ? null : real;
    },
    async requireOwn(path) {
      const real = await leadsTo(path);
      if (!isInside(real, root)) throw outside(path, real);
    },
    async requireRepository(path) {
      const top = await repositoryAround(await leadsTo(path));
      if (top !== null && (top === around || top === named)) return;
      throw new Fault(
        'CONTEST_INVALID',
        `The contest names the repository ${path}, which is neither the one around the contest nor the one in which the command was started. If contestants and their models may see it, pass --repo ${path}.`,
      );
    },
  };
}

/** Whether a path is a folder or below it. Both are real. */
export const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

const isInGit = (real: string): boolean => real.split(sep).some((part) => part.toLowerCase() === '.git');

/** Where a path leads to; what does not exist of it stays as it is. */
export async function leadsTo(path: string): Promise<string> {
  const whole = resolve(path);
  for (let at = whole; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => null);
    if (real !== null) return join(real, relative(at, whole));
    // A link that leads nowhere now might lead somewhere later.
    if ((await lstatOf(at))?.isSymbolicLink())
      throw new Fault('CONTEST_INVALID', `${at} is a link that leads nowhere; remove it.`);
    if (at === dirname(at)) return whole;
  }
}

const lstatOf = (path: string) => lstat(path).catch(() => null);

/** The next folder above that has a `.git`, as a folder or file; null if there is none. */
async function repositoryAround(real: string): Promise<string | null> {
  for (let at = real; ; at = dirname(at)) {
    if ((await lstatOf(join(at, '.git'))) !== null) return at;
    if (at === dirname(at)) return null;
  }
}
