import { appJwt } from './emulator.ts';
import type { Inside, Repository } from './inside.ts';
import { type JsonObject, listAt, numberAt, objectAt, textAt } from './json.ts';
import { simpleUser } from './push.ts';
import { repaired } from './repairs.ts';
import { type Answer, refused } from './route.ts';

/** Every installation as REST and webhooks show it. */
export async function installations(inside: Inside): Promise<readonly JsonObject[]> {
  const all = await inside.emulator.call('GET', '/app/installations', appJwt(inside.emulator.privateKey));
  const shown = listAt({ all }, 'all').map((each) => shownInstallation(inside, objectAt({ each }, 'each')));
  return (await Promise.all(shown)).filter((each) => !inside.uninstalled.has(numberAt(each, 'id') ?? 0));
}

async function shownInstallation(inside: Inside, installation: JsonObject): Promise<JsonObject> {
  const login = textAt(installation, 'account', 'login');
  const account = await inside.emulator.call('GET', `/users/${login}`, inside.emulator.ownToken(login));
  const suspended = inside.suspended.get(numberAt(installation, 'id') ?? 0);
  const shown = {
    ...installation,
    account: simpleUser(account),
    target_id: numberAt(account, 'id') ?? 0,
    suspended_at: suspended ?? null,
    suspended_by: suspended === undefined ? null : simpleUser(account),
  };
  return objectAt({ shown: await repaired(inside, shown) }, 'shown');
}

/** How GitHub refuses what an installation may not do any more; undefined lets it through. */
export function installationRefusal(inside: Inside, id: number): Answer | undefined {
  if (inside.uninstalled.has(id)) return refused(404, 'Not Found');
  return inside.suspended.has(id) ? refused(403, 'This installation has been suspended') : undefined;
}

/** Is this repository one that the App may reach through its installation? */
export const isInstalled = (inside: Inside, repository: Repository): boolean =>
  repository.installationId !== 0 && !inside.withdrawn.has(repository.id);

export async function suspend(inside: Inside, id: number): Promise<void> {
  inside.suspended.set(id, new Date().toISOString().replace(/\.\d+Z$/, 'Z'));
  await tell(inside, id, 'installation', { action: 'suspend' });
}

export async function unsuspend(inside: Inside, id: number): Promise<void> {
  inside.suspended.delete(id);
  await tell(inside, id, 'installation', { action: 'unsuspend' });
}

/** The owner removes the App: its tokens are void from now on. */
export async function uninstall(inside: Inside, id: number): Promise<void> {
  await tell(inside, id, 'installation', { action: 'deleted' });
  inside.uninstalled.add(id);
  for (const [token, holder] of inside.tokens) {
    if (holder.installationId === id) inside.tokens.delete(token);
  }
}

/** The owner takes one repository out of the installation, or puts it back. */
export async function setInstalled(
  inside: Inside,
  repository: Repository,
  installed: boolean,
): Promise<void> {
  if (installed) inside.withdrawn.delete(repository.id);
  else inside.withdrawn.add(repository.id);
  const brief = [await briefly(inside, repository)];
  await tell(inside, repository.installationId, 'installation_repositories', {
    action: installed ? 'added' : 'removed',
    repository_selection: 'selected',
    repositories_added: installed ? brief : [],
    repositories_removed: installed ? [] : brief,
    requester: null,
  });
}

async function tell(inside: Inside, id: number, event: string, payload: JsonObject): Promise<void> {
  const installation = (await installations(inside)).find((each) => each.id === id);
  if (!installation) throw new Error(`The local GitHub has no installation ${id}.`);
  const mine = [...inside.repositories.values()].filter((each) => each.installationId === id);
  const repositories = await Promise.all(mine.map((each) => briefly(inside, each)));
  inside.hooks.deliver(event, {
    ...payload,
    installation,
    ...(event === 'installation' ? { repositories } : {}),
    sender: installation.account,
  });
}

async function briefly(inside: Inside, repository: Repository): Promise<JsonObject> {
  const token = inside.emulator.ownToken(repository.owner);
  const facts = await inside.emulator.call('GET', `/repos/${repository.fullName}`, token);
  const { id, name, fullName: full_name } = repository;
  return { id, node_id: textAt(facts, 'node_id'), name, full_name, private: repository.private };
}
