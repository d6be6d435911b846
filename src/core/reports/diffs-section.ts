import type { Alias } from '../model/index.ts';
import { branchOf } from './branches.ts';
import { counted, plusMinus } from './format.ts';
import { standings } from './rows.ts';
import { htmlCode, link } from './safe.ts';
import type { Diffs, DiffView, RunView } from './view.ts';
import { contestantName } from './words.ts';

/** One diff as the reports show it, folded away. */
export interface Entry {
  /** HTML. */
  readonly summary: string;
  readonly diff: DiffView;
  /** A sentence: where all of it can be read. */
  readonly where: string;
}

/** The diffs of a run in the order of its ranking; without the chosen one, unless everyone's are wanted. */
export function diffEntries(view: RunView, diffs: Diffs, everyone: boolean): readonly Entry[] {
  return standings(view).flatMap(({ candidate, chosen }): Entry[] => {
    const diff = diffs[candidate.alias];
    if ((chosen && !everyone) || diff === undefined || diff.text.trim() === '') return [];
    const size = candidate.patch ?? sizeOf(diff);
    const summary = [
      `<b>${candidate.alias}</b>: ${htmlCode(contestantName(candidate.contestant), 80)}`,
      `${plusMinus(size)} in ${counted(diff.files.length, 'file')}`,
    ].join(', ');
    return [{ summary, diff, where: whereToRead(view, candidate.alias, diff) }];
  });
}

const sizeOf = (diff: DiffView) => ({
  additions: diff.files.reduce((sum, file) => sum + file.additions, 0),
  deletions: diff.files.reduce((sum, file) => sum + file.deletions, 0),
});

/** Code points of a compare page's address: a longer one cannot be ours. */
const LONGEST_URL = 1_000;

/** A sentence: where the whole diff of a candidate can be read. */
export function whereToRead(view: RunView, alias: Alias, diff: DiffView): string {
  const url = diff.compareUrl;
  if (url !== undefined && url.length <= LONGEST_URL) return `The whole diff: ${link('compare', url)}.`;
  const branch = branchOf(view, alias);
  return branch === null
    ? 'No branch was made of it.'
    : `The whole diff is on the branch ${htmlCode(branch)}.`;
}
