import type { LocalOrigin, Task } from '../../core/model/index.ts';
import { localBranch } from '../../core/reports/index.ts';
import type { RunOutcome } from '../../ports/index.ts';
import type { World } from '../world.ts';
import type { Commits } from './commits.ts';

/** Leaves every candidate on a branch of its own in the user's repository; the work tree is not touched. */
export async function leaveBranches(
  world: World,
  task: Task,
  origin: LocalOrigin,
  commits: Commits,
): Promise<RunOutcome> {
  const branches: Record<string, string> = {};
  for (const [alias, sha] of commits.byAlias) {
    const name = localBranch(task.runId, alias);
    await world.workspaces.branch(commits.base, origin.path, name, sha);
    branches[alias] = name;
  }
  return { kind: 'branches', branches };
}
