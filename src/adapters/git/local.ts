import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import type { Workspaces } from '../../ports/index.ts';
import { gitFault } from './faults.ts';
import type { Git, GitDone, Owner } from './git.ts';
import { exists, namesIn } from './layout.ts';
import { firstUnwritable, userOf } from './tools.ts';
import { inUserRepository, withoutFilters } from './user-repository.ts';

/** We only look: git shall not write the index back. */
const LOOKING = { GIT_OPTIONAL_LOCKS: '0' };

/** What stands at a local path; reads the repository and writes nothing to it. */
export async function describeLocal(
  git: Git,
  path: string,
): Promise<Awaited<ReturnType<Workspaces['describe']>>> {
  const nowhere = new Fault('NOT_A_REPOSITORY', `${path} is not inside a git work tree.`);
  if (!(await isFolder(path))) throw nowhere;
  const quiet = inUserRepository(git);
  const ask = (cwd: string, args: readonly string[], config: Readonly<Record<string, string>> = {}) =>
    quiet({ cwd, args, env: LOOKING, config });

  const found = await ask(path, ['rev-parse', '--show-toplevel']);
  const top = found.stdout.replace(/\n$/, '');
  if (found.exitCode !== 0 || top === '') throw nowhere;
  if (!(await isInside(path, top))) {
    throw new Fault(
      'NOT_A_REPOSITORY',
      `The git settings of ${path} name another folder, ${top}, as its work tree (core.worktree).`,
    );
  }
  const head = await ask(top, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  const branch = await ask(top, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
  const status = await ask(
    top,
    ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=dirty'],
    { ...(await userIgnores(git, top)), ...(await withoutFilters(quiet, top, LOOKING)) },
  );
  if (status.exitCode !== 0) throw gitFault(`Reading the state of ${top}`, status);
  return {
    top,
    dirty: status.stdout !== '',
    branch: branch.exitCode === 0 ? branch.stdout.trim() : null,
    empty: head.exitCode !== 0,
    unwritable: await unwritable(await commonFolder(ask, top), await userOf(top)),
  };
}

type Ask = (cwd: string, args: readonly string[]) => Promise<GitDone>;

/** Where objects and branches are; the same for all work trees of a repository. */
async function commonFolder(ask: Ask, top: string): Promise<string> {
  const done = await ask(top, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
  if (done.exitCode !== 0) throw gitFault(`Reading the state of ${top}`, done);
  return done.stdout.replace(/\n$/, '');
}

/** Folders that a new branch of ours writes to, its objects and its log included. */
const WRITTEN = [
  '.',
  'objects',
  'objects/pack',
  'refs/heads',
  'refs/heads/auto-dev',
  'logs',
  'logs/refs/heads',
  'logs/refs/heads/auto-dev',
];

async function unwritable(common: string, user: Owner): Promise<string | null> {
  const there: string[] = [];
  // An object goes to the folder of its first two digits; one of these is foreign where root once used git here.
  const fans = (await namesIn(join(common, 'objects'))).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const name of [...WRITTEN, ...fans.map((fan) => join('objects', fan))]) {
    const folder = join(common, name);
    if (await exists(folder)) there.push(folder);
  }
  return firstUnwritable(there, user);
}

/** The one setting of the user's own that decides what counts as dirty: the ignore file for all their repositories. */
async function userIgnores(git: Git, cwd: string): Promise<Readonly<Record<string, string>>> {
  const home = homedir();
  for (const file of [join(home, '.gitconfig'), join(home, '.config/git/config')]) {
    if (!(await exists(file))) continue;
    const args = ['config', '--file', file, '--type=path', '--get', 'core.excludesFile'];
    const done = await git({ cwd, args, env: { HOME: home } });
    if (done.exitCode === 0) return { 'core.excludesFile': done.stdout.trim() };
  }
  const byDefault = join(home, '.config/git/ignore');
  return (await exists(byDefault)) ? { 'core.excludesFile': byDefault } : {};
}

async function isInside(path: string, folder: string): Promise<boolean> {
  const way = relative(await realpath(folder), await realpath(path));
  return way !== '..' && !way.startsWith(`..${sep}`);
}

async function isFolder(path: string): Promise<boolean> {
  return exists(join(path, '.'));
}
