import { APP } from './emulator.ts';
import { type Inside, ownerToken } from './inside.ts';
import { isObject, listAt, objectAt, textAt } from './json.ts';
import { repaired } from './repairs.ts';
import { type Answer, type Asked, type Route, refused } from './route.ts';

/** Mints an installation token; the front has to know it too. */
async function mint(inside: Inside, asked: Asked): Promise<Answer> {
  const answer = await asked.pass();
  if (answer.status !== 201 || !isObject(answer.data)) return answer;
  const permissions = objectAt(answer.data, 'permissions');
  inside.tokens.set(textAt(answer.data, 'token'), {
    login: APP.botLogin,
    permissions: Object.fromEntries(Object.keys(permissions).map((key) => [key, textAt(permissions, key)])),
    expiresAt: Date.parse(textAt(answer.data, 'expires_at')),
  });
  if ('repositories' in answer.data) {
    const names = listAt(answer.data, 'repositories').map((item) => textAt(item, 'full_name'));
    answer.data.repositories = await Promise.all(names.map((name) => shown(inside, name)));
  }
  return answer;
}

async function shown(inside: Inside, fullName: string) {
  const repository = inside.repositories.get(fullName);
  if (!repository) throw new Error(`The emulator names a repository ${fullName} that is not ours.`);
  const token = ownerToken(inside, repository);
  return repaired(inside, await inside.emulator.call('GET', `/repos/${fullName}`, token));
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

export const appRoutes: readonly Route[] = [
  { method: 'POST', pattern: /^\/app\/installations\/\d+\/access_tokens$/, answer: mint },
  { method: 'DELETE', pattern: /^\/installation\/token$/, answer: revoke },
  { method: 'GET', pattern: /^\/app$/, answer: app },
];
