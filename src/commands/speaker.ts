import { asFault, type GitHubOrigin } from '../core/model/index.ts';
import type { RunRecord } from '../ports/index.ts';
import { handleOf, mayWrite, requireGitHub, type World } from '../runs/index.ts';

export { mayWrite } from '../runs/index.ts';

/** Who did what a delivery tells. */
export interface Speaker {
  readonly id: number;
  readonly login: string;
  readonly isBot: boolean;
}

export type OnGitHub = RunRecord & { readonly origin: GitHubOrigin };

export const isOnGitHub = (run: RunRecord): run is OnGitHub => run.origin.kind === 'github';

/**
 * Whether somebody may change a run by a tick (I4). A tick in a question is no row that could wait for GitHub: while it
 * does not answer, the tick is not taken, and the box can be ticked again.
 */
export async function mayChange(world: World, run: OnGitHub, { id, login }: Speaker): Promise<boolean> {
  try {
    const reader = await requireGitHub(world).reader(handleOf(run.origin));
    return await mayWrite(reader, { id, login });
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_UNAVAILABLE') throw thrown;
    world.log.warn({ run: run.id, user: id, err: thrown }, 'a tick was not taken: GitHub did not answer');
    return false;
  }
}
