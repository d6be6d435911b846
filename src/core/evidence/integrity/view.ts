import { type PatchFile, patchedText } from '../../patches/index.ts';
import {
  type BlankedText,
  blankedText,
  type SourceText,
  type SyntaxTree,
  type SyntaxTrees,
} from '../../source/index.ts';
import { type Language, languageOf } from '../languages.ts';
import type { Change } from './finding.ts';

/** One version of a file, or of the part that a hunk shows. */
export interface Side extends BlankedText {
  /** Null if the language has no grammar, or the parser's limits were exceeded. */
  readonly tree: SyntaxTree | null;
  /** Offset of each line's first character, followed by the end. */
  readonly starts: readonly number[];
  /** The change of each line; null for unchanged lines. */
  readonly changes: readonly (Change | null)[];
}

/** The same part of a file before and after the patch. */
export interface View {
  readonly before: Side;
  readonly after: Side;
}

/** A file of a patch, parsed once for all checks. */
export interface InspectedFile {
  readonly file: PatchFile;
  readonly language: Language;
  /** The base text, if known. */
  readonly baseText: string | undefined;
  /** All lines of its hunks. */
  readonly changes: readonly Change[];
  readonly views: readonly View[];
}

export function inspectFile(
  file: PatchFile,
  baseText: string | undefined,
  trees: SyntaxTrees,
): InspectedFile {
  const language = languageOf(file.path);
  const each = changesOf(file);
  const views = viewTexts(file, baseText, each).map(({ before, after }) => ({
    before: sideOf(file.path, before, trees),
    after: sideOf(file.path, after, trees),
  }));
  return { file, language, baseText, changes: each.flat(), views };
}

/** The texts of a file before and after the patch, to be parsed for inspection. */
export function textsToParse(file: PatchFile, baseText: string | undefined): PatchTexts {
  const views = viewTexts(file, baseText, changesOf(file));
  const texts = (side: 'before' | 'after') =>
    views.map((view) => ({ path: file.path, text: view[side].text }));
  return { base: texts('before'), patched: texts('after') };
}

export interface PatchTexts {
  readonly base: readonly SourceText[];
  readonly patched: readonly SourceText[];
}

const changesOf = ({ hunks }: PatchFile): readonly (readonly Change[])[] =>
  hunks.map((hunk) => hunk.lines.map((line) => ({ line, hunk })));

/** Longer texts are inspected hunk by hunk. */
const MAX_FILE_CHARS = 2 ** 21;

/** One side of a view before parsing, with the change of each line. */
interface UnparsedSide {
  readonly text: string;
  readonly changes: readonly (Change | null)[];
}

/** The whole file if its base text is known and small enough, otherwise one view per hunk. */
function viewTexts(
  file: PatchFile,
  baseText: string | undefined,
  hunks: readonly (readonly Change[])[],
): readonly { readonly before: UnparsedSide; readonly after: UnparsedSide }[] {
  if (file.binary || hunks.length === 0) return [];
  const base = file.change === 'added' ? '' : baseText;
  if (base !== undefined && base.length <= MAX_FILE_CHARS) {
    const after = file.change === 'deleted' ? '' : textAfter(base, file);
    const changes = hunks.flat();
    if (after !== null)
      return [
        {
          before: wholeSide(file.path, base, 'removed', changes),
          after: wholeSide(file.path, after, 'added', changes),
        },
      ];
  }
  return hunks.map((own) => ({
    before: hunkSide(file.path, own, 'removed'),
    after: hunkSide(file.path, own, 'added'),
  }));
}

function textAfter(base: string, file: PatchFile): string | null {
  const patched = patchedText(file.change === 'added' ? null : base, file);
  return patched.kind === 'text' && patched.text.length <= MAX_FILE_CHARS ? patched.text : null;
}

type ChangedLineKind = 'added' | 'removed';

function wholeSide(
  path: string,
  text: string,
  kind: ChangedLineKind,
  changes: readonly Change[],
): UnparsedSide {
  const byLine = new Map(
    changes.filter(({ line }) => line.kind === kind).map((change) => [change.line.line, change] as const),
  );
  const lines = startsOf(text).slice(0, -1);
  return withPhpTag(path, { text, changes: lines.map((_, i) => byLine.get(i + 1) ?? null) });
}

/** Text outside its tags is not PHP code, but an excerpt may be all code. */
const withPhpTag = (path: string, { text, changes }: UnparsedSide): UnparsedSide =>
  /\.php$/i.test(path) && text !== '' && !text.includes('<?')
    ? { text: `<?php\n${text}`, changes: [null, ...changes] }
    : { text, changes };

/** The text of a hunk, completed as far as the parser needs. */
function hunkSide(path: string, hunk: readonly Change[], kind: ChangedLineKind): UnparsedSide {
  const own = hunk.filter(({ line }) => line.kind === kind || line.kind === 'context');
  const text = own.map(({ line }) => `${line.text}\n`).join('');
  const changes = own.map((change) => (change.line.kind === kind ? change : null));
  return withPhpTag(path, { text: `${text}${closingBrackets(text)}\n`, changes: [...changes, null] });
}

const CLOSING_BRACKETS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Brackets that close what a hunk leaves open. */
function closingBrackets(text: string): string {
  const open: string[] = [];
  for (const char of text) {
    const closer = CLOSING_BRACKETS[char];
    if (closer) open.push(closer);
    else if (char === open.at(-1)) open.pop();
  }
  return open.reverse().join('');
}

function sideOf(path: string, { text, changes }: UnparsedSide, trees: SyntaxTrees): Side {
  const tree = trees({ path, text });
  return {
    ...(tree ? blankedText(tree) : { code: text, mask: text }),
    tree,
    starts: startsOf(text),
    changes,
  };
}

/** A text that is no patch's, to be inspected as a whole. */
export const sideOfText = ({ path, text }: SourceText, trees: SyntaxTrees): Side =>
  sideOf(path, { text, changes: [] }, trees);

function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0 && at + 1 < text.length; at = text.indexOf('\n', at + 1))
    starts.push(at + 1);
  return text === '' ? [0] : [...starts, text.length];
}

/** The index of the line that contains an offset. */
export function lineIndexAt({ starts }: Pick<Side, 'starts'>, offset: number): number {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= offset) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** The text of a line; `code` keeps string contents, `mask` does not. */
export function lineText(side: Side, index: number, of: 'code' | 'mask' = 'code'): string {
  const end = side.starts[index + 1] ?? side[of].length;
  return side[of].slice(side.starts[index], side[of][end - 1] === '\n' ? end - 1 : end);
}

/** The first changed line between two offsets, if any. */
export function changeIn(side: Side, from: number, to: number): Change | null {
  for (let i = lineIndexAt(side, from); i <= lineIndexAt(side, Math.max(from, to - 1)); i++) {
    const change = side.changes[i];
    if (change) return change;
  }
  return null;
}

/** The first line of a file that the patch adds or removes. */
export const firstChange = ({ changes }: InspectedFile): Change | null =>
  changes.find(({ line }) => line.kind !== 'context') ?? null;

/** The changed line nearest to an offset: at or above it, otherwise below. */
export function nearestChange({ changes }: InspectedFile, side: Side, offset: number): Change | null {
  const touched = changes.filter(({ line }) => line.kind !== 'context');
  const line = lineIndexAt(side, offset) + 1;
  return touched.findLast((one) => one.line.line <= line) ?? touched[0] ?? null;
}
