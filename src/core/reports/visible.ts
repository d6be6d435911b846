const ESC = '\u001b';
const BEL = '\u0007';
/** C1 controls: some terminals read each as ESC and a letter. */
const C1 = { csi: '\u009b', st: '\u009c', strings: '\u0090\u0098\u009d-\u009f' } as const;
const CONTROL = '\u0000-\u001f\u007f-\u009f';

/**
 * Terminal escape sequences: colours and cursor (CSI), titles and links (OSC and similar, ended on the same line),
 * and others.
 */
const ESCAPES = new RegExp(
  [
    `(?:${ESC}\\[|${C1.csi})[0-?]*[ -/]*[@-~]`,
    `(?:${ESC}[\\]PX^_]|[${C1.strings}])[^${CONTROL}]*(?:${BEL}|${ESC}\\\\|${C1.st})`,
    `${ESC}[ -/]*[0-~]`,
  ].join('|'),
  'g',
);
const CONTROLS_BUT_NEWLINE_AND_TAB = /(?![\n\t])\p{Cc}/gu;

/**
 * Characters that are invisible or look like others: format and bidirectional characters, tags, variation selectors,
 * fillers, unusual spaces, line separators, lone surrogates. The ideographic space is excluded: it is visibly wide.
 */
const HIDDEN =
  /(?![ \u3000])[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cs}\p{Zs}\u2028\u2029\u2800]/gu;

const namedCharacter = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/** Removes terminal escapes; keeps the text between them. */
const withoutEscapes = (text: string): string => text.replace(ESCAPES, '');

/** Spaces of other widths: in code they hide, in output they only set things apart, as pnpm's thin ones around a code. */
const UNUSUAL_SPACE = /(?![ \u3000])\p{Zs}/gu;

/**
 * Sanitizes program output for display: removes escapes and control characters, spells out invisible characters as
 * `<U+200B>`. Keeps newlines; tabs and unusual spaces become spaces.
 */
export function visible(text: string): string {
  return withoutEscapes(text)
    .replace(/\r\n?/g, '\n')
    .replace(CONTROLS_BUT_NEWLINE_AND_TAB, '')
    .replaceAll('\t', '  ')
    .replace(UNUSUAL_SPACE, ' ')
    .replace(HIDDEN, namedCharacter);
}

/**
 * Prepares code for display: removes nothing but the CR of CR LF, and spells out everything invisible. Readers decide
 * by what is shown, so removing a "terminal escape" from a diff could hide the code inside it.
 */
export function visibleCode(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(CONTROLS_BUT_NEWLINE_AND_TAB, namedCharacter)
    .replace(HIDDEN, namedCharacter);
}

/** UTF-8 length of one code point. */
function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

interface Bounds {
  readonly codePoints: number;
  /** Maximum UTF-8 bytes; absent: unlimited. */
  readonly bytes?: number;
}

/** The longest prefix within both limits, followed by `…` if the text was cut. Never splits a code point. */
export function cut(text: string, bounds: Bounds): string {
  const bytes = bounds.bytes ?? Number.POSITIVE_INFINITY;
  if (text.length <= bounds.codePoints && text.length * 3 <= bytes) return text;
  let points = 0;
  let size = 0;
  let end = 0;
  let endWithMark = 0;
  for (const character of text) {
    points += 1;
    size += bytesOf(character.codePointAt(0) ?? 0);
    if (points > bounds.codePoints || size > bytes) {
      const roomForMark = bounds.codePoints >= 1 && bytes >= 3;
      return roomForMark ? `${text.slice(0, endWithMark)}…` : text.slice(0, end);
    }
    end += character.length;
    if (points <= bounds.codePoints - 1 && size <= bytes - 3) endWithMark = end;
  }
  return text;
}

/** Blanks and line ends of every kind, except the byte order mark, which is shown. */
const BLANKS = /[\t-\r\u0085\p{Zs}\u2028\u2029]+/gu;

/** Maximum characters of a long text that are processed; what is shown is always far shorter. */
const MAX_LINE_READ = 20_000;

/** One visible line of at most `limit` code points: newlines and runs of blanks become one space. */
export function visibleLine(text: string, limit: number): string {
  const line = visible(text.slice(0, MAX_LINE_READ).replace(BLANKS, ' ')).replace(/ {2,}/g, ' ').trim();
  return cut(line, { codePoints: limit });
}

/** Maximum code points of one line of output. */
const MAX_TAIL_LINE = 500;

/** The last `lines` non-blank lines of a program's output, sanitized for display; long lines are cut. */
export function tailOf(output: string, lines: number): string {
  const kept = visible(output.slice(-2 * MAX_TAIL_LINE * lines))
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-lines);
  return kept.map((line) => cut(line, { codePoints: MAX_TAIL_LINE })).join('\n');
}

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for use as HTML or SVG text, or in a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => HTML_ENTITIES[char] ?? char);

/** A folder of the host, and its replacement in public texts. */
export interface HostFolder {
  readonly path: string;
  readonly name: string;
}

const TEXT_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Matches a character in any form that Runoff's Markdown writes: plain, after a backslash, as an entity, or followed
 * by a separator.
 */
function characterPattern(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const literal = character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
  const entities = [
    `&#${character.codePointAt(0)};`,
    ...(TEXT_ENTITIES[character] ? [TEXT_ENTITIES[character]] : []),
  ];
  return `(?:\\\\?${literal}|${entities.join('|')})(?:&#8203;)?`;
}

/**
 * Replaces host folders in public texts, because file paths in messages reveal details of the machine. Longer paths
 * first; a match must not be a part of a longer name.
 */
export function withoutHostPaths(folders: readonly HostFolder[]): (text: string) => string {
  const forms = folders
    .filter(({ path }) => /^\/[^/]+\/[^/]/.test(path))
    .sort((one, other) => other.path.length - one.path.length)
    .map(({ path, name }) => {
      const letters = [...path.replace(/\/+$/, '')].map(characterPattern).join('');
      return { name, form: new RegExp(`(?<![A-Za-z0-9_.~])${letters}(?![A-Za-z0-9_-])`, 'g') };
    });
  return (text) => forms.reduce((kept, { form, name }) => kept.replace(form, name), text);
}
