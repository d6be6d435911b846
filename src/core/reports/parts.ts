import type { RunId } from '../model/index.ts';
import type { Entry } from './diffs-section.ts';
import { counted } from './format.ts';
import { BODY_ROOM, details } from './layout.ts';
import { type ReportKind, report } from './marker.ts';
import { fenced, type ShownLine, shownDiff } from './safe.ts';
import type { Report } from './view.ts';

/**
 * Comments that one report takes at most. Our limit: what five comments do not hold is read better on GitHub's compare
 * page, and nobody's thread is flooded.
 */
export const MOST_PARTS = 5;
/** UTF-16 units of a marker with its empty line, with room to spare. */
const MARKER_ROOM = 100;
/** What the last line of the first part may take, and the heading of each later one. */
const SEAM_ROOM = 120;
/** Under this many UTF-16 units a torn piece of a diff says nothing. */
const WORTH_SHOWING = 400;

export type Parts = readonly [Report, ...Report[]];

/**
 * A report in as many comments as it needs, five at most: `blocks` stand in the first one, the diffs follow and go on in
 * the next ones. Each is whole by itself: folds and code blocks are closed at its end and opened again in the next. What
 * does not fit even so is said, with the way to the whole diff.
 */
export function inParts(
  kind: ReportKind,
  run: RunId,
  blocks: readonly string[],
  diffs: { readonly title: string; readonly entries: readonly Entry[] },
): Parts {
  const top = within(blocks, BODY_ROOM - MARKER_ROOM);
  const taken = top.reduce((sum, block) => sum + block.length + 2, 0);
  const [first = [], ...rest] = flow(diffs.entries, {
    first: BODY_ROOM - MARKER_ROOM - taken - diffs.title.length - 7 - SEAM_ROOM,
    next: BODY_ROOM - MARKER_ROOM - diffs.title.length - SEAM_ROOM,
  });
  const all = rest.length + 1;
  const more = rest.length === 0 ? '' : `The diffs go on in the next ${counted(rest.length, 'comment')}.`;
  const heading = first.length === 0 ? '' : `#### ${diffs.title}`;
  return [
    report(kind, run, [...top, heading, ...first, more]),
    ...rest.map((page, index) =>
      report(kind, run, [`#### ${diffs.title}, continued: part ${index + 2} of ${all}`, ...page], index + 2),
    ),
  ];
}

/** The blocks without those for which there is no room: each is bounded, but all at their longest are too much. */
function within(blocks: readonly string[], room: number): readonly string[] {
  let left = room;
  return blocks.filter((block) => {
    if (block.length + 2 > left) return false;
    left -= block.length + 2;
    return block !== '';
  });
}

interface Rooms {
  /** UTF-16 units for diffs in the first comment, and in each further one. */
  readonly first: number;
  readonly next: number;
}

interface Piece extends Entry {
  readonly lines: readonly ShownLine[];
  readonly totalLines: number;
  /** UTF-16 units that it may take where not all diffs fit. */
  readonly share: number;
}

/** The diffs as pages of blocks, in order. */
function flow(entries: readonly Entry[], rooms: Rooms): readonly (readonly string[])[] {
  const pages = new Pages(rooms);
  const pieces = shared(entries, rooms);
  pieces.forEach((piece, index) => {
    const later = pieces.slice(index + 1).reduce((sum, one) => sum + linkOnly(one, 0).length + 2, 0);
    lay(piece, pages, later);
  });
  return pages.all;
}

/** Shares the room out where it is too little: whoever needs less than an equal share gets all it needs. */
function shared(entries: readonly Entry[], rooms: Rooms): readonly Piece[] {
  const most = Math.max(0, rooms.first) + (MOST_PARTS - 1) * rooms.next;
  const shown = entries.map((entry) => {
    const diff = shownDiff(entry.diff.text, most);
    const size = diff.lines.reduce((sum, { text }) => sum + text.length + 1, 0);
    return { entry, ...diff, need: diff.lines.length < diff.totalLines ? most : size + FENCES };
  });
  // Each fold has its frame, and at each of the seams one is closed and opened again.
  const frames = shown.map(({ entry }) => frameOf(entry));
  const seam = Math.max(0, ...frames) + WORTH_SHOWING;
  let left = most - frames.reduce((sum, frame) => sum + frame, 0) - (MOST_PARTS - 1) * seam;
  const shares = new Map<Entry, number>();
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

/** UTF-16 units of ordinary fences around a diff, on as many pages as it may take. */
const FENCES = 15 * MOST_PARTS;
const GOES_ON = 'Goes on in the next comment.';
const CUT_LINES = 'Very long lines are cut.';
const shortened = (shown: number, { totalLines, where }: Pick<Piece, 'totalLines' | 'where'>): string =>
  `Shortened: ${shown} of ${counted(totalLines, 'line')}. ${where}`;

/** What a fold takes beside its code block, with the longest note behind it. */
const frameOf = (entry: Entry): number =>
  details(`${entry.summary}, continued`, '').length + entry.where.length + WORTH_SHOWING / 4;

const summaryOf = ({ summary }: Entry, from: number): string =>
  from === 0 ? summary : `${summary}, continued`;

const linkOnly = (piece: Piece, from: number): string =>
  details(
    summaryOf(piece, from),
    from === 0 ? `Too long to show here. ${piece.where}` : shortened(from, piece),
  );

/** Lays one diff, on as many pages as it takes; `later` is what those behind it need at least. */
function lay(piece: Piece, pages: Pages, later: number): void {
  const frame = frameOf(piece);
  let from = 0;
  let spent = 0;
  for (;;) {
    const room = pages.left - frame - (pages.isLast ? later : 0);
    const share = piece.share - spent;
    const part = fenced(piece.lines, from, Math.min(room, share));
    const ends = part !== null && part.next === piece.totalLines;
    if (part === null || (!ends && part.block.length < WORTH_SHOWING)) {
      if (share >= WORTH_SHOWING && room < share && pages.turn()) continue;
      pages.put(linkOnly(piece, from));
      return;
    }
    const goesOn = !ends && room < share && !pages.isLast;
    pages.put(details(summaryOf(piece, from), noted(part, piece, goesOn, ends)));
    if (!goesOn) return;
    from = part.next;
    spent += part.block.length;
    pages.turn();
  }
}

function noted(
  part: { readonly block: string; readonly next: number; readonly cut: boolean },
  piece: Piece,
  goesOn: boolean,
  ends: boolean,
): string {
  const note = goesOn
    ? GOES_ON
    : ends
      ? part.cut
        ? `${CUT_LINES} ${piece.where}`
        : ''
      : shortened(part.next, piece);
  return note === '' ? part.block : `${part.block}\n\n${note}`;
}

/** Blocks on one page after another, never more on one than it has room for. */
class Pages {
  readonly all: string[][] = [[]];
  left: number;
  readonly #next: number;

  constructor({ first, next }: Rooms) {
    this.left = first;
    this.#next = next;
  }

  get isLast(): boolean {
    return this.all.length === MOST_PARTS;
  }

  /** False where this was the last page, or where it is a fresh one, so that a new one would hold no more. */
  turn(): boolean {
    const fresh = this.all.length > 1 && this.all.at(-1)?.length === 0;
    if (this.isLast || fresh) return false;
    this.all.push([]);
    this.left = this.#next;
    return true;
  }

  /** A block for which there is no room on any page is left out. */
  put(block: string): void {
    if (block.length + 2 > this.left && !this.turn()) return;
    if (block.length + 2 > this.left) return;
    this.all.at(-1)?.push(block);
    this.left -= block.length + 2;
  }
}
