import type { GitHubOrigin } from '../core/model/index.ts';
import { handleOf, maySteer, requireGitHub, type World } from '../pipeline/index.ts';
import type { RunRecord } from '../ports/index.ts';

/** Who did what a delivery tells. */
export interface Speaker {
  readonly id: number;
  readonly login: string;
  readonly isBot: boolean;
}

export type OnGitHub = RunRecord & { readonly origin: GitHubOrigin };

export const isOnGitHub = (run: RunRecord): run is OnGitHub => run.origin.kind === 'github';

/** Asks GitHub now; an error means no (I4). */
export async function mayChange(world: World, run: OnGitHub, { id, login }: Speaker): Promise<boolean> {
  const reader = await requireGitHub(world).reader(handleOf(run.origin));
  return maySteer(world, reader, { id, login });
}
