import { type PatchFile, patchedText } from '../../patches/index.ts';
import { type Language, languageOf } from '../languages.ts';
import type { Change } from './finding.ts';
import { type Source, sourceOf } from './source.ts';

/** One version of a file, or of the part of it that a hunk shows. */
export interface Side extends Source {
  /** Offset of each line's first character; one more for the end. */
  readonly starts: readonly number[];
  /** What the patch says of each line; null for a line that it leaves alone. */
  readonly changes: readonly (Change | null)[];
}

/** The same part of a file before and after. */
export interface View {
  readonly before: Side;
  readonly after: Side;
}

/** A file of a patch, taken apart once for all who look at it. */
export interface Look {
  readonly file: PatchFile;
  readonly language: Language;
  /** Text on the base, where it is known. */
  readonly baseText: string | undefined;
  /** All lines of its hunks. */
  readonly changes: readonly Change[];
  readonly views: readonly View[];
}

export function lookAt(file: PatchFile, baseText: string | undefined): Look {
  const hunks = file.hunks;
  const each = hunks.map((hunk) => hunk.lines.map((line) => ({ line, hunk })));
  const changes = each.flat();
  const language = languageOf(file.path);
  return { file, language, baseText, changes, views: viewsOf(file, language, baseText, each) };
}

/** Longer texts are looked at hunk by hunk only. */
const MOST_CHARACTERS = 2 ** 21;

/** The whole file where the text on the base is known and fits, else one view for each hunk. */
function viewsOf(
  file: PatchFile,
  language: Language,
  baseText: string | undefined,
  hunks: readonly (readonly Change[])[],
): readonly View[] {
  if (file.binary || hunks.length === 0) return [];
  const base = file.change === 'added' ? '' : baseText;
  if (base !== undefined && base.length <= MOST_CHARACTERS) {
    const after = file.change === 'deleted' ? '' : textAfter(base, file);
    const changes = hunks.flat();
    if (after !== null) {
      return [
        {
          before: sideOf(base, 'removed', changes, language),
          after: sideOf(after, 'added', changes, language),
        },
      ];
    }
  }
  return hunks.map((own) => ({
    before: partOf(
      own.filter(({ line }) => line.kind !== 'added'),
      'removed',
      language,
    ),
    after: partOf(
      own.filter(({ line }) => line.kind !== 'removed'),
      'added',
      language,
    ),
  }));
}

function textAfter(base: string, file: PatchFile): string | null {
  const patched = patchedText(file.change === 'added' ? null : base, file);
  return patched.kind === 'text' && patched.text.length <= MOST_CHARACTERS ? patched.text : null;
}

type Fresh = 'added' | 'removed';

function sideOf(text: string, fresh: Fresh, changes: readonly Change[], language: Language): Side {
  const source = sourceOf(text, language);
  const starts = startsOf(source.code);
  const byLine = new Map(
    changes.filter(({ line }) => line.kind === fresh).map((change) => [change.line.line, change] as const),
  );
  return { ...source, starts, changes: starts.slice(0, -1).map((_, i) => byLine.get(i + 1) ?? null) };
}

function partOf(own: readonly Change[], fresh: Fresh, language: Language): Side {
  const source = sourceOf(own.map(({ line }) => `${line.text}\n`).join(''), language);
  const changes = own.map((change) => (change.line.kind === fresh ? change : null));
  return { ...source, starts: startsOf(source.code), changes };
}

function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0 && at + 1 < text.length; at = text.indexOf('\n', at + 1))
    starts.push(at + 1);
  return text === '' ? [0] : [...starts, text.length];
}

/** The index of the line that an offset stands in. */
export function lineAt({ starts }: Pick<Side, 'starts'>, offset: number): number {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= offset) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** A line's text: `code` keeps strings, `mask` does not. */
export function lineOf(side: Side, index: number, of: 'code' | 'mask' = 'code'): string {
  const end = side.starts[index + 1] ?? side[of].length;
  return side[of].slice(side.starts[index], side[of][end - 1] === '\n' ? end - 1 : end);
}

/** The first line between two offsets that the patch touches, if any. */
export function changeIn(side: Side, from: number, to: number): Change | null {
  for (let i = lineAt(side, from); i <= lineAt(side, Math.max(from, to - 1)); i++) {
    const change = side.changes[i];
    if (change) return change;
  }
  return null;
}

/** The first line of a file that the patch adds or removes. */
export const firstChange = ({ changes }: Look): Change | null =>
  changes.find(({ line }) => line.kind !== 'context') ?? null;

/** The line of the patch that stands next to an offset: at it or above it, else below. */
export function nearest({ changes }: Look, side: Side, offset: number): Change | null {
  const touched = changes.filter(({ line }) => line.kind !== 'context');
  const line = lineAt(side, offset) + 1;
  return touched.findLast((one) => one.line.line <= line) ?? touched[0] ?? null;
}
