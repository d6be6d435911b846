import { APP } from './emulator.ts';
import { type Inside, ownerToken } from './inside.ts';
import { installationRefusal, installations, isInstalled } from './installations.ts';
import { isObject, type Json, listAt, numberAt, objectAt, objectIn, textAt } from './json.ts';
import { repositoryById } from './names.ts';
import { repaired } from './repairs.ts';
import { type Answer, type Asked, onePage, type Route, refused } from './route.ts';

/** Mints an installation token; the front has to know it too. */
async function mint(inside: Inside, asked: Asked, installation = ''): Promise<Answer> {
  const installationId = Number(installation);
  const refusal = installationRefusal(inside, installationId);
  if (refusal) return refusal;
  const wanted = objectIn(asked.body).repository_ids;
  if (listAt({ wanted }, 'wanted').some((id) => inside.withdrawn.has(Number(id)))) {
    return refused(422, 'There is at least one repository that does not exist or is not accessible.');
  }
  const answer = await asked.pass();
  if (answer.status !== 201 || !isObject(answer.data)) return answer;
  const permissions = objectAt(answer.data, 'permissions');
  inside.tokens.set(textAt(answer.data, 'token'), {
    login: APP.botLogin,
    installationId,
    permissions: Object.fromEntries(Object.keys(permissions).map((key) => [key, textAt(permissions, key)])),
    expiresAt: Date.parse(textAt(answer.data, 'expires_at')),
  });
  if ('repositories' in answer.data) {
    const ids = listAt(answer.data, 'repositories').map((item) => numberAt(item, 'id') ?? 0);
    answer.data.repositories = await Promise.all(ids.map((id) => shown(inside, id)));
  }
  return answer;
}

async function shown(inside: Inside, id: number): Promise<Json> {
  const repository = repositoryById(inside, id);
  if (!repository) throw new Error(`The emulator names a repository ${id} that is not ours.`);
  const token = ownerToken(inside, repository);
  return repaired(inside, await inside.emulator.call('GET', `/repos/${repository.fullName}`, token));
}

async function revoke(inside: Inside, asked: Asked): Promise<Answer> {
  if (asked.token === undefined || !asked.holder?.permissions) {
    return refused(403, 'You must authenticate with an installation access token.');
  }
  inside.tokens.delete(asked.token);
  return { status: 204 };
}

async function app(inside: Inside, asked: Asked): Promise<Answer> {
  const answer = await asked.pass();
  if (!isObject(answer.data) || answer.status !== 200) return answer;
  return { ...answer, data: { ...answer.data, owner: inside.app.owner } };
}

async function list(inside: Inside, asked: Asked): Promise<Answer> {
  const answer = await asked.pass();
  return answer.status === 200 ? onePage(asked, await installations(inside)) : answer;
}

async function reachable(inside: Inside, asked: Asked): Promise<Answer> {
  const mine = asked.holder?.installationId;
  if (mine === undefined) return refused(403, 'You must authenticate with an installation access token.');
  const all = [...inside.repositories.values()].filter(
    (repository) => repository.installationId === mine && isInstalled(inside, repository),
  );
  const { data, ...answer } = onePage(asked, await Promise.all(all.map(({ id }) => shown(inside, id))));
  return { ...answer, data: { total_count: all.length, repositories: data ?? [] } };
}

export const appRoutes: readonly Route[] = [
  { method: 'POST', pattern: /^\/app\/installations\/(\d+)\/access_tokens$/, answer: mint },
  { method: 'DELETE', pattern: /^\/installation\/token$/, answer: revoke },
  { method: 'GET', pattern: /^\/app$/, answer: app },
  { method: 'GET', pattern: /^\/app\/installations$/, answer: list },
  { method: 'GET', pattern: /^\/installation\/repositories$/, answer: reachable },
];
