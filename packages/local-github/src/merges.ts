import { branches, currentBranch, git, gitWithInput } from './git.ts';
import { isObject, listAt, objectAt, objectIn, textAt } from './json.ts';
import { importCommits } from './push.ts';
import { errorResponse, hasAccess, type RestRequest, type RestResponse } from './route.ts';
import { type GitHubState, ownerToken, type Repository } from './state.ts';

/** Merges in the emulator and writes the same merge commit into git. */
export async function merge(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  number = '',
): Promise<RestResponse> {
  if (!hasAccess(repository, request, 'push'))
    return errorResponse(403, 'Resource not accessible by this account');
  return repository.mutex.runExclusive(async () => {
    const path = `/repos/${repository.fullName}/pulls/${number}`;
    const pull = objectAt(
      { pull: await state.emulator.call('GET', path, ownerToken(state, repository)) },
      'pull',
    );
    const base = `refs/heads/${textAt(pull, 'base', 'ref')}`;
    const refs = await branches(repository.directory);
    const tip = refs[`refs/heads/${textAt(pull, 'head', 'ref')}`];
    // The emulator takes the head's tree for the merge's: right only where the base has not moved since.
    if (tip === undefined || refs[base] !== textAt(pull, 'base', 'sha')) {
      return errorResponse(409, 'Head or base branch was modified. Review and try the merge again.');
    }
    const isMoved = tip !== textAt(pull, 'head', 'sha');
    // Its webhook already shows where the branch was.
    if (isMoved) repository.movedMerges.set(Number(number), { head: tip, merge: '' });
    const answer = await request.pass(objectIn(request.body));
    if (answer.status !== 200) {
      repository.movedMerges.delete(Number(number));
      return answer;
    }
    const sha = textAt(answer.data, 'sha');
    if (isMoved) {
      const merge = await mergeMoved(state, repository, base, { sha, tip });
      repository.movedMerges.set(Number(number), { head: tip, merge });
      Object.assign(answer.data as object, { sha: merge });
    } else await writeMerge(state, repository, base, sha);
    if (base === `refs/heads/${await currentBranch(repository.directory)}`) {
      await closeFixed(state, request, repository, textAt(pull, 'body'));
    }
    return answer;
  });
}

async function writeMerge(
  state: GitHubState,
  repository: Repository,
  base: string,
  sha: string,
): Promise<void> {
  const path = `/repos/${repository.fullName}/git/commits/${sha}`;
  const commit = await state.emulator.call('GET', path, ownerToken(state, repository));
  const person = (role: 'author' | 'committer'): string => {
    const seconds = Math.floor(Date.parse(textAt(commit, role, 'date')) / 1000);
    return `${role} ${textAt(commit, role, 'name')} <${textAt(commit, role, 'email')}> ${seconds} +0000`;
  };
  const parents = listAt(commit, 'parents').map((parent) => `parent ${textAt(parent, 'sha')}`);
  const header = [`tree ${textAt(commit, 'tree', 'sha')}`, ...parents, person('author'), person('committer')];
  const text = `${header.join('\n')}\n\n${textAt(commit, 'message').trimEnd()}\n`;
  const out = await gitWithInput(repository.directory, text, 'hash-object', '-t', 'commit', '-w', '--stdin');
  const written = out.toString().trim();
  if (written !== sha) throw new Error(`The emulator named a merge ${sha}; git names it ${written}.`);
  await git(repository.directory, 'update-ref', base, sha);
  repository.imported.add(sha);
}

/** In place of the emulator's merge of an earlier commit: the same merge of the commit that the branch is at now. */
async function mergeMoved(
  state: GitHubState,
  repository: Repository,
  base: string,
  { sha, tip }: { readonly sha: string; readonly tip: string },
): Promise<string> {
  const refs = `/repos/${repository.fullName}/git`;
  const token = ownerToken(state, repository);
  const stale = await state.emulator.call('GET', `${refs}/commits/${sha}`, token);
  const who = [
    '-c',
    `user.name=${textAt(stale, 'author', 'name')}`,
    '-c',
    `user.email=${textAt(stale, 'author', 'email')}`,
  ];
  const message = textAt(stale, 'message').trimEnd();
  const parents = ['-p', base, '-p', tip];
  const made = await git(
    repository.directory,
    ...who,
    'commit-tree',
    `${tip}^{tree}`,
    ...parents,
    '-m',
    message,
  );
  const merge = made.trim();
  await importCommits(state, repository, [[base, merge]], await branches(repository.directory));
  await git(repository.directory, 'update-ref', base, merge);
  await state.emulator.call('PATCH', `${refs}/${base}`, token, { sha: merge, force: true });
  return merge;
}

const CLOSING = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b/gi;

/** A merge into the default branch closes the issues that the pull request says it fixes. */
async function closeFixed(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  body: string,
): Promise<void> {
  const token = request.holder?.permissions ? ownerToken(state, repository) : (request.token ?? '');
  for (const [, number] of body.matchAll(CLOSING)) {
    const path = `/repos/${repository.fullName}/issues/${number}`;
    const answer = await state.emulator.raw('GET', path, { authorization: `token ${token}` });
    const issue = objectIn(answer.body.toString());
    if (isObject(issue) && issue.state === 'open') {
      await state.emulator.call('PATCH', path, token, { state: 'closed' });
    }
  }
}
