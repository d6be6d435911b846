import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fault, type Sha } from '../../core/model/index.ts';
import type { RepositorySource } from '../../ports/index.ts';
import type { Git, GitCall } from './git.ts';
import { hasCode, isSha, keyOf } from './layout.ts';
import { inUserRepository } from './user-repository.ts';

/** A remote that says nothing for this long, milliseconds, is taken as gone. */
export const SILENCE_MS = 10 * 60_000;

export async function keyOfSource(source: RepositorySource): Promise<string> {
  if (source.kind === 'local') return keyOf(`local:${await realOf(source.path)}`);
  return keyOf(`remote:${source.knownAs ?? source.url}`);
}

async function realOf(path: string): Promise<string> {
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
  return { address: source.url, call: { login, silenceMs: SILENCE_MS } };
}

/** The same source, whose credential is asked for once however often the remote is. */
export function withOneLogin(source: RepositorySource): RepositorySource {
  if (source.kind === 'local') return source;
  let login: ReturnType<typeof source.credential> | null = null;
  const credential = (): ReturnType<typeof source.credential> => {
    login ??= source.credential();
    return login;
  };
  return { ...source, credential };
}

/** Branch before tag before whatever else git takes for a commit, such as an abbreviated name or `HEAD~2`. */
export async function resolveLocal(host: Git, path: string, ref: string): Promise<Sha | null> {
  const git = inUserRepository(host);
  const cwd = await realOf(path);
  const env = { GIT_CEILING_DIRECTORIES: dirname(cwd) };
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

/** Keeps options, ranges and control characters away from git; git itself says no to the rest. */
export function isRefLike(ref: string): boolean {
  return ref.length > 0 && ref.length <= 255 && !ref.startsWith('-') && !/[\s\p{Cc}:?*[\\]|\.\./u.test(ref);
}
