import { found } from './emulator.ts';
import { type Inside, isRole, ownerToken, type Repository, roleOf } from './inside.ts';
import { isObject, objectIn, textAt } from './json.ts';
import { simpleUser } from './push.ts';
import { repaired } from './repairs.ts';
import { type Answer, type Asked, type Route, refused, repositoryRoute } from './route.ts';

const ROLE_NAMES = {
  admin: { permission: 'admin', role_name: 'admin' },
  maintain: { permission: 'write', role_name: 'maintain' },
  push: { permission: 'write', role_name: 'write' },
  triage: { permission: 'read', role_name: 'triage' },
  pull: { permission: 'read', role_name: 'read' },
} as const;

/** What a user may do here. Everybody may read a public repository. */
async function permission(inside: Inside, asked: Asked, repository: Repository, login = ''): Promise<Answer> {
  const seen = await found(inside.emulator.call('GET', `/repos/${repository.fullName}`, asked.token ?? ''));
  const account = await found(inside.emulator.call('GET', `/users/${login}`, ownerToken(inside, repository)));
  if (!seen || !isObject(account)) return refused(404, 'Not Found');
  const role = roleOf(repository, decodeURIComponent(login)) ?? (repository.private ? null : 'pull');
  const names = role === null ? { permission: 'none', role_name: 'none' } : ROLE_NAMES[role];
  const user = { ...simpleUser(account), role_name: names.role_name };
  return { status: 200, data: await repaired(inside, { ...names, user }) };
}

async function setRole(_inside: Inside, asked: Asked, repository: Repository, login = ''): Promise<Answer> {
  const answer = await asked.pass();
  const role = textAt(objectIn(asked.body), 'permission') || 'push';
  if (answer.status < 300 && isRole(role)) repository.collaborators.set(decodeURIComponent(login), role);
  return answer;
}

async function removeRole(
  _inside: Inside,
  asked: Asked,
  repository: Repository,
  login = '',
): Promise<Answer> {
  const answer = await asked.pass();
  if (answer.status < 300) repository.collaborators.delete(decodeURIComponent(login));
  return answer;
}

export const repositoryRoutes: readonly Route[] = [
  repositoryRoute('GET', '/collaborators/([^/]+)/permission', permission),
  repositoryRoute('PUT', '/collaborators/([^/]+)', setRole),
  repositoryRoute('DELETE', '/collaborators/([^/]+)', removeRole),
];
