import { git } from './git.ts';
import { type Inside, ownerToken, type Repository } from './inside.ts';
import { type JsonObject, numberAt, objectAt, objectIn, textAt } from './json.ts';
import { simpleUser } from './push.ts';
import { repaired } from './repairs.ts';
import { type Answer, type Asked, mayAct, type Route, refused, repositoryRoute } from './route.ts';

/** A check run belongs to a commit that exists, and to the App that made it. */
async function newCheck(inside: Inside, asked: Asked, repository: Repository): Promise<Answer> {
  const sha = textAt(objectIn(asked.body), 'head_sha');
  const commits = await git(repository.directory, 'rev-list', '--all');
  if (!commits.split('\n').includes(sha)) return refused(422, `No commit found for SHA: ${sha}`);
  const answer = await asked.pass();
  if (answer.status !== 201) return answer;
  const made = objectAt({ data: answer.data }, 'data');
  if (asked.holder?.permissions) inside.ownChecks.add(numberAt(made, 'id') ?? 0);
  return { ...answer, data: await repaired(inside, made) };
}

/** An App changes its own check runs only. */
async function editCheck(
  inside: Inside,
  asked: Asked,
  _repository: Repository,
  id = '',
): Promise<Answer | undefined> {
  const own = !asked.holder?.permissions || inside.ownChecks.has(Number(id));
  return own ? undefined : refused(403, 'Invalid app_id - check run can only be modified by its own App.');
}

const STATES: ReadonlySet<string> = new Set(['error', 'failure', 'pending', 'success']);

async function newStatus(inside: Inside, asked: Asked, repository: Repository, sha = ''): Promise<Answer> {
  if (asked.holder?.permissions && asked.holder.permissions.statuses !== 'write')
    return refused(403, 'Forbidden');
  if (!mayAct(repository, asked, 'push')) return refused(403, 'Resource not accessible by this account');
  const body = objectIn(asked.body);
  const state = textAt(body, 'state');
  if (!STATES.has(state)) return refused(422, 'Validation Failed');
  const now = new Date().toISOString();
  const id = inside.statuses.length + 1;
  const login = encodeURIComponent(asked.holder?.login ?? '');
  const account = await inside.emulator.call('GET', `/users/${login}`, ownerToken(inside, repository));
  const creator = simpleUser(account);
  const shown: JsonObject = {
    url: `${inside.front}/repos/${repository.fullName}/statuses/${sha}`,
    avatar_url: textAt(creator, 'avatar_url'),
    id,
    node_id: `SC_${id}`,
    state,
    description: textAt(body, 'description') || null,
    target_url: textAt(body, 'target_url') || null,
    context: textAt(body, 'context') || 'default',
    created_at: now,
    updated_at: now,
  };
  inside.statuses.push({ repositoryId: repository.id, sha, shown });
  return { status: 201, data: await repaired(inside, { ...shown, creator }) };
}

/** The newest status of each context. */
async function combined(inside: Inside, asked: Asked, repository: Repository, ref = ''): Promise<Answer> {
  if (asked.holder?.permissions && !asked.holder.permissions.statuses) return refused(403, 'Forbidden');
  const newest = new Map<string, JsonObject>();
  for (const { repositoryId, sha, shown } of inside.statuses) {
    if (repositoryId === repository.id && sha === ref) newest.set(textAt(shown, 'context'), shown);
  }
  const statuses = [...newest.values()];
  const states = statuses.map(({ state }) => state);
  const bad = states.some((state) => state === 'failure' || state === 'error');
  const path = `/repos/${repository.fullName}`;
  const facts = await inside.emulator.call('GET', path, asked.token ?? ownerToken(inside, repository));
  const url = `${inside.front}${path}/commits/${ref}`;
  const data = {
    state: bad ? 'failure' : states.length > 0 && !states.includes('pending') ? 'success' : 'pending',
    statuses,
    sha: ref,
    total_count: statuses.length,
    repository: facts,
    commit_url: url,
    url: `${url}/status`,
  };
  return { status: 200, data: await repaired(inside, data) };
}

export const checkRoutes: readonly Route[] = [
  repositoryRoute('POST', '/check-runs', newCheck),
  repositoryRoute('PATCH', '/check-runs/(\\d+)', editCheck),
  repositoryRoute('POST', '/statuses/([0-9a-f]{40})', newStatus),
  repositoryRoute('GET', '/commits/([0-9a-f]{40})/status', combined),
];
