import { type Actor, asFault, type GitHubOrigin } from '../core/model/index.ts';
import { handleOf, maySteer, requireGitHub, type World } from '../pipeline/index.ts';
import type { GitHubReader, Permission, RunRecord } from '../ports/index.ts';

/** Who did what a delivery tells. */
export interface Speaker {
  readonly id: number;
  readonly login: string;
  readonly isBot: boolean;
}

export type OnGitHub = RunRecord & { readonly origin: GitHubOrigin };

export const isOnGitHub = (run: RunRecord): run is OnGitHub => run.origin.kind === 'github';

const MAY_WRITE: ReadonlySet<Permission> = new Set(['admin', 'maintain', 'write']);

/** Asks GitHub now (I4). A refusal means no; while GitHub does not answer, nothing is decided: GITHUB_UNAVAILABLE. */
export async function mayWrite(reader: GitHubReader, user: Actor): Promise<boolean> {
  try {
    return MAY_WRITE.has(await reader.permission(user));
  } catch (thrown) {
    if (asFault(thrown).code === 'GITHUB_REFUSED') return false;
    throw thrown;
  }
}

/** Asks GitHub now; an error means no (I4). */
export async function mayChange(world: World, run: OnGitHub, { id, login }: Speaker): Promise<boolean> {
  const reader = await requireGitHub(world).reader(handleOf(run.origin));
  return maySteer(world, reader, { id, login });
}
