import {
  type DiffLine,
  type FileBetween,
  type Hunk,
  notable,
  type PatchFile,
  type ReadFile,
} from '../../../core/patches/index.ts';

/** A changed file as a page shows it. Names and lines are others' text. */
export interface ShownFile {
  readonly path: string;
  readonly label: 'added' | 'deleted' | 'changed' | 'renamed' | 'mode';
  /** The name before a rename; absent otherwise. */
  readonly from?: string;
  /** What the lines do not show, as clauses of ours. */
  readonly notes: readonly string[];
  readonly additions: number;
  readonly deletions: number;
  /** None: there is no text to show, which the notes explain. */
  readonly hunks: readonly Hunk[];
}

const LINK_MODE = '120000';
const CHANGE_LABELS = {
  added: 'added',
  deleted: 'deleted',
  modified: 'changed',
  'type-changed': 'changed',
} as const satisfies Record<PatchFile['change'], ShownFile['label']>;

/** The files of a collected patch; files that were only moved are shown once, with both names. */
export function filesOfPatch(files: readonly PatchFile[]): readonly ShownFile[] {
  const moved = movedFiles(files);
  const gone = new Set([...moved.values()].map(({ path }) => path));
  return files.flatMap((file) => {
    const from = moved.get(file.path);
    if (from) return [renamedFile(from.path, file)];
    return gone.has(file.path) ? [] : [shownFile(file)];
  });
}

function shownFile(file: PatchFile): ShownFile {
  const { path, oldMode, newMode, additions, deletions, binary, hunks } = file;
  const isModeOnly = file.change === 'modified' && !binary && hunks.length === 0;
  const look = notable(file);
  return {
    path,
    label: isModeOnly ? 'mode' : CHANGE_LABELS[file.change],
    notes: [
      ...(binary ? ['binary: its content is not shown'] : []),
      ...(newMode === LINK_MODE || oldMode === LINK_MODE ? ['a symbolic link'] : []),
      ...(file.change === 'modified' && oldMode !== newMode ? [`mode ${oldMode} → ${newMode}`] : []),
      ...(file.change === 'added' && newMode === '100755' ? ['executable'] : []),
      ...(look === null ? [] : [`review closely: it ${look}`]),
    ],
    additions,
    deletions,
    hunks,
  };
}

const renamedFile = (from: string, { path, oldMode: _, newMode }: PatchFile): ShownFile => ({
  path,
  from,
  label: 'renamed',
  notes: ['its content is the same', ...(newMode === '100755' ? ['executable'] : [])],
  additions: 0,
  deletions: 0,
  hunks: [],
});

/** Deleted files by the name of the added file that has exactly their text: patches are collected without renames. */
function movedFiles(files: readonly PatchFile[]): ReadonlyMap<string, PatchFile> {
  const deleted = new Map(
    files
      .filter(({ change, hunks }) => change === 'deleted' && hunks.length > 0)
      .map((file) => [wholeText(file), file]),
  );
  const moved = new Map<string, PatchFile>();
  for (const file of files) {
    if (file.change !== 'added' || file.hunks.length === 0) continue;
    const text = wholeText(file);
    const from = deleted.get(text);
    if (!from) continue;
    moved.set(file.path, from);
    deleted.delete(text);
  }
  return moved;
}

const wholeText = ({ hunks }: PatchFile): string =>
  hunks
    .flatMap(({ lines }) => lines.map(({ text, noNewline }) => `${text}${noNewline ? '' : '\n'}`))
    .join('');

/** The files of a patch that was rejected, or that is no collected patch: what can be read of its text. */
export const filesOfText = (files: readonly ReadFile[]): readonly ShownFile[] =>
  files.map(({ path, from, created, deleted, binary, hunks }) => ({
    path,
    ...(from === null ? {} : { from }),
    label: created ? 'added' : deleted ? 'deleted' : from === null ? 'changed' : 'renamed',
    notes: binary ? ['binary: its content is not shown'] : [],
    ...changeCounts(hunks),
    hunks,
  }));

/** What differs between the results of two candidates. */
export const filesOfComparison = (files: readonly FileBetween[]): readonly ShownFile[] =>
  files.map(({ path, notes, hunks }) => ({ path, label: 'changed', notes, ...changeCounts(hunks), hunks }));

function changeCounts(hunks: readonly Hunk[]): Pick<ShownFile, 'additions' | 'deletions'> {
  const count = (kind: DiffLine['kind']) =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  return { additions: count('added'), deletions: count('removed') };
}

/** Some hunks of one file. */
export interface PartOfFile {
  /** Its number in the list of files. */
  readonly number: number;
  readonly file: ShownFile;
  readonly hunks: readonly Hunk[];
  /** An earlier part has the beginning. */
  readonly isContinued: boolean;
}

/** As much of a diff as one page shows. */
export interface DiffPart {
  readonly files: readonly PartOfFile[];
}

/** Lines and characters of one part. Ours: about half a megabyte of markup, which a browser draws at once. */
const PART_LIMITS = { lines: 500, characters: 75_000 } as const;
/** Files of one part, for a diff of thousands of small ones. */
const PART_FILES = 60;

/** Divides a diff into parts, in order; a hunk that is too long for one is divided between lines. At least one part. */
export function diffParts(files: readonly ShownFile[], limits = PART_LIMITS): readonly DiffPart[] {
  const parts: PartOfFile[][] = [[]];
  let [lines, characters] = [0, 0];
  const next = () => {
    parts.push([]);
    [lines, characters] = [0, 0];
  };
  for (const [number, file] of files.entries()) {
    if ((parts.at(-1)?.length ?? 0) >= PART_FILES || lines >= limits.lines) next();
    let own: Hunk[] = [];
    let isContinued = false;
    const close = () => {
      parts.at(-1)?.push({ number, file, hunks: own, isContinued });
      own = [];
      isContinued = true;
    };
    for (const piece of file.hunks.flatMap((hunk) => dividedHunk(hunk, limits))) {
      const size = piece.lines.reduce((sum, line) => sum + shownLength(line), 0);
      const isFull = lines + piece.lines.length > limits.lines || characters + size > limits.characters;
      if (isFull && lines > 0) {
        if (own.length > 0) close();
        next();
      }
      own.push(piece);
      lines += piece.lines.length;
      characters += size;
    }
    if (own.length > 0 || !isContinued) close();
  }
  return parts.map((part) => ({ files: part }));
}

/** Longest line that is shown, in UTF-16 units; generated files have lines of megabytes. */
export const MAX_SHOWN_LINE = 2_000;

const shownLength = ({ text }: DiffLine): number => Math.min(text.length, MAX_SHOWN_LINE);

/** Pieces of at most one part; lines keep their numbers. */
function dividedHunk(hunk: Hunk, limits: typeof PART_LIMITS): readonly Hunk[] {
  const pieces: Hunk[] = [];
  let lines: DiffLine[] = [];
  let characters = 0;
  const close = () => {
    const [first] = lines;
    if (!first) return;
    pieces.push({ ...hunk, oldStart: first.base, newStart: first.line, lines });
    [lines, characters] = [[], 0];
  };
  for (const line of hunk.lines) {
    const size = shownLength(line);
    if (lines.length >= limits.lines || characters + size > limits.characters) close();
    lines.push(line);
    characters += size;
  }
  close();
  return pieces;
}
