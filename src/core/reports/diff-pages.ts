import type { Alias, RunId } from '../model/index.ts';
import { branchOf, counted, plusMinus } from './format.ts';
import {
  BODY_ROOM,
  details,
  fenced,
  htmlCode,
  link,
  type ReportKind,
  readableDiff,
  report,
  type ShownLine,
} from './markdown.ts';
import { standings } from './ranking-table.ts';
import type { Diffs, DiffView, Report, RunView } from './view.ts';

/**
 * Maximum comments of one report. Chosen by Runoff: longer diffs are easier to read on GitHub's compare page, and
 * more comments would flood the thread.
 */
export const MAX_REPORT_COMMENTS = 5;
/** UTF-16 units of a marker with its empty line, with a margin. */
const MARKER_RESERVE = 100;
/** UTF-16 units reserved for the last line of the first comment, and for the heading of each later one. */
const CONTINUATION_RESERVE = 120;
/** A shorter piece of a diff, in UTF-16 units, is not worth showing. */
const MIN_DIFF_PIECE = 400;

export type ReportComments = readonly [Report, ...Report[]];

/**
 * Splits a report into at most five comments: `blocks` go into the first one, followed by the diffs, which continue
 * in the next. Each comment is valid by itself: folds and code blocks are closed at its end and reopened in the next.
 * If the diffs still do not fit, a note links to the whole diff.
 */
export function paginateDiffs(
  kind: ReportKind,
  run: RunId,
  blocks: readonly string[],
  diffs: { readonly title: string; readonly entries: readonly DiffEntry[] },
): ReportComments {
  const top = fittingBlocks(blocks, BODY_ROOM - MARKER_RESERVE);
  const taken = top.reduce((sum, block) => sum + block.length + 2, 0);
  const [first = [], ...rest] = placeDiffs(diffs.entries, {
    first: BODY_ROOM - MARKER_RESERVE - taken - diffs.title.length - 7 - CONTINUATION_RESERVE,
    next: BODY_ROOM - MARKER_RESERVE - diffs.title.length - CONTINUATION_RESERVE,
  });
  const all = rest.length + 1;
  const more = rest.length === 0 ? '' : `The diffs continue in the next ${counted(rest.length, 'comment')}.`;
  const heading = first.length === 0 ? '' : `#### ${diffs.title}`;
  return [
    report(kind, run, [...top, heading, ...first, more]),
    ...rest.map((page, index) =>
      report(kind, run, [`#### ${diffs.title}, continued: part ${index + 2} of ${all}`, ...page], index + 2),
    ),
  ];
}

/** The blocks that fit. Each is bounded, but together they may exceed the limit. */
export function fittingBlocks(blocks: readonly string[], maxLength: number): readonly string[] {
  let left = maxLength;
  return blocks.filter((block) => {
    if (block.length + 2 > left) return false;
    left -= block.length + 2;
    return block !== '';
  });
}

interface PageSizes {
  /** UTF-16 units for diffs in the first comment, and in each further one. */
  readonly first: number;
  readonly next: number;
}

interface DiffToPlace extends DiffEntry {
  readonly lines: readonly ShownLine[];
  readonly totalLines: number;
  /** Maximum UTF-16 units if not all diffs fit. */
  readonly share: number;
}

/** Lays out the diffs as pages of blocks, in order. */
function placeDiffs(entries: readonly DiffEntry[], rooms: PageSizes): readonly (readonly string[])[] {
  const pages = new Pages(rooms);
  const pieces = withShares(entries, rooms);
  pieces.forEach((piece, index) => {
    const later = pieces.slice(index + 1).reduce((sum, one) => sum + linkOnly(one, 0).length + 2, 0);
    placeDiff(piece, pages, later);
  });
  return pages.all;
}

/** Distributes limited space: diffs that need less than an equal share get all they need. */
function withShares(entries: readonly DiffEntry[], rooms: PageSizes): readonly DiffToPlace[] {
  const most = Math.max(0, rooms.first) + (MAX_REPORT_COMMENTS - 1) * rooms.next;
  const shown = entries.map((entry) => {
    const diff = readableDiff(entry.diff.patch.text, most);
    const size = diff.lines.reduce((sum, { text }) => sum + text.length + 1, 0);
    return { entry, ...diff, need: diff.lines.length < diff.totalLines ? most : size + FENCES };
  });
  // Each fold has its frame, which is closed and reopened at each page break.
  const frames = shown.map(({ entry }) => frameSize(entry));
  const seam = Math.max(0, ...frames) + MIN_DIFF_PIECE;
  let left = most - frames.reduce((sum, frame) => sum + frame, 0) - (MAX_REPORT_COMMENTS - 1) * seam;
  const shares = new Map<DiffEntry, number>();
  const bySize = [...shown].sort((one, other) => one.need - other.need);
  bySize.forEach(({ entry, need }, index) => {
    const share = Math.min(need, Math.floor(left / (bySize.length - index)));
    shares.set(entry, share < need ? share : Number.POSITIVE_INFINITY);
    left -= share;
  });
  return shown.map(({ entry, lines, totalLines }) => ({
    ...entry,
    lines,
    totalLines,
    share: shares.get(entry) ?? 0,
  }));
}

/** UTF-16 units of ordinary fences around a diff, on the maximum number of pages. */
const FENCES = 15 * MAX_REPORT_COMMENTS;
const CONTINUED_NOTE = 'Continues in the next comment.';
const CUT_LINES_NOTE = 'Very long lines are truncated.';
const shortenedNote = (
  shown: number,
  { totalLines, where }: Pick<DiffToPlace, 'totalLines' | 'where'>,
): string => `Shortened: ${shown} of ${counted(totalLines, 'line')}. ${where}`;

/** UTF-16 units of a fold besides its code block, including the longest note after it. */
const frameSize = (entry: DiffEntry): number =>
  details(`${entry.summary}, continued`, '').length + entry.where.length + MIN_DIFF_PIECE / 4;

const summaryOf = ({ summary }: DiffEntry, from: number): string =>
  from === 0 ? summary : `${summary}, continued`;

const linkOnly = (piece: DiffToPlace, from: number): string =>
  details(
    summaryOf(piece, from),
    from === 0 ? `Too long to show here. ${piece.where}` : shortenedNote(from, piece),
  );

/** Lays out one diff on as many pages as it needs; `later` is the minimum space for the following diffs. */
function placeDiff(piece: DiffToPlace, pages: Pages, later: number): void {
  const frame = frameSize(piece);
  let from = 0;
  let spent = 0;
  for (;;) {
    const remaining = pages.left - frame - (pages.isLast ? later : 0);
    const share = piece.share - spent;
    const part = fenced(piece.lines, from, Math.min(remaining, share));
    const ends = part !== null && part.next === piece.totalLines;
    if (part === null || (!ends && part.block.length < MIN_DIFF_PIECE)) {
      if (share >= MIN_DIFF_PIECE && remaining < share && pages.turn()) continue;
      pages.put(linkOnly(piece, from));
      return;
    }
    const goesOn = !ends && remaining < share && !pages.isLast;
    pages.put(details(summaryOf(piece, from), withNote(part, piece, goesOn, ends)));
    if (!goesOn) return;
    from = part.next;
    spent += part.block.length;
    pages.turn();
  }
}

function withNote(
  part: { readonly block: string; readonly next: number; readonly cut: boolean },
  piece: DiffToPlace,
  goesOn: boolean,
  ends: boolean,
): string {
  const note = goesOn
    ? CONTINUED_NOTE
    : ends
      ? part.cut
        ? `${CUT_LINES_NOTE} ${piece.where}`
        : ''
      : shortenedNote(part.next, piece);
  return note === '' ? part.block : `${part.block}\n\n${note}`;
}

/** Distributes blocks over pages without exceeding the space of any page. */
class Pages {
  readonly all: string[][] = [[]];
  left: number;
  readonly #next: number;

  constructor({ first, next }: PageSizes) {
    this.left = first;
    this.#next = next;
  }

  get isLast(): boolean {
    return this.all.length === MAX_REPORT_COMMENTS;
  }

  /** Starts a new page. False on the last page, or on an empty one, since a new page would not hold more. */
  turn(): boolean {
    const fresh = this.all.length > 1 && this.all.at(-1)?.length === 0;
    if (this.isLast || fresh) return false;
    this.all.push([]);
    this.left = this.#next;
    return true;
  }

  /** A block that fits on no page is dropped. */
  put(block: string): void {
    if (block.length + 2 > this.left && !this.turn()) return;
    if (block.length + 2 > this.left) return;
    this.all.at(-1)?.push(block);
    this.left -= block.length + 2;
  }
}

/** One diff as shown in reports, folded. */
interface DiffEntry {
  /** HTML. */
  readonly summary: string;
  readonly diff: DiffView;
  /** A sentence with the place of the whole diff. */
  readonly where: string;
}

/** The diffs of a run in the order of its ranking; without the chosen one, unless all are requested. */
export function diffEntries(view: RunView, diffs: Diffs, everyone: boolean): readonly DiffEntry[] {
  return standings(view).flatMap(({ candidate, chosen }): DiffEntry[] => {
    const diff = diffs[candidate.alias];
    if ((chosen && !everyone) || diff === undefined || diff.patch.text.trim() === '') return [];
    const size = candidate.patch ?? sizeOf(diff);
    const summary = `<b>${candidate.alias}</b>: ${plusMinus(size)} in ${counted(diff.patch.files.length, 'file')}`;
    return [{ summary, diff, where: whereToRead(view, candidate.alias, diff) }];
  });
}

const sizeOf = (diff: DiffView) => ({
  additions: diff.patch.files.reduce((sum, file) => sum + file.additions, 0),
  deletions: diff.patch.files.reduce((sum, file) => sum + file.deletions, 0),
});

/** Maximum code points of a compare page's URL: a longer one cannot be genuine. */
const MAX_URL_CHARACTERS = 1_000;

/** A sentence with the place of a candidate's whole diff. */
export function whereToRead(view: RunView, alias: Alias, diff: DiffView): string {
  const url = diff.compareUrl;
  if (url !== undefined && url.length <= MAX_URL_CHARACTERS) return `Full diff: ${link('compare', url)}.`;
  const branch = branchOf(view, alias);
  return branch === null ? 'It has no branch.' : `The full diff is on branch ${htmlCode(branch)}.`;
}
