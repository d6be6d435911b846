import { type Alias, type Candidate, isOver } from '../../core/model/index.ts';
import { pickOf } from '../../core/ranking/index.ts';
import { LOCAL_BRANCHES, readLocalBranch } from '../../core/reports/index.ts';
import type { LocalBranch, RunRecord } from '../../ports/index.ts';
import type { World } from '../context.ts';
import { standingPicks } from '../picks.ts';

/** A branch of a candidate, and why it stays, as a clause; null: it was deleted. */
export interface TidiedBranch {
  readonly branch: string;
  readonly kept: string | null;
}

/**
 * Deletes the branches that runs left in a local repository. Those that somebody may still need stay: of runs that have
 * not ended, of a chosen candidate until it is merged, and what other people committed to. Patches stay in the records of
 * the runs. `dry`: deletes nothing.
 */
export async function tidyBranches(
  { store, workspaces }: Pick<World, 'store' | 'workspaces'>,
  path: string,
  dry: boolean,
): Promise<readonly TidiedBranch[]> {
  const { top } = await workspaces.describe(path);
  const tidied: TidiedBranch[] = [];
  for (const branch of await workspaces.branches(top, LOCAL_BRANCHES)) {
    const named = readLocalBranch(branch.name);
    if (!named) continue;
    const { run: id, alias } = named;
    const run = await store.run(id);
    const kept =
      run === null
        ? 'its run is not in this database'
        : whyKept(branch, run, {
            candidate: (await store.candidates(id)).find((one) => one.alias === alias),
            choice: await choiceOf(store, run, alias),
          });
    if (kept === null && !dry) await workspaces.deleteBranch(top, branch);
    tidied.push({ branch: branch.name, kept });
  }
  return tidied;
}

/** What a person's choice, made or still open, says about a candidate. */
async function choiceOf(
  store: World['store'],
  run: RunRecord,
  alias: Alias,
): Promise<'made' | 'open' | null> {
  const pick = (await standingPicks(store, run.id)).at(-1);
  if (!pick && run.decision?.kind === 'toss-up') return run.decision.among.includes(alias) ? 'open' : null;
  return (pick ? pick.alias : pickOf(run.decision)) === alias ? 'made' : null;
}

const KEPT_FOR_CHOICE = {
  made: 'it was chosen and is not merged',
  open: 'nobody has picked a candidate of its run yet',
} as const;

function whyKept(
  { isCheckedOut, isMerged, tree }: LocalBranch,
  { state }: RunRecord,
  of: { readonly candidate: Candidate | undefined; readonly choice: keyof typeof KEPT_FOR_CHOICE | null },
): string | null {
  if (!isOver(state)) return 'its run has not ended';
  if (isCheckedOut) return 'it is checked out';
  if (isMerged) return null;
  if (of.candidate?.patch?.tree !== tree) return 'its files are not those that Runoff committed';
  return of.choice && KEPT_FOR_CHOICE[of.choice];
}
