import { type Inside, ownerToken, type Repository } from './inside.ts';
import { listAt, numberAt, objectIn, textAt } from './json.ts';
import { pullAsIssue, pullAt, repaired } from './repairs.ts';
import {
  type Answer,
  type Asked,
  forbidden,
  mayAct,
  passEdit,
  type Route,
  repositoryRoute,
} from './route.ts';

/** Every pull request can be read as an issue. */
async function issue(inside: Inside, asked: Asked, repository: Repository, number = ''): Promise<Answer> {
  const answer = await asked.pass();
  if (answer.status !== 404) return answer;
  const pull = await pullAt(inside, repository, Number(number));
  return pull ? { status: 200, data: await repaired(inside, pullAsIssue(pull)) } : answer;
}

/** Labels of a new issue count only when its author may label, and are announced one by one. */
async function newIssue(inside: Inside, asked: Asked, repository: Repository): Promise<Answer> {
  const { labels, ...body } = objectIn(asked.body);
  const answer = await asked.pass(body);
  const wanted = listAt({ labels }, 'labels');
  if (answer.status !== 201 || wanted.length === 0 || !mayAct(repository, asked, 'triage')) return answer;
  const path = `/repos/${repository.fullName}/issues/${numberAt(answer.data, 'number')}`;
  const token = asked.token ?? '';
  await inside.emulator.call('POST', `${path}/labels`, token, { labels: wanted });
  return { ...answer, data: await repaired(inside, await inside.emulator.call('GET', path, token)) };
}

const needsPush = async (
  _inside: Inside,
  asked: Asked,
  repository: Repository,
): Promise<Answer | undefined> => (mayAct(repository, asked, 'push') ? undefined : forbidden());

/** Writers may edit and delete what others wrote; everybody else only their own. */
const byAuthor =
  (kind: 'issues' | 'issues/comments') =>
  async (inside: Inside, asked: Asked, repository: Repository, id = ''): Promise<Answer> => {
    const path = `/repos/${repository.fullName}/${kind}/${id}`;
    const before = await inside.emulator.call('GET', path, ownerToken(inside, repository));
    const own = textAt(before, 'user', 'login') === asked.holder?.login;
    const least = kind === 'issues' ? 'triage' : 'push';
    return own || mayAct(repository, asked, least) ? passEdit(inside, asked, before) : forbidden();
  };

export const issueRoutes: readonly Route[] = [
  repositoryRoute('GET', '/issues/(\\d+)', issue),
  repositoryRoute('POST', '/issues', newIssue),
  repositoryRoute('PATCH', '/issues/(\\d+)', byAuthor('issues')),
  repositoryRoute('PATCH', '/issues/comments/(\\d+)', byAuthor('issues/comments')),
  repositoryRoute('DELETE', '/issues/comments/(\\d+)', byAuthor('issues/comments')),
  repositoryRoute('POST', '/labels', needsPush),
  repositoryRoute('DELETE', '/labels/[^/]+', needsPush),
];
