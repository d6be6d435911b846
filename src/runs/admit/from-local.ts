import { Fault, type LocalOrigin } from '../../core/model/index.ts';
import type { World } from '../world.ts';
import type { Gathered } from './index.ts';
import type { RunRequest } from './request.ts';

/** The user's own repository: no permission to check, but a state that candidates can start from. */
export async function fromLocal(
  world: World,
  origin: LocalOrigin,
  request: Pick<RunRequest, 'base'>,
): Promise<Gathered> {
  const found = await world.workspaces.describe(origin.path);
  if (found.empty) throw new Fault('REPOSITORY_EMPTY', `${origin.path} has no commit yet.`);
  if (found.dirty && !request.base) {
    throw new Fault(
      'REPOSITORY_DIRTY',
      `${origin.path} has changes that are not committed; candidates would not see them.`,
    );
  }
  if (found.unwritable) {
    throw new Fault(
      'REPOSITORY_READ_ONLY',
      `${origin.path} cannot be written here, so no branch could be left in it: ${found.unwritable} is closed to this user.`,
    );
  }
  const ref = request.base ?? found.branch ?? 'HEAD';
  const sha = await world.workspaces.resolve({ kind: 'local', path: found.top }, ref);
  if (!sha)
    throw new Fault(
      'BASE_MISSING',
      `${origin.path} has no branch, tag or commit named ${JSON.stringify(ref)}.`,
    );
  return { kind: 'gathered', base: { ref, sha }, rules: sha, comments: [], leftOut: [] };
}
