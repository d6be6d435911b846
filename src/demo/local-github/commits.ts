import { branches, currentBranch, gitWithInput } from './git.ts';
import { hasRole, type Inside, type Repository } from './inside.ts';
import { takeOver } from './push.ts';

export interface Commit {
  readonly branch: string;
  /** By path; null removes a file. */
  readonly files: Readonly<Record<string, string | null>>;
  /** Branch that a new branch starts from. Default: the default branch. */
  readonly from?: string;
  readonly message?: string;
}

/** Puts one commit on a branch, as a push of this user would; resolves with its SHA. */
export async function commitTo(
  inside: Inside,
  repository: Repository,
  by: { readonly login: string; readonly token: string },
  commit: Commit,
): Promise<string> {
  if (!hasRole(repository, by.login, 'push')) {
    throw new Error(`${by.login} may not push to ${repository.fullName}.`);
  }
  return repository.inTurn(async () => {
    const { directory } = repository;
    const before = await branches(directory);
    const ref = `refs/heads/${commit.branch}`;
    const start = before[ref] ?? before[`refs/heads/${commit.from ?? (await currentBranch(directory))}`];
    if (start === undefined) throw new Error(`${repository.fullName} has no branch to start from.`);
    await gitWithInput(directory, streamOf(ref, start, by.login, commit), 'fast-import', '--quiet');
    await takeOver(inside, repository, before, by.token);
    return (await branches(directory))[ref] ?? '';
  });
}

/** The commit as `git fast-import` reads it. */
function streamOf(ref: string, start: string, login: string, { files, message = 'Change' }: Commit): string {
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const changes = Object.entries(files).map(([path, text]) =>
    text === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(text)}`,
  );
  const who = `committer ${login} <${login}@example.com> ${Math.floor(Date.now() / 1000)} +0000\n`;
  return `commit ${ref}\n${who}${data(`${message}\n`)}from ${start}\n${changes.join('')}\n`;
}
