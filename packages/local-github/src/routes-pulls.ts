import { branches, git } from './git.ts';
import { type JsonObject, listAt, numberAt, objectAt, objectIn, textAt } from './json.ts';
import { merge } from './merges.ts';
import { simpleUser } from './push.ts';
import { fixResponse, pullAt } from './response-fixes.ts';
import {
  errorResponse,
  hasAccess,
  passEdit,
  type RestRequest,
  type RestResponse,
  type Route,
  repositoryRoute,
} from './route.ts';
import { type GitHubState, ownerToken, type Repository } from './state.ts';

const invalid = (field: 'head' | 'base', message?: string): RestResponse =>
  errorResponse(422, 'Validation Failed', [
    { resource: 'PullRequest', field, ...(message ? { code: 'custom', message } : { code: 'invalid' }) },
  ]);

/** A pull request needs two branches that exist, commits between them, and no twin. */
async function open(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
): Promise<RestResponse | undefined> {
  const body = objectIn(request.body);
  const base = textAt(body, 'base');
  const [head = '', owner = repository.owner] = textAt(body, 'head').split(':').reverse();
  if (!(await branches(repository.directory))[`refs/heads/${base}`]) return invalid('base');
  const from = owner === repository.owner ? repository : forkOf(state, repository, owner);
  const refs = from ? await branches(from.directory) : {};
  if (!from || !refs[`refs/heads/${head}`]) return invalid('head');
  const range = `refs/heads/${base}..refs/heads/${head}`;
  const count = Number(await git(from.directory, 'rev-list', '--count', range));
  if (count === 0) return invalid('head', `No commits between ${base} and ${head}`);
  const label = `${owner}:${head}`;
  const query = new URLSearchParams({ state: 'open', base, head: label });
  const path = `/repos/${repository.fullName}/pulls?${query}`;
  const twins = await state.emulator.call('GET', path, ownerToken(state, repository));
  if (listAt({ twins }, 'twins').length === 0) return undefined;
  return invalid('head', `A pull request already exists for ${label}.`);
}

const forkOf = (state: GitHubState, repository: Repository, owner: string): Repository | undefined =>
  [...state.repositories.values()].find((each) => each.owner === owner && each.forkOf === repository.id);

async function edit(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  number = '',
): Promise<RestResponse | undefined> {
  const pull = await pullAt(state, repository, Number(number));
  if (!pull) return undefined;
  const own = textAt(pull, 'user', 'login') === request.holder?.login;
  return own || hasAccess(repository, request, 'push')
    ? passEdit(state, request, pull)
    : errorResponse(403, 'Resource not accessible by this account');
}

/** A review that is made at once is answered as one that is there. */
async function review(_inside: GitHubState, request: RestRequest): Promise<RestResponse> {
  const answer = await request.pass();
  return answer.status === 201 ? { ...answer, status: 200 } : answer;
}

async function files(
  state: GitHubState,
  _request: RestRequest,
  repository: Repository,
  number = '',
): Promise<RestResponse> {
  const pull = await pullAt(state, repository, Number(number));
  if (!pull) return errorResponse(404, 'Not Found');
  const range = `${textAt(pull, 'base', 'ref')}...${textAt(pull, 'head', 'sha')}`;
  const path = `/repos/${repository.fullName}/compare/${range}`;
  const compared = await state.emulator.call('GET', path, ownerToken(state, repository));
  return { status: 200, data: await fixResponse(state, [...listAt(compared, 'files')]) };
}

export const pullRoutes: readonly Route[] = [
  repositoryRoute('POST', '/pulls', open),
  repositoryRoute('PATCH', '/pulls/(\\d+)', edit),
  repositoryRoute('POST', '/pulls/\\d+/reviews', review),
  repositoryRoute('GET', '/pulls/(\\d+)/files', files),
  repositoryRoute('PUT', '/pulls/(\\d+)/merge', merge),
];

/** A check run belongs to a commit that exists, and to the App that made it. */
async function newCheck(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
): Promise<RestResponse> {
  const sha = textAt(objectIn(request.body), 'head_sha');
  const commits = await git(repository.directory, 'rev-list', '--all');
  if (!commits.split('\n').includes(sha)) return errorResponse(422, `No commit found for SHA: ${sha}`);
  const answer = await request.pass();
  if (answer.status !== 201) return answer;
  const made = objectAt({ data: answer.data }, 'data');
  if (request.holder?.permissions) state.ownChecks.add(numberAt(made, 'id') ?? 0);
  return { ...answer, data: await fixResponse(state, made) };
}

/** An App changes its own check runs only. */
async function editCheck(
  state: GitHubState,
  request: RestRequest,
  _repository: Repository,
  id = '',
): Promise<RestResponse | undefined> {
  const own = !request.holder?.permissions || state.ownChecks.has(Number(id));
  return own
    ? undefined
    : errorResponse(403, 'Invalid app_id - check run can only be modified by its own App.');
}

const STATES: ReadonlySet<string> = new Set(['error', 'failure', 'pending', 'success']);

async function newStatus(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  sha = '',
): Promise<RestResponse> {
  if (request.holder?.permissions && request.holder.permissions.statuses !== 'write')
    return errorResponse(403, 'Forbidden');
  if (!hasAccess(repository, request, 'push'))
    return errorResponse(403, 'Resource not accessible by this account');
  const body = objectIn(request.body);
  const conclusion = textAt(body, 'state');
  if (!STATES.has(conclusion)) return errorResponse(422, 'Validation Failed');
  const now = new Date().toISOString();
  const id = state.statuses.length + 1;
  const login = encodeURIComponent(request.holder?.login ?? '');
  const account = await state.emulator.call('GET', `/users/${login}`, ownerToken(state, repository));
  const creator = simpleUser(account);
  const shown: JsonObject = {
    url: `${state.baseUrl}/repos/${repository.fullName}/statuses/${sha}`,
    avatar_url: textAt(creator, 'avatar_url'),
    id,
    node_id: `SC_${id}`,
    state: conclusion,
    description: textAt(body, 'description') || null,
    target_url: textAt(body, 'target_url') || null,
    context: textAt(body, 'context') || 'default',
    created_at: now,
    updated_at: now,
  };
  state.statuses.push({ repositoryId: repository.id, sha, shown });
  return { status: 201, data: await fixResponse(state, { ...shown, creator }) };
}

/** The newest status of each context. */
async function combined(
  state: GitHubState,
  request: RestRequest,
  repository: Repository,
  ref = '',
): Promise<RestResponse> {
  if (request.holder?.permissions && !request.holder.permissions.statuses)
    return errorResponse(403, 'Forbidden');
  const newest = new Map<string, JsonObject>();
  for (const { repositoryId, sha, shown } of state.statuses) {
    if (repositoryId === repository.id && sha === ref) newest.set(textAt(shown, 'context'), shown);
  }
  const statuses = [...newest.values()];
  const states = statuses.map(({ state }) => state);
  const bad = states.some((state) => state === 'failure' || state === 'error');
  const path = `/repos/${repository.fullName}`;
  const facts = await state.emulator.call('GET', path, request.token ?? ownerToken(state, repository));
  const url = `${state.baseUrl}${path}/commits/${ref}`;
  const data = {
    state: bad ? 'failure' : states.length > 0 && !states.includes('pending') ? 'success' : 'pending',
    statuses,
    sha: ref,
    total_count: statuses.length,
    repository: facts,
    commit_url: url,
    url: `${url}/status`,
  };
  return { status: 200, data: await fixResponse(state, data) };
}

export const checkRoutes: readonly Route[] = [
  repositoryRoute('POST', '/check-runs', newCheck),
  repositoryRoute('PATCH', '/check-runs/(\\d+)', editCheck),
  repositoryRoute('POST', '/statuses/([0-9a-f]{40})', newStatus),
  repositoryRoute('GET', '/commits/([0-9a-f]{40})/status', combined),
];
