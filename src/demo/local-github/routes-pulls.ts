import { branches, currentBranch, git, gitWithInput } from './git.ts';
import { type Inside, ownerToken, type Repository } from './inside.ts';
import { isObject, listAt, objectAt, objectIn, textAt } from './json.ts';
import { pullAt, repaired } from './repairs.ts';
import { type Answer, type Asked, mayAct, passEdit, type Route, refused, repositoryRoute } from './route.ts';

const invalid = (field: 'head' | 'base', message?: string): Answer =>
  refused(422, 'Validation Failed', [
    { resource: 'PullRequest', field, ...(message ? { code: 'custom', message } : { code: 'invalid' }) },
  ]);

/** A pull request needs two branches that exist, commits between them, and no twin. */
async function open(inside: Inside, asked: Asked, repository: Repository): Promise<Answer | undefined> {
  const body = objectIn(asked.body);
  const base = textAt(body, 'base');
  const [head = '', owner = repository.owner] = textAt(body, 'head').split(':').reverse();
  if (!(await branches(repository.directory))[`refs/heads/${base}`]) return invalid('base');
  const from = owner === repository.owner ? repository : forkOf(inside, repository, owner);
  const refs = from ? await branches(from.directory) : {};
  if (!from || !refs[`refs/heads/${head}`]) return invalid('head');
  const range = `refs/heads/${base}..refs/heads/${head}`;
  const count = Number(await git(from.directory, 'rev-list', '--count', range));
  if (count === 0) return invalid('head', `No commits between ${base} and ${head}`);
  const label = `${owner}:${head}`;
  const query = new URLSearchParams({ state: 'open', base, head: label });
  const path = `/repos/${repository.fullName}/pulls?${query}`;
  const twins = await inside.emulator.call('GET', path, ownerToken(inside, repository));
  if (listAt({ twins }, 'twins').length === 0) return undefined;
  return invalid('head', `A pull request already exists for ${label}.`);
}

const forkOf = (inside: Inside, repository: Repository, owner: string): Repository | undefined =>
  [...inside.repositories.values()].find((each) => each.owner === owner && each.forkOf === repository.id);

async function edit(
  inside: Inside,
  asked: Asked,
  repository: Repository,
  number = '',
): Promise<Answer | undefined> {
  const pull = await pullAt(inside, repository, Number(number));
  if (!pull) return undefined;
  const own = textAt(pull, 'user', 'login') === asked.holder?.login;
  return own || mayAct(repository, asked, 'push')
    ? passEdit(inside, asked, pull)
    : refused(403, 'Resource not accessible by this account');
}

/** A review that is made at once is answered as one that is there. */
async function review(_inside: Inside, asked: Asked): Promise<Answer> {
  const answer = await asked.pass();
  return answer.status === 201 ? { ...answer, status: 200 } : answer;
}

async function files(inside: Inside, _asked: Asked, repository: Repository, number = ''): Promise<Answer> {
  const pull = await pullAt(inside, repository, Number(number));
  if (!pull) return refused(404, 'Not Found');
  const range = `${textAt(pull, 'base', 'ref')}...${textAt(pull, 'head', 'sha')}`;
  const path = `/repos/${repository.fullName}/compare/${range}`;
  const compared = await inside.emulator.call('GET', path, ownerToken(inside, repository));
  return { status: 200, data: await repaired(inside, [...listAt(compared, 'files')]) };
}

/** Merges in the emulator and writes the same merge commit into git. */
async function merge(inside: Inside, asked: Asked, repository: Repository, number = ''): Promise<Answer> {
  if (!mayAct(repository, asked, 'push')) return refused(403, 'Resource not accessible by this account');
  return repository.inTurn(async () => {
    const path = `/repos/${repository.fullName}/pulls/${number}`;
    const pull = objectAt(
      { pull: await inside.emulator.call('GET', path, ownerToken(inside, repository)) },
      'pull',
    );
    const base = `refs/heads/${textAt(pull, 'base', 'ref')}`;
    const refs = await branches(repository.directory);
    const tip = refs[`refs/heads/${textAt(pull, 'head', 'ref')}`];
    // The emulator takes the head's tree for the merge's: right only where neither branch has moved since.
    if (tip !== textAt(pull, 'head', 'sha') || refs[base] !== textAt(pull, 'base', 'sha')) {
      return refused(409, 'Head or base branch was modified. Review and try the merge again.');
    }
    const answer = await asked.pass(objectIn(asked.body));
    if (answer.status !== 200) return answer;
    await writeMerge(inside, repository, base, textAt(answer.data, 'sha'));
    if (base === `refs/heads/${await currentBranch(repository.directory)}`) {
      await closeFixed(inside, asked, repository, textAt(pull, 'body'));
    }
    return answer;
  });
}

async function writeMerge(inside: Inside, repository: Repository, base: string, sha: string): Promise<void> {
  const path = `/repos/${repository.fullName}/git/commits/${sha}`;
  const commit = await inside.emulator.call('GET', path, ownerToken(inside, repository));
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

const CLOSING = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b/gi;

/** A merge into the default branch closes the issues that the pull request says it fixes. */
async function closeFixed(inside: Inside, asked: Asked, repository: Repository, body: string): Promise<void> {
  const token = asked.holder?.permissions ? ownerToken(inside, repository) : (asked.token ?? '');
  for (const [, number] of body.matchAll(CLOSING)) {
    const path = `/repos/${repository.fullName}/issues/${number}`;
    const answer = await inside.emulator.raw('GET', path, { authorization: `token ${token}` });
    const issue = objectIn(answer.body.toString());
    if (isObject(issue) && issue.state === 'open') {
      await inside.emulator.call('PATCH', path, token, { state: 'closed' });
    }
  }
}

export const pullRoutes: readonly Route[] = [
  repositoryRoute('POST', '/pulls', open),
  repositoryRoute('PATCH', '/pulls/(\\d+)', edit),
  repositoryRoute('POST', '/pulls/\\d+/reviews', review),
  repositoryRoute('GET', '/pulls/(\\d+)/files', files),
  repositoryRoute('PUT', '/pulls/(\\d+)/merge', merge),
];
