import { pickOf } from '../decision/index.ts';
import type { Alias } from '../model/index.ts';
import { branchOf } from './branches.ts';
import { counted, plusMinus } from './format.ts';
import { details } from './layout.ts';
import { standings } from './rows.ts';
import { fencedDiff, htmlCode, link } from './safe.ts';
import type { Diffs, DiffView, RunView } from './view.ts';
import { contestantName } from './words.ts';

/** Under this many UTF-16 units a shortened diff says nothing; only the link is given then. */
const WORTH_SHOWING = 400;

interface Entry {
  readonly alias: Alias;
  readonly summary: string;
  readonly diff: DiffView;
  readonly where: string;
}

/** Every diff but the chosen one, folded away: small ones whole, large ones cut between lines, all with a way to the rest. */
export function diffsSection(view: RunView, diffs: Diffs, room: number): string {
  const entries = standings(view).flatMap(({ candidate, chosen }): Entry[] => {
    const diff = diffs[candidate.alias];
    if (chosen || diff === undefined || diff.text.trim() === '') return [];
    const size = candidate.patch ?? sizeOf(diff);
    const summary = [
      `<b>${candidate.alias}</b>: ${htmlCode(contestantName(candidate.contestant), 80)}`,
      `${plusMinus(size)} in ${counted(diff.files.length, 'file')}`,
    ].join(', ');
    return [{ alias: candidate.alias, summary, diff, where: where(view, candidate.alias, diff) }];
  });
  if (entries.length === 0) return '';
  const title = pickOf(view.decision) !== null ? '#### The other diffs' : '#### The diffs';
  const blocks = share(entries, room - title.length - 2);
  return blocks.length === 0 ? '' : [title, ...blocks].join('\n\n');
}

const sizeOf = (diff: DiffView) => ({
  additions: diff.files.reduce((sum, file) => sum + file.additions, 0),
  deletions: diff.files.reduce((sum, file) => sum + file.deletions, 0),
});

function where(view: RunView, alias: Alias, diff: DiffView): string {
  if (diff.compareUrl !== undefined) return `The whole diff: ${link('compare', diff.compareUrl)}.`;
  const branch = branchOf(view, alias);
  return branch === null
    ? 'No branch was made of it.'
    : `The whole diff is on the branch ${htmlCode(branch)}.`;
}

/** Shares the room out: whoever needs less than an equal share gets all it needs, the others divide the rest. */
function share(entries: readonly Entry[], room: number): readonly string[] {
  const bySize = [...entries].sort((one, other) => one.diff.text.length - other.diff.text.length);
  const blocks = new Map<Alias, string>();
  let left = room;
  bySize.forEach((entry, index) => {
    const block = fitted(entry, Math.floor(left / (bySize.length - index)) - 2);
    blocks.set(entry.alias, block);
    left -= block === '' ? 0 : block.length + 2;
  });
  return entries.map((entry) => blocks.get(entry.alias) ?? '').filter((block) => block !== '');
}

function fitted(entry: Entry, room: number): string {
  const frame = details(entry.summary, '').length;
  const note = (shown: number, total: number): string =>
    `Shortened: ${shown} of ${counted(total, 'line')}. ${entry.where}`;
  const longestNote = note(entry.diff.text.length, entry.diff.text.length);
  const all = entry.diff.text.length + frame <= room ? fencedDiff(entry.diff.text, room - frame) : null;
  if (all?.whole) return details(entry.summary, all.block);
  const roomForPart = room - frame - longestNote.length - 2;
  const part = roomForPart < WORTH_SHOWING ? null : fencedDiff(entry.diff.text, roomForPart);
  if (part !== null) {
    return details(entry.summary, `${part.block}\n\n${note(part.shownLines, part.totalLines)}`);
  }
  const linkOnly = details(entry.summary, `Too long to show here. ${entry.where}`);
  return linkOnly.length <= room ? linkOnly : '';
}
