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
  if (await maySteer(world, reader, origin.requestedBy)) return 'go';
  await sayRefused(world, run.id, origin, { kind: 'no-permission', login: origin.requestedBy.login });
  return 'refused';
}

/** An error means no (I4). */
export async function maySteer(world: World, reader: GitHubReader, actor: Actor): Promise<boolean> {
  try {
    return MAY_STEER.has(await reader.permission(actor));
  } catch (thrown) {
    world.log.warn({ user: actor.id, err: thrown }, 'permission could not be read; taken as none');
    return false;
  }
}
