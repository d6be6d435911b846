import { found } from './emulator.ts';
import { bareDirectory, copyBare } from './git.ts';
import { type Inside, oneAtATime, ownerToken, type Repository } from './inside.ts';
import { numberAt, textAt } from './json.ts';
import { takeOver } from './push.ts';

/** Copies a repository to a user's account, where the App is not installed. */
export async function fork(
  inside: Inside,
  parent: Repository,
  by: { readonly login: string; readonly token: string },
): Promise<Repository> {
  const made = await inside.emulator.call('POST', `/repos/${parent.fullName}/forks`, by.token, {});
  const fullName = textAt(made, 'full_name');
  const directory = bareDirectory(inside.root, fullName);
  await copyBare(parent.directory, directory);
  const repository: Repository = {
    id: numberAt(made, 'id') ?? 0,
    owner: by.login,
    name: textAt(made, 'name'),
    fullName,
    private: parent.private,
    directory,
    installationId: 0,
    forkOf: parent.id,
    collaborators: new Map(),
    imported: new Set(),
    inTurn: oneAtATime(),
  };
  inside.repositories.set(fullName, repository);
  // The emulator fills a fork with a first commit of its own.
  const seeded = `/repos/${fullName}/git/refs/heads/${textAt(made, 'default_branch')}`;
  await found(inside.emulator.call('DELETE', seeded, ownerToken(inside, repository)));
  await takeOver(inside, repository, {}, ownerToken(inside, repository));
  return repository;
}
