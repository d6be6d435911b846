import { counted } from '../../core/reports/index.ts';
import type { KeptChange } from '../../ports/index.ts';
import { printable } from './terminal.ts';

/** New files that are named at the start of a run. Our default: a few screens, since each may be one too many. */
const MAX_NAMED_NEW = 100;
/** Files that are named at the start of a run if not so many are new. Our default: half a screen. */
const MAX_NAMED_FILES = 12;

/**
 * What `--include-changes` takes along. New files may hold what was never meant for a model, so they come first and are
 * named before anything starts.
 */
export function includedText(changes: readonly KeptChange[]): string {
  const pathsOf = (change: KeptChange['change']) =>
    changes.filter((one) => one.change === change).map(({ path }) => path);
  const [added, modified, deleted] = [pathsOf('added'), pathsOf('modified'), pathsOf('deleted').length];
  const without =
    deleted === 0 ? '' : ` (${counted(deleted, 'deleted file')} ${deleted === 1 ? 'is' : 'are'} left out)`;
  const total = added.length + modified.length;
  if (total === 0) return `The coders start from your working tree${without}.\n`;
  const named = [
    ...added.slice(0, MAX_NAMED_NEW).map((path) => `  ${printable(path)} (new)\n`),
    ...modified.slice(0, Math.max(0, MAX_NAMED_FILES - added.length)).map((path) => `  ${printable(path)}\n`),
  ];
  const more = total - named.length;
  const hidden = Math.max(0, added.length - MAX_NAMED_NEW);
  const rest = more === 0 ? '' : `  and ${more} more${hidden > 0 ? `, ${hidden} of them new` : ''}\n`;
  return `The coders and their models see ${counted(total, 'uncommitted file')}${without}:\n${named.join('')}${rest}`;
}
