import type { Inside, Repository } from './inside.ts';
import { type Answer, refused } from './route.ts';

/** A repository that is called otherwise now; undefined for one that never had this name, or where it is taken. */
export function movedFrom(inside: Inside, fullName: string): Repository | undefined {
  const id = inside.repositories.has(fullName) ? undefined : inside.formerNames.get(fullName);
  return id === undefined ? undefined : repositoryById(inside, id);
}

export const repositoryById = (inside: Inside, id: number): Repository | undefined =>
  [...inside.repositories.values()].find((repository) => repository.id === id);

/** Where a REST path leads: `/repositories/7/…` is what redirects from old names name. */
export function canonicalPath(inside: Inside, path: string): string {
  const [, id, tail = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? [];
  const repository = id === undefined ? undefined : repositoryById(inside, Number(id));
  return repository ? `/repos/${repository.fullName}${tail}` : path;
}

/** GitHub's redirect of a call that names a repository by an old name; undefined where none is needed. */
export function redirect(
  inside: Inside,
  call: { readonly method: string; readonly path: string; readonly search: string; readonly base: string },
): Answer | undefined {
  const [, fullName = '', tail = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(call.path) ?? [];
  const repository = movedFrom(inside, fullName);
  if (!repository) return undefined;
  const location = `${inside.front}${call.base}/repositories/${repository.id}${tail}${call.search}`;
  const message = 'Moved Permanently';
  const reads = call.method === 'GET' || call.method === 'HEAD';
  const answer = refused(reads ? 301 : 307, message);
  return { ...answer, data: { message, url: location }, headers: { location } };
}

/** Gives a repository another name. Its old one leads to it until another repository takes that. */
export async function rename(inside: Inside, repository: Repository, name: string): Promise<void> {
  const before = repository.fullName;
  const after = `${repository.owner}/${name}`;
  const token = inside.emulator.ownToken(repository.owner);
  await inside.emulator.call('PATCH', `/repos/${before}`, token, { name });
  inside.repositories.delete(before);
  repository.name = name;
  repository.fullName = after;
  inside.repositories.set(after, repository);
  inside.formerNames.set(before, repository.id);
  inside.formerNames.delete(after);
  for (const reaction of inside.reactions) {
    if (reaction.repository === before) reaction.repository = after;
  }
}
