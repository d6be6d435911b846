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
    archived: false,
    directory,
    installationId: 0,
    forkOf: parent.id,
    collaborators: new Map(),
    imported: new Set(),
    inTurn: oneAtATime(),
  };
  inside.repositories.set(fullName, repository);
  // The emulator fills a fork with a first commit of its own.
  const branch = `heads/${textAt(made, 'default_branch')}`;
  const token = ownerToken(inside, repository);
  const seeded = await inside.emulator.call('GET', `/repos/${fullName}/git/ref/${branch}`, token);
  await takeOver(inside, repository, { [`refs/${branch}`]: textAt(seeded, 'object', 'sha') }, token);
  return repository;
}
