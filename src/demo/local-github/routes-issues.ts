import { Refusal } from './emulator.ts';
import { type Inside, ownerToken, type Repository } from './inside.ts';
import { type Json, listAt, numberAt, objectIn, textAt } from './json.ts';
import { simpleUser } from './push.ts';
import { pullAsIssue, pullAt, repaired } from './repairs.ts';
import { type Answer, type Asked, mayAct, passEdit, type Route, refused, repositoryRoute } from './route.ts';

const REACTIONS: ReadonlySet<string> = new Set([
  '+1',
  '-1',
  'laugh',
  'confused',
  'heart',
  'hooray',
  'rocket',
  'eyes',
]);

const forbidden = (): Answer => refused(403, 'Resource not accessible by this account');

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

const needsTriage = async (
  _inside: Inside,
  asked: Asked,
  repository: Repository,
): Promise<Answer | undefined> => (mayAct(repository, asked, 'triage') ? undefined : forbidden());

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

/** Who may see an issue or comment may react to it; an App needs the right to write issues. */
async function react(
  inside: Inside,
  asked: Asked,
  repository: Repository,
  comment = '',
  id = '',
): Promise<Answer> {
  const target = `${comment ? 'comments' : 'issues'}/${id}`;
  const missing = await unseen(inside, asked, repository, comment, id);
  if (missing) return missing;
  if (asked.holder?.permissions && asked.holder.permissions.issues !== 'write') return forbidden();
  const content = textAt(objectIn(asked.body), 'content');
  if (!REACTIONS.has(content)) return refused(422, 'Validation Failed');
  const login = asked.holder?.login ?? '';
  const mine = inside.reactions.find(
    (r) =>
      r.repository === repository.fullName &&
      r.target === target &&
      r.content === content &&
      r.login === login,
  );
  if (mine) return { status: 200, data: mine.shown };
  const account = await inside.emulator.call(
    'GET',
    `/users/${encodeURIComponent(login)}`,
    ownerToken(inside, repository),
  );
  const shown = {
    id: inside.reactions.length + 1,
    node_id: `REA_${inside.reactions.length + 1}`,
    user: await repaired(inside, simpleUser(account)),
    content,
    created_at: new Date().toISOString(),
  };
  inside.reactions.push({ repository: repository.fullName, target, content, login, shown });
  return { status: 201, data: shown };
}

async function reactions(
  inside: Inside,
  asked: Asked,
  repository: Repository,
  comment = '',
  id = '',
): Promise<Answer> {
  const missing = await unseen(inside, asked, repository, comment, id);
  if (missing) return missing;
  const target = `${comment ? 'comments' : 'issues'}/${id}`;
  const all = inside.reactions.filter((r) => r.repository === repository.fullName && r.target === target);
  return { status: 200, data: all.map((r) => r.shown) };
}

/** The refusal that whoever asks gets for an issue or comment that is not there for them. */
async function unseen(
  inside: Inside,
  asked: Asked,
  repository: Repository,
  comment: string,
  id: string,
): Promise<Answer | undefined> {
  if (asked.token === undefined) return refused(401, 'Requires authentication');
  const at = `/repos/${repository.fullName}`;
  try {
    await inside.emulator.call('GET', `${at}/issues/${comment}${id}`, asked.token);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const isPull = comment === '' && (await pullAt(inside, repository, Number(id))) !== null;
    return isPull ? undefined : { status: error.status, data: error.data as Json };
  }
}

export const issueRoutes: readonly Route[] = [
  repositoryRoute('GET', '/issues/(\\d+)', issue),
  repositoryRoute('POST', '/issues', newIssue),
  repositoryRoute('PATCH', '/issues/(\\d+)', byAuthor('issues')),
  repositoryRoute('PATCH', '/issues/comments/(\\d+)', byAuthor('issues/comments')),
  repositoryRoute('DELETE', '/issues/comments/(\\d+)', byAuthor('issues/comments')),
  repositoryRoute('POST', '/issues/\\d+/labels', needsTriage),
  repositoryRoute('PUT', '/issues/\\d+/labels', needsTriage),
  repositoryRoute('DELETE', '/issues/\\d+/labels(?:/[^/]+)?', needsTriage),
  repositoryRoute('POST', '/labels', needsPush),
  repositoryRoute('DELETE', '/labels/[^/]+', needsPush),
  repositoryRoute('POST', '/issues/(comments/)?(\\d+)/reactions', react),
  repositoryRoute('GET', '/issues/(comments/)?(\\d+)/reactions', reactions),
];
