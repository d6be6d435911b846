import { html as diffHtml } from 'diff2html';
import { raw } from 'hono/html';
import type { DiffLine, Hunk } from '../../../core/patches/index.ts';
import { cut, visibleCode } from '../../../core/reports/index.ts';
import type { Html } from '../../layout.ts';
import { MAX_SHOWN_LINE, type PartOfFile } from './diff-files.ts';

/** `split`: before and after side by side; `unified`: one column. */
export const DIFF_VIEWS = ['split', 'unified'] as const;
export type DiffViewName = (typeof DIFF_VIEWS)[number];

/**
 * Runoff's templates in place of those of diff2html: no ids and no headings, which a file's name would control, and less
 * white space. Values in three braces were escaped by diff2html, or are signs and numbers.
 */
const LINE =
  '<tr><td class="{{lineClass}} {{type}}">{{{lineNumber}}}</td><td class="{{type}}"><div class="{{contentClass}}"><span class="d2h-code-line-prefix">{{{prefix}}}</span><span class="d2h-code-line-ctn">{{{content}}}</span></div></td></tr>';
const rowsTable = (of: string, name: string, rows: string): string =>
  `<div class="${of}" role="region" aria-label="${name}" tabindex="0"><table class="d2h-diff-table"><caption class="hidden">${name}</caption><tbody class="d2h-diff-tbody">${rows}</tbody></table></div>`;
/** Between the two sides. In text of others it is spelt out. */
const SIDES = '\0';
const TEMPLATES = {
  'generic-wrapper': '{{{content}}}',
  'generic-line': LINE,
  'generic-block-header':
    '<tr><td class="{{lineClass}} {{CSSLineClass.INFO}}"></td><td class="{{CSSLineClass.INFO}}"><div class="{{contentClass}}">{{#blockHeader}}{{{blockHeader}}}{{/blockHeader}}&nbsp;</div></td></tr>',
  'line-by-line-numbers':
    '<div class="line-num1">{{oldNumber}}</div><div class="line-num2">{{newNumber}}</div>',
  'side-by-side-file-diff': `{{{diffs.left}}}${SIDES}{{{diffs.right}}}`,
  'line-by-line-file-diff': '{{{diffs}}}',
};

const inFile = (language: string, content: string): Html =>
  raw(`<div class="d2h-file-wrapper" data-lang="${language}">${content}</div>`);

const rowsOf = (side: string): readonly string[] =>
  side
    .split('</tr>')
    .slice(0, -1)
    .map((row) => `${row}</tr>`);

/** Of a row of one side: `none` stands beside a line that the other side has alone. */
function kindOf(row: string): 'changed' | 'none' | 'same' {
  const [, classes = ''] = /^<tr><td class="([^"]*)"/.exec(row) ?? [];
  if (classes.includes('d2h-emptyplaceholder')) return 'none';
  return /\bd2h-(?:del|ins)\b/.test(classes) ? 'changed' : 'same';
}

/** Both sides as one column: what was removed, then what was added in its place. */
function oneColumn(left: readonly string[], right: readonly string[]): string {
  const rows: string[] = [];
  let added: string[] = [];
  for (const [at, before] of left.entries()) {
    const after = right[at] ?? '';
    const isSame = kindOf(before) === 'same';
    if (isSame) {
      // The heading of a hunk stands on the left only.
      rows.push(...added, before.includes('d2h-info') ? before : after);
      added = [];
    }
    if (kindOf(before) === 'changed') rows.push(before);
    if (kindOf(after) === 'changed') added.push(after);
  }
  return [...rows, ...added].join('');
}

/** Side by side needs room: where there is none, the page shows the same lines in one column. */
function bothSides(split: string): string {
  const [left = '', right = ''] = split.split(SIDES);
  const sides = [
    rowsTable('d2h-file-side-diff', 'Before', left),
    rowsTable('d2h-file-side-diff', 'After', right),
  ];
  const narrow = rowsTable('d2h-file-diff where-narrow', 'Changes', oneColumn(rowsOf(left), rowsOf(right)));
  return `<div class="d2h-files-diff where-wide">${sides.join('')}</div>${narrow}`;
}

/** The lines of a part of a file. The text is data: diff2html escapes it, and `Runoff` spells out invisible characters. */
export function diffTable({ file, hunks }: PartOfFile, view: DiffViewName): Html {
  const isWindows = hasWindowsLines(hunks);
  const language = languageOf(file.path);
  const rows = diffHtml(
    [
      {
        oldName: 'file',
        newName: 'file',
        addedLines: file.additions,
        deletedLines: file.deletions,
        isCombined: false,
        isGitDiff: true,
        language,
        blocks: hunks.map((hunk) => ({
          oldStartLine: hunk.oldStart,
          newStartLine: hunk.newStart,
          header: hunkHeader(hunk),
          lines: hunk.lines.flatMap((line) => shownLines(line, isWindows)),
        })),
      },
    ],
    {
      outputFormat: view === 'split' ? 'side-by-side' : 'line-by-line',
      drawFileList: false,
      ...matchingBounds(hunks),
      rawTemplates: TEMPLATES,
    },
  );
  return inFile(language, view === 'split' ? bothSides(rows) : rowsTable('d2h-file-diff', 'Changes', rows));
}

const hunkHeader = ({ oldStart, oldCount, newStart, newCount, heading }: Hunk): string =>
  `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@ ${shownCode(heading, 200)}`;

const shownCode = (text: string, limit: number): string => visibleCode(cut(text, { codePoints: limit }));

/** In a file with Windows line ends throughout, these say nothing. */
export const hasWindowsLines = (hunks: readonly Hunk[]): boolean => {
  const all = hunks.flatMap(({ lines }) => lines);
  return all.length > 0 && all.every(({ text, noNewline }) => text.endsWith('\r') || noNewline === true);
};

type D2hLine = Parameters<typeof diffHtml>[0] extends infer Input
  ? Input extends readonly { readonly blocks: readonly { readonly lines: readonly (infer Line)[] }[] }[]
    ? Line
    : never
  : never;

const LINE_SIGNS = { added: '+', removed: '-', context: ' ' } as const;

/** One line, and a note if the file ends there without a newline. */
function shownLines({ kind, text, line, base, noNewline }: DiffLine, isWindows: boolean): readonly D2hLine[] {
  const ended = isWindows && text.endsWith('\r') ? text.slice(0, -1) : text;
  const end = noNewline ? ' ⏎̸' : '';
  const content = `${LINE_SIGNS[kind]}${shownCode(ended, MAX_SHOWN_LINE)}${end}`;
  return [lineOfKind(kind, content, { line, base })];
}

function lineOfKind(
  kind: DiffLine['kind'],
  content: string,
  { line, base }: Pick<DiffLine, 'line' | 'base'>,
): D2hLine {
  // diff2html compares these names at run time; its own enumeration exists in its types only.
  const of = { added: 'insert', removed: 'delete', context: 'context' }[kind];
  const numbers = {
    oldNumber: kind === 'added' ? undefined : base,
    newNumber: kind === 'removed' ? undefined : line,
  };
  return { type: of, content, ...numbers } as D2hLine;
}

/** Extensions whose language the highlighter knows; nothing else of a file's name reaches the page's markup. */
const LANGUAGES: ReadonlySet<string> = new Set(
  'bash c cc cjs cpp cs css cts go h hpp html java js json jsx kt less lua md mjs mts php pl py rb rs scala scss sh sql swift toml ts tsx vue xml yaml yml'.split(
    ' ',
  ),
);

/** As `data-lang`: an extension of the list, or `plaintext`. */
export function languageOf(path: string): string {
  const extension = /\.([A-Za-z]{1,5})$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return LANGUAGES.has(extension) ? extension : 'plaintext';
}

/**
 * Work that a part of a diff may cause, because candidates choose its lines. Beyond it lines are paired in order instead
 * of by likeness, and words are marked in shorter lines only. Ours: each about 0.1 s, measured with lines as costly as
 * can be; a part of ordinary code is far below.
 */
const MAX_WORK = {
  /** Pairs of lines times the square of the longest: how likeness is calculated. */
  matching: 1_500_000,
  /** Sum of the squares of the numbers of words in lines. */
  marking: 900_000,
} as const;

/** Longest lines in which changed words are marked, in UTF-16 units: the first one within the bound. */
const MARKED_LINES = [400, 200, 100, 50] as const;

interface ComparedLine {
  readonly text: string;
  readonly words: number;
}

/** Removed lines with the added ones after them: only these are compared. */
interface EditedLines {
  readonly removed: ComparedLine[];
  readonly added: ComparedLine[];
}

/** Settings of diff2html that bound its work on these lines. */
function matchingBounds(hunks: readonly Hunk[]): {
  readonly matching: 'lines' | 'none';
  readonly maxLineLengthHighlight: number;
} {
  const changes = editsOf(hunks);
  const marking = (longest: number) =>
    changes
      .flatMap(({ removed, added }) => [...removed, ...added])
      .filter(({ text }) => text.length <= longest)
      .reduce((sum, { words }) => sum + words ** 2, 0);
  return {
    matching:
      changes.reduce((sum, change) => sum + matchingWork(change), 0) > MAX_WORK.matching ? 'none' : 'lines',
    maxLineLengthHighlight: MARKED_LINES.find((longest) => marking(longest) <= MAX_WORK.marking) ?? 0,
  };
}

const matchingWork = ({ removed, added }: EditedLines): number =>
  removed.length * added.length * Math.max(0, ...[...removed, ...added].map(({ text }) => text.length)) ** 2;

function editsOf(hunks: readonly Hunk[]): readonly EditedLines[] {
  const changes: EditedLines[] = [];
  let current: EditedLines | null = null;
  for (const { kind, text } of hunks.flatMap(({ lines }) => lines)) {
    if (kind === 'context') {
      current = null;
      continue;
    }
    if (current === null || (kind === 'removed' && current.added.length > 0)) {
      current = { removed: [], added: [] };
      changes.push(current);
    }
    current[kind].push({ text, words: wordCount(text) });
  }
  return changes.filter(({ removed, added }) => removed.length > 0 && added.length > 0);
}

/** As many parts as a comparison of words makes of it, blanks included. */
const wordCount = (text: string): number =>
  text.length > MARKED_LINES[0] ? 0 : (text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu)?.length ?? 0);
