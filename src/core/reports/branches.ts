import type { Alias, RunId } from '../model/index.ts';
import type { RunView } from './view.ts';

/** Where a candidate's commit lives on GitHub, e.g. `auto-dev/7/r7k2m9q4xa/B`. No text of the issue is in it. */
export const branchName = (issue: number, run: RunId, alias: Alias): string =>
  `auto-dev/${issue}/${run}/${alias}`;

/** Where a candidate's commit lives in a local repository, e.g. `runoff/r7k2m9q4xa/B`. */
export const localBranch = (run: RunId, alias: Alias): string => `runoff/${run}/${alias}`;

/** The branch that was made for a candidate, or null where there is none (yet). */
export const branchOf = (view: RunView, alias: Alias): string | null => view.outcome?.branches[alias] ?? null;
