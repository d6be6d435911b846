import { randomUUID } from 'node:crypto';
import type { Inside, Repository } from './inside.ts';
import { type JsonObject, listAt, objectAt, textAt } from './json.ts';
import { simpleUser } from './push.ts';
import { pullAt, repaired } from './repairs.ts';
import { type Answer, type Asked, forbidden, mayAct, onePage, type Route, repositoryRoute } from './route.ts';

/** Sets or takes off labels. The emulator forgets who did it to a pull request, so that is kept here. */
async function change(
  inside: Inside,
  asked: Asked,
  repository: Repository,
  number = '',
): Promise<Answer | undefined> {
  if (!mayAct(repository, asked, 'triage')) return forbidden();
  const before = await labelsOf(inside, repository, number);
  if (!before) return undefined;
  const answer = await asked.pass();
  const after = (await labelsOf(inside, repository, number)) ?? before;
  const without = (some: readonly JsonObject[], others: readonly JsonObject[]) =>
    some.filter((label) => others.every((other) => other.name !== label.name));
  for (const label of without(before, after))
    await keep(inside, asked, repository, number, 'unlabeled', label);
  for (const label of without(after, before)) await keep(inside, asked, repository, number, 'labeled', label);
  return answer;
}

/** Null where it is no pull request. */
async function labelsOf(
  inside: Inside,
  repository: Repository,
  number: string,
): Promise<readonly JsonObject[] | null> {
  const pull = await pullAt(inside, repository, Number(number));
  return pull && listAt(pull, 'labels').map((label) => objectAt({ label }, 'label'));
}

async function keep(
  inside: Inside,
  asked: Asked,
  { id: repositoryId, fullName }: Repository,
  number: string,
  event: 'labeled' | 'unlabeled',
  label: JsonObject,
): Promise<void> {
  const login = encodeURIComponent(asked.holder?.login ?? '');
  const actor = await inside.emulator.call('GET', `/users/${login}`, asked.token ?? '');
  const id = 1_000_000 + inside.pullEvents.length;
  const shown = {
    id,
    node_id: randomUUID(),
    url: `${inside.front}/repos/${fullName}/issues/events/${id}`,
    actor: simpleUser(actor),
    event,
    commit_id: null,
    commit_url: null,
    created_at: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    performed_via_github_app: null,
    label: { name: textAt(label, 'name'), color: textAt(label, 'color') },
  };
  await repaired(inside, shown);
  inside.pullEvents.push({ repositoryId, number: Number(number), shown });
}

async function list(
  inside: Inside,
  asked: Asked,
  repository: Repository,
  number = '',
): Promise<Answer | undefined> {
  if (!(await pullAt(inside, repository, Number(number)))) return undefined;
  const own = inside.pullEvents.filter(
    (one) => one.repositoryId === repository.id && one.number === Number(number),
  );
  return onePage(
    asked,
    own.map(({ shown }) => shown),
  );
}

export const labelEventRoutes: readonly Route[] = [
  repositoryRoute('POST', '/issues/(\\d+)/labels', change),
  repositoryRoute('PUT', '/issues/(\\d+)/labels', change),
  repositoryRoute('DELETE', '/issues/(\\d+)/labels(?:/[^/]+)?', change),
  repositoryRoute('GET', '/issues/(\\d+)/events', list),
];
