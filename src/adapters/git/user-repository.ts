import type { Git, GitCall } from './git.ts';

/**
 * Settings of the repository that start programs, switched off for one call. A repository on the user's disk may be an
 * archive of a stranger's, with its `.git/config`.
 */
const STARTS_NOTHING = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  // Started by a fetch into a repository with alternates; `:` is the shell's own command that does nothing.
  'core.alternateRefsCommand': ':',
  'gc.auto': '0',
  'maintenance.auto': 'false',
} as const;

/**
 * Host git in a repository of the user's: none of its hooks, monitors and commands is started, and nothing is fetched
 * over the network because objects are missing or an address is rewritten.
 */
export const inUserRepository =
  (git: Git): Git =>
  (call) =>
    git({
      ...call,
      env: { GIT_ALLOW_PROTOCOL: 'file', ...call.env },
      config: { ...STARTS_NOTHING, ...call.config },
    });

/** Settings by which `git status` runs no filter of the repository: it would to compare files whose dates have changed. */
export async function withoutFilters(
  git: Git,
  cwd: string,
  env: NonNullable<GitCall['env']>,
): Promise<Readonly<Record<string, string>>> {
  const args = [
    'config',
    '--null',
    '--name-only',
    '--get-regexp',
    '^filter\\..*\\.(clean|process|required)$',
  ];
  const done = await git({ cwd, args, env });
  const keys = done.stdout.split('\0').filter((key) => key !== '');
  return Object.fromEntries(keys.map((key) => [key, key.endsWith('.required') ? 'false' : '']));
}
