import type { Actor } from '../../core/model/index.ts';
import type { GitHubReader, Permission } from '../../ports/index.ts';
import { handleOf, loadRun, requireGitHub } from '../task.ts';
import type { World } from '../world.ts';
import { sayRefused } from './refuse.ts';
import type { RunRequest } from './request.ts';

const MAY_STEER: ReadonlySet<Permission> = new Set(['admin', 'maintain', 'write']);

/** Did somebody with the right to write ask for this run? Until that is known, nothing is said in public (I4, I9). */
export async function permit(world: World, request: RunRequest): Promise<'go' | 'refused'> {
  const run = await loadRun(world, request.runId);
  const { origin } = run;
  if (run.state === 'refused') return 'refused';
  if (run.state !== 'queued' || origin.kind === 'local') return 'go';
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const right = await rightOf(world, reader, origin.requestedBy);
  if (right === 'write') return 'go';
  const { login } = origin.requestedBy;
  await sayRefused(world, request, origin, { kind: 'no-permission', login, mayLabel: right === 'label' });
  return 'refused';
}

/** `label`: may set labels, but not start or steer anything. An error means no right (I4). */
async function rightOf(
  world: World,
  reader: GitHubReader,
  actor: Actor,
): Promise<'write' | 'label' | 'none'> {
  try {
    const permission = await reader.permission(actor);
    if (MAY_STEER.has(permission)) return 'write';
    return permission === 'triage' ? 'label' : 'none';
  } catch (thrown) {
    world.log.warn({ user: actor.id, err: thrown }, 'permission could not be read; taken as none');
    return 'none';
  }
}

/** May this person start and steer runs now? An error means no (I4). */
export const maySteer = async (world: World, reader: GitHubReader, actor: Actor): Promise<boolean> =>
  (await rightOf(world, reader, actor)) === 'write';
