import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { Fault, type Sha } from '../../core/model/index.ts';
import type { RepositorySource, Workspaces } from '../../ports/index.ts';
import { gitFault } from './faults.ts';
import { foreignSettings } from './foreign-settings.ts';
import type { Git, GitCall, GitDone } from './git.ts';
import { exists, hasCode, isSha, keyOf, namesIn } from './layout.ts';
import type { FileOwner } from './trees.ts';

import { firstUnwritable, userOf } from './trees.ts';

/** Milliseconds without data after which a remote counts as unreachable. */
export const REMOTE_SILENCE_MS = 10 * 60_000;

export async function keyOfSource(source: RepositorySource): Promise<string> {
  if (source.kind === 'local') return keyOf(`local:${await realOf(source.path)}`);
  return keyOf(`remote:${source.knownAs ?? source.url}`);
}

/** Fault: NOT_A_REPOSITORY if there is no such path. */
export async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR')) throw error;
    throw new Fault('NOT_A_REPOSITORY', `There is no folder ${path}.`);
  }
}

export async function fetchable(
  source: RepositorySource,
): Promise<{ readonly address: string; readonly call: Pick<GitCall, 'login' | 'silenceMs'> }> {
  if (source.kind === 'local') return { address: await realOf(source.path), call: {} };
  if (!/^https?:\/\/[^@]+$/.test(source.url)) {
    throw new Fault('INTERNAL', 'A remote is reached by an http or https URL without a login in it.');
  }
  const login = { url: source.url, credential: await source.credential() };
  return { address: source.url, call: { login, silenceMs: REMOTE_SILENCE_MS } };
}

/** The same source; its credential is requested only once, however often the remote is used. */
export function withOneLogin(source: RepositorySource): RepositorySource {
  if (source.kind === 'local') return source;
  let login: ReturnType<typeof source.credential> | null = null;
  const credential = (): ReturnType<typeof source.credential> => {
    login ??= source.credential();
    return login;
  };
  return { ...source, credential };
}

/** A branch first, then a tag, then whatever else git accepts as a commit, such as an abbreviated name or `HEAD~2`. */
export async function resolveLocal(host: Git, path: string, ref: string): Promise<Sha | null> {
  const git = inUserRepository(host);
  const cwd = await realOf(path);
  const env = NO_PARENT_REPOSITORY;
  const asked = await git({ cwd, args: ['rev-parse', '--git-dir'], env });
  if (asked.exitCode !== 0) {
    throw new Fault('NOT_A_REPOSITORY', `${path} is not the top folder of a git repository.`);
  }
  for (const name of [`refs/heads/${ref}`, `refs/tags/${ref}`, ref]) {
    const done = await git({ cwd, args: ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], env });
    const sha = done.stdout.trim();
    if (done.exitCode === 0 && isSha(sha)) return sha;
  }
  return null;
}

/**
 * Keeps git from using a repository in a parent folder. The parent is named as git resolves it, because a path with a
 * colon would be read as two entries.
 */
export const NO_PARENT_REPOSITORY = { GIT_CEILING_DIRECTORIES: '/proc/self/cwd/..' };

/** Rejects options, ranges and control characters; git itself rejects the rest. */
export function isRefLike(ref: string): boolean {
  return ref.length > 0 && ref.length <= 255 && !ref.startsWith('-') && !/[\s\p{Cc}:?*[\\]|\.\./u.test(ref);
}

/** Applies where a repository has no settings of its own, too: git starts the hooks in its folder without any. */
const STARTS_NOTHING = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  // Started where a repository has alternates; `:` is the shell's no-op.
  'core.alternateRefsCommand': ':',
  'gc.auto': '0',
  'maintenance.auto': 'false',
} as const;

/**
 * Git on the host in a repository of the user: none of its hooks, filters, monitors and commands is started, and
 * nothing is fetched over the network because objects are missing or a URL is rewritten.
 *
 * The filters of a submodule, which a git that is started in it would run, are not covered: callers of `status` ignore
 * changes inside submodules, and nobody calls `git add`, which looks for them always.
 */
export const inUserRepository =
  (git: Git): Git =>
  async (call) => {
    const env = { GIT_ALLOW_PROTOCOL: 'file', ...call.env };
    const theirs = await foreignSettings(git, { ...call, env });
    if (isDone(theirs)) return theirs;
    return git({ ...call, env, config: { ...theirs, ...STARTS_NOTHING, ...call.config } });
  };

const isDone = (end: GitDone | Readonly<Record<string, string>>): end is GitDone =>
  typeof end.exitCode === 'number';

/** We only read: git must not write the index back. */
export const READ_ONLY = { GIT_OPTIONAL_LOCKS: '0' };

/** Describes a local path. Reads the repository and writes nothing to it. */
export async function describeLocal(
  git: Git,
  path: string,
): Promise<Awaited<ReturnType<Workspaces['describe']>>> {
  const nowhere = new Fault('NOT_A_REPOSITORY', `${path} is not inside a git working tree.`);
  if (!(await isFolder(path))) throw new Fault('NOT_A_REPOSITORY', `There is no folder ${path}.`);
  const quiet = inUserRepository(git);
  const ask = (cwd: string, args: readonly string[], config: Readonly<Record<string, string>> = {}) =>
    quiet({ cwd, args, env: READ_ONLY, config });

  const found = await ask(path, ['rev-parse', '--show-toplevel']);
  const top = found.stdout.replace(/\n$/, '');
  if (found.exitCode !== 0 || top === '') throw nowhere;
  if (!(await isInside(path, top))) {
    throw new Fault(
      'NOT_A_REPOSITORY',
      `The git settings of ${path} name another folder, ${top}, as its working tree (core.worktree).`,
    );
  }
  const head = await ask(top, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  const branch = await ask(top, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
  const status = await ask(
    top,
    ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=dirty'],
    await userIgnores(git, top),
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

/** The folder of objects and branches, which all working trees of a repository share. */
async function commonFolder(ask: Ask, top: string): Promise<string> {
  const done = await ask(top, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
  if (done.exitCode !== 0) throw gitFault(`Reading the state of ${top}`, done);
  return done.stdout.replace(/\n$/, '');
}

/** Folders that a new branch writes to, including its objects and its log. */
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

async function unwritable(common: string, user: FileOwner): Promise<string | null> {
  const there: string[] = [];
  // An object is written to the folder of its first two digits. One of these may belong to root, if root once used git
  // here.
  const fans = (await namesIn(join(common, 'objects'))).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const name of [...WRITTEN, ...fans.map((fan) => join('objects', fan))]) {
    const folder = join(common, name);
    if (await exists(folder)) there.push(folder);
  }
  return firstUnwritable(there, user);
}

/** The only setting of the user that affects what counts as dirty: the global ignore file. */
export async function userIgnores(git: Git, cwd: string): Promise<Readonly<Record<string, string>>> {
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
