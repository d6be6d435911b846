import { randomUUID } from 'node:crypto';
import { ApiError } from './emulator.ts';
import { type Json, type JsonObject, listAt, numberAt, objectAt, objectIn, textAt } from './json.ts';
import { simpleUser } from './push.ts';
import { fixResponse, pullAsIssue, pullAt } from './response-fixes.ts';
import {
  errorResponse,
  forbidden,
  hasAccess,
  paginate,
  passEdit,
  type RestRequest,
  type RestResponse,
  type Route,
  repositoryRoute,
} from './route.ts';
import { type GitHubState, ownerToken, type Repository } from './state.ts';

/** Every pull request can be read as an issue. */
async function issue(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  number = '',
): Promise<RestResponse> {
  const answer = await request.pass();
  if (answer.status !== 404) return answer;
  const pull = await pullAt(state, repository, Number(number));
  return pull ? { status: 200, data: await fixResponse(state, pullAsIssue(pull)) } : answer;
}

/** Labels of a new issue count only when its author may label, and are announced one by one. */
async function newIssue(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
): Promise<RestResponse> {
  const { labels, ...body } = objectIn(request.body);
  const answer = await request.pass(body);
  const wanted = listAt({ labels }, 'labels');
  if (answer.status !== 201 || wanted.length === 0 || !hasAccess(repository, request, 'triage'))
    return answer;
  const path = `/repos/${repository.fullName}/issues/${numberAt(answer.data, 'number')}`;
  const token = request.token ?? '';
  await state.emulator.call('POST', `${path}/labels`, token, { labels: wanted });
  return { ...answer, data: await fixResponse(state, await state.emulator.call('GET', path, token)) };
}

const needsPush = async (
  _inside: GitHubState,
  request: RestRequest,
  repository: Repository,
): Promise<RestResponse | undefined> => (hasAccess(repository, request, 'push') ? undefined : forbidden());

/** Writers may edit and delete what others wrote; everybody else only their own. */
const byAuthor =
  (kind: 'issues' | 'issues/comments') =>
  async (
    state: GitHubState,
    request: RestRequest,
    repository: Repository,
    id = '',
  ): Promise<RestResponse> => {
    const path = `/repos/${repository.fullName}/${kind}/${id}`;
    const before = await state.emulator.call('GET', path, ownerToken(state, repository));
    const own = textAt(before, 'user', 'login') === request.holder?.login;
    const least = kind === 'issues' ? 'triage' : 'push';
    return own || hasAccess(repository, request, least) ? passEdit(state, request, before) : forbidden();
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

/** Sets or takes off labels. The emulator forgets who did it to a pull request, so that is kept here. */
async function change(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  number = '',
): Promise<RestResponse | undefined> {
  if (!hasAccess(repository, request, 'triage')) return forbidden();
  const before = await labelsOf(state, repository, number);
  if (!before) return undefined;
  const answer = await request.pass();
  const after = (await labelsOf(state, repository, number)) ?? before;
  const without = (some: readonly JsonObject[], others: readonly JsonObject[]) =>
    some.filter((label) => others.every((other) => other.name !== label.name));
  for (const label of without(before, after))
    await keep(state, request, repository, number, 'unlabeled', label);
  for (const label of without(after, before))
    await keep(state, request, repository, number, 'labeled', label);
  return answer;
}

/** Null where it is not a pull request. */
async function labelsOf(
  state: GitHubState,
  repository: Repository,
  number: string,
): Promise<readonly JsonObject[] | null> {
  const pull = await pullAt(state, repository, Number(number));
  return pull && listAt(pull, 'labels').map((label) => objectAt({ label }, 'label'));
}

async function keep(
  state: GitHubState,
  request: RestRequest,
  { id: repositoryId, fullName }: Repository,
  number: string,
  event: 'labeled' | 'unlabeled',
  label: JsonObject,
): Promise<void> {
  const login = encodeURIComponent(request.holder?.login ?? '');
  const actor = await state.emulator.call('GET', `/users/${login}`, request.token ?? '');
  const id = 1_000_000 + state.pullEvents.length;
  const shown = {
    id,
    node_id: randomUUID(),
    url: `${state.baseUrl}/repos/${fullName}/issues/events/${id}`,
    actor: simpleUser(actor),
    event,
    commit_id: null,
    commit_url: null,
    created_at: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    performed_via_github_app: null,
    label: { name: textAt(label, 'name'), color: textAt(label, 'color') },
  };
  await fixResponse(state, shown);
  state.pullEvents.push({ repositoryId, number: Number(number), shown });
}

async function list(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  number = '',
): Promise<RestResponse | undefined> {
  if (!(await pullAt(state, repository, Number(number)))) return undefined;
  const own = state.pullEvents.filter(
    (one) => one.repositoryId === repository.id && one.number === Number(number),
  );
  return paginate(
    request,
    own.map(({ shown }) => shown),
  );
}

export const labelEventRoutes: readonly Route[] = [
  repositoryRoute('POST', '/issues/(\\d+)/labels', change),
  repositoryRoute('PUT', '/issues/(\\d+)/labels', change),
  repositoryRoute('DELETE', '/issues/(\\d+)/labels(?:/[^/]+)?', change),
  repositoryRoute('GET', '/issues/(\\d+)/events', list),
];

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

/** What a reaction is put on, by the path that it is put there with. */
const TARGETS: Readonly<Record<string, string>> = {
  issues: 'issues',
  'issues/comments': 'comments',
  'pulls/comments': 'review-comments',
};

/** Who may see an issue or comment may react to it; an App needs the right to write issues. */
async function react(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  kind = '',
  id = '',
): Promise<RestResponse> {
  const target = `${TARGETS[kind] ?? ''}/${id}`;
  const missing = await unseen(state, request, repository, kind, id);
  if (missing) return missing;
  const right = kind === 'pulls/comments' ? 'pull_requests' : 'issues';
  if (request.holder?.permissions && request.holder.permissions[right] !== 'write') return forbidden();
  const content = textAt(objectIn(request.body), 'content');
  if (!REACTIONS.has(content)) return errorResponse(422, 'Validation Failed');
  const login = request.holder?.login ?? '';
  const mine = state.reactions.find(
    (r) =>
      r.repository === repository.fullName &&
      r.target === target &&
      r.content === content &&
      r.login === login,
  );
  if (mine) return { status: 200, data: mine.shown };
  const account = await state.emulator.call(
    'GET',
    `/users/${encodeURIComponent(login)}`,
    ownerToken(state, repository),
  );
  const shown = {
    id: state.reactions.length + 1,
    node_id: `REA_${state.reactions.length + 1}`,
    user: await fixResponse(state, simpleUser(account)),
    content,
    created_at: new Date().toISOString(),
  };
  state.reactions.push({ repository: repository.fullName, target, content, login, shown });
  return { status: 201, data: shown };
}

async function reactions(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  kind = '',
  id = '',
): Promise<RestResponse> {
  const missing = await unseen(state, request, repository, kind, id);
  if (missing) return missing;
  const target = `${TARGETS[kind] ?? ''}/${id}`;
  const all = state.reactions.filter((r) => r.repository === repository.fullName && r.target === target);
  return { status: 200, data: all.map((r) => r.shown) };
}

/** The refusal that whoever asks gets for an issue or comment that is not there for them. */
async function unseen(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  kind: string,
  id: string,
): Promise<RestResponse | undefined> {
  if (request.token === undefined) return errorResponse(401, 'Requires authentication');
  const at = `/repos/${repository.fullName}`;
  try {
    await state.emulator.call('GET', `${at}/${kind}/${id}`, request.token);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isPull = kind === 'issues' && (await pullAt(state, repository, Number(id))) !== null;
    return isPull ? undefined : { status: error.status, data: error.data as Json };
  }
}

const PATH = '/(issues|issues/comments|pulls/comments)/(\\d+)/reactions';

export const reactionRoutes: readonly Route[] = [
  repositoryRoute('POST', PATH, react),
  repositoryRoute('GET', PATH, reactions),
];
