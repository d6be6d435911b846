import { APP, appJwt, okOrThrow } from './emulator.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  objectIn,
  textAt,
} from './json.ts';
import { simpleUser } from './push.ts';
import { fixResponse } from './response-fixes.ts';
import {
  errorResponse,
  hasAccess,
  paginate,
  type RestRequest,
  type RestResponse,
  type Route,
  repositoryRoute,
} from './route.ts';
import { type GitHubState, isRole, ownerToken, type Repository, repositoryById, roleOf } from './state.ts';

/** Mints an installation token; the front has to know it too. */
async function mint(state: GitHubState, request: RestRequest, installation = ''): Promise<RestResponse> {
  const installationId = Number(installation);
  const refusal = installationRefusal(state, installationId);
  if (refusal) return refusal;
  const wanted = objectIn(request.body).repository_ids;
  if (listAt({ wanted }, 'wanted').some((id) => state.withdrawn.has(Number(id)))) {
    return errorResponse(422, 'There is at least one repository that does not exist or is not accessible.');
  }
  const answer = await request.pass();
  if (answer.status !== 201 || !isObject(answer.data)) return answer;
  const permissions = objectAt(answer.data, 'permissions');
  state.tokens.set(textAt(answer.data, 'token'), {
    login: APP.botLogin,
    installationId,
    permissions: Object.fromEntries(Object.keys(permissions).map((key) => [key, textAt(permissions, key)])),
    expiresAt: Date.parse(textAt(answer.data, 'expires_at')),
  });
  if ('repositories' in answer.data) {
    const ids = listAt(answer.data, 'repositories').map((item) => numberAt(item, 'id') ?? 0);
    answer.data.repositories = await Promise.all(ids.map((id) => shown(state, id)));
  }
  return answer;
}

async function shown(state: GitHubState, id: number): Promise<Json> {
  const repository = repositoryById(state, id);
  if (!repository) throw new Error(`The emulator names a repository ${id} that is not ours.`);
  const token = ownerToken(state, repository);
  return fixResponse(state, await state.emulator.call('GET', `/repos/${repository.fullName}`, token));
}

async function revoke(state: GitHubState, request: RestRequest): Promise<RestResponse> {
  if (request.token === undefined || !request.holder?.permissions) {
    return errorResponse(403, 'You must authenticate with an installation access token.');
  }
  state.tokens.delete(request.token);
  return { status: 204 };
}

async function app(state: GitHubState, request: RestRequest): Promise<RestResponse> {
  const answer = await request.pass();
  if (!isObject(answer.data) || answer.status !== 200) return answer;
  return { ...answer, data: { ...answer.data, owner: state.app.owner } };
}

async function list(state: GitHubState, request: RestRequest): Promise<RestResponse> {
  const answer = await request.pass();
  return answer.status === 200 ? paginate(request, await installations(state)) : answer;
}

async function reachable(state: GitHubState, request: RestRequest): Promise<RestResponse> {
  const mine = request.holder?.installationId;
  if (mine === undefined)
    return errorResponse(403, 'You must authenticate with an installation access token.');
  const all = [...state.repositories.values()].filter(
    (repository) => repository.installationId === mine && isInstalled(state, repository),
  );
  const { data, ...answer } = paginate(request, await Promise.all(all.map(({ id }) => shown(state, id))));
  return { ...answer, data: { total_count: all.length, repositories: data ?? [] } };
}

export const appRoutes: readonly Route[] = [
  { method: 'POST', pattern: /^\/app\/installations\/(\d+)\/access_tokens$/, answer: mint },
  { method: 'DELETE', pattern: /^\/installation\/token$/, answer: revoke },
  { method: 'GET', pattern: /^\/app$/, answer: app },
  { method: 'GET', pattern: /^\/app\/installations$/, answer: list },
  { method: 'GET', pattern: /^\/installation\/repositories$/, answer: reachable },
];

const ROLE_NAMES = {
  admin: { permission: 'admin', role_name: 'admin' },
  maintain: { permission: 'write', role_name: 'maintain' },
  push: { permission: 'write', role_name: 'write' },
  triage: { permission: 'read', role_name: 'triage' },
  pull: { permission: 'read', role_name: 'read' },
} as const;

/** What a user may do here. Everybody may read a public repository. */
async function permission(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  login = '',
): Promise<RestResponse> {
  const seen = await okOrThrow(
    state.emulator.call('GET', `/repos/${repository.fullName}`, request.token ?? ''),
  );
  const account = await okOrThrow(
    state.emulator.call('GET', `/users/${login}`, ownerToken(state, repository)),
  );
  if (!seen || !isObject(account)) return errorResponse(404, 'Not Found');
  const role = roleOf(repository, decodeURIComponent(login)) ?? (repository.private ? null : 'pull');
  const names = role === null ? { permission: 'none', role_name: 'none' } : ROLE_NAMES[role];
  const user = { ...simpleUser(account), role_name: names.role_name };
  return { status: 200, data: await fixResponse(state, { ...names, user }) };
}

async function setRole(
  _inside: GitHubState,
  request: RestRequest,
  repository: Repository,
  login = '',
): Promise<RestResponse> {
  const answer = await request.pass();
  const role = textAt(objectIn(request.body), 'permission') || 'push';
  if (answer.status < 300 && isRole(role)) repository.collaborators.set(decodeURIComponent(login), role);
  return answer;
}

async function removeRole(
  _inside: GitHubState,
  request: RestRequest,
  repository: Repository,
  login = '',
): Promise<RestResponse> {
  const answer = await request.pass();
  if (answer.status < 300) repository.collaborators.delete(decodeURIComponent(login));
  return answer;
}

export const repositoryRoutes: readonly Route[] = [
  repositoryRoute('GET', '/collaborators/([^/]+)/permission', permission),
  repositoryRoute('PUT', '/collaborators/([^/]+)', setRole),
  repositoryRoute('DELETE', '/collaborators/([^/]+)', removeRole),
];

/** Every installation as REST and webhooks show it. */
export async function installations(state: GitHubState): Promise<readonly JsonObject[]> {
  const all = await state.emulator.call('GET', '/app/installations', appJwt(state.emulator.privateKey));
  const shown = listAt({ all }, 'all').map((each) => shownInstallation(state, objectAt({ each }, 'each')));
  return (await Promise.all(shown)).filter((each) => !state.uninstalled.has(numberAt(each, 'id') ?? 0));
}

async function shownInstallation(state: GitHubState, installation: JsonObject): Promise<JsonObject> {
  const login = textAt(installation, 'account', 'login');
  const account = await state.emulator.call('GET', `/users/${login}`, state.emulator.ownToken(login));
  const suspended = state.suspended.get(numberAt(installation, 'id') ?? 0);
  const shown = {
    ...installation,
    account: simpleUser(account),
    target_id: numberAt(account, 'id') ?? 0,
    suspended_at: suspended ?? null,
    suspended_by: suspended === undefined ? null : simpleUser(account),
  };
  return objectAt({ shown: await fixResponse(state, shown) }, 'shown');
}

/** How GitHub refuses what an installation may not do any more; undefined lets it through. */
export function installationRefusal(state: GitHubState, id: number): RestResponse | undefined {
  if (state.uninstalled.has(id)) return errorResponse(404, 'Not Found');
  return state.suspended.has(id) ? errorResponse(403, 'This installation has been suspended') : undefined;
}

/** Is this repository one that the App may reach through its installation? */
export const isInstalled = (state: GitHubState, repository: Repository): boolean =>
  repository.installationId !== 0 && !state.withdrawn.has(repository.id);

export async function suspend(state: GitHubState, id: number): Promise<void> {
  state.suspended.set(id, new Date().toISOString().replace(/\.\d+Z$/, 'Z'));
  await tell(state, id, 'installation', { action: 'suspend' });
}

export async function unsuspend(state: GitHubState, id: number): Promise<void> {
  state.suspended.delete(id);
  await tell(state, id, 'installation', { action: 'unsuspend' });
}

/** The owner removes the App: its tokens are void from now on. */
export async function uninstall(state: GitHubState, id: number): Promise<void> {
  await tell(state, id, 'installation', { action: 'deleted' });
  state.uninstalled.add(id);
  for (const [token, holder] of state.tokens) {
    if (holder.installationId === id) state.tokens.delete(token);
  }
}

/** The owner takes one repository out of the installation, or puts it back. */
export async function setInstalled(
  state: GitHubState,
  repository: Repository,
  installed: boolean,
): Promise<void> {
  if (installed) state.withdrawn.delete(repository.id);
  else state.withdrawn.add(repository.id);
  const brief = [await briefly(state, repository)];
  await tell(state, repository.installationId, 'installation_repositories', {
    action: installed ? 'added' : 'removed',
    repository_selection: 'selected',
    repositories_added: installed ? brief : [],
    repositories_removed: installed ? [] : brief,
    requester: null,
  });
}

async function tell(state: GitHubState, id: number, event: string, payload: JsonObject): Promise<void> {
  const installation = (await installations(state)).find((each) => each.id === id);
  if (!installation) throw new Error(`The local GitHub has no installation ${id}.`);
  const mine = [...state.repositories.values()].filter((each) => each.installationId === id);
  const repositories = await Promise.all(mine.map((each) => briefly(state, each)));
  state.hooks.deliver(event, {
    ...payload,
    installation,
    ...(event === 'installation' ? { repositories } : {}),
    sender: installation.account,
  });
}

async function briefly(state: GitHubState, repository: Repository): Promise<JsonObject> {
  const token = state.emulator.ownToken(repository.owner);
  const facts = await state.emulator.call('GET', `/repos/${repository.fullName}`, token);
  const { id, name, fullName: full_name } = repository;
  return { id, node_id: textAt(facts, 'node_id'), name, full_name, private: repository.private };
}

/** GraphQL's ids of the emulator's comments. */
const COMMENT_ID = /^0:IssueComment(\d+)$/;
const CLASSIFIERS: ReadonlySet<string> = new Set([
  'ABUSE',
  'DUPLICATE',
  'OFF_TOPIC',
  'OUTDATED',
  'RESOLVED',
  'SPAM',
]);

const answered = (data: Json): RestResponse => ({ status: 200, data });

/** GraphQL answers with success, and says in its answer what went wrong. */
const failed = (type: string, message: string): RestResponse =>
  answered({ data: { minimizeComment: null }, errors: [{ type, path: ['minimizeComment'], message }] });

/** The one mutation that exists here: folding a comment. */
async function graphql(state: GitHubState, request: RestRequest): Promise<RestResponse> {
  if (!request.holder) return errorResponse(401, 'This endpoint requires you to be authenticated.');
  const body = objectIn(request.body);
  if (!textAt(body, 'query').includes('minimizeComment')) {
    return answered({ errors: [{ message: 'The local GitHub knows the mutation minimizeComment only.' }] });
  }
  const subject = textAt(body, 'variables', 'subjectId');
  const classifier = textAt(body, 'variables', 'classifier');
  if (!CLASSIFIERS.has(classifier)) {
    return answered({ errors: [{ message: 'Variable $classifier was provided invalid value' }] });
  }
  const id = COMMENT_ID.exec(Buffer.from(subject, 'base64').toString())?.[1];
  const repository = id === undefined ? undefined : await holderOf(state, id);
  if (!repository || id === undefined) {
    return failed('NOT_FOUND', `Could not resolve to a node with the global id of '${subject}'.`);
  }
  const rights = request.holder.permissions;
  if ((rights && rights.issues !== 'write') || !hasAccess(repository, request, 'triage')) {
    return failed('FORBIDDEN', 'Resource not accessible by integration');
  }
  state.minimised.push({ repository: repository.fullName, comment: Number(id), classifier });
  return answered({ data: { minimizeComment: { minimizedComment: { isMinimized: true } } } });
}

async function holderOf(state: GitHubState, comment: string): Promise<Repository | undefined> {
  for (const repository of state.repositories.values()) {
    const path = `/repos/${repository.fullName}/issues/comments/${comment}`;
    const token = state.emulator.ownToken(repository.owner);
    if (await okOrThrow(state.emulator.call('GET', path, token))) return repository;
  }
  return undefined;
}

export const graphqlRoutes: readonly Route[] = [
  { method: 'POST', pattern: /^(?:\/api)?\/graphql$/, answer: graphql },
];
