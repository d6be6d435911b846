const ESC = '\u001b';
const BEL = '\u0007';
/** C1 controls: some terminals read each as ESC and a letter. */
const C1 = { csi: '\u009b', st: '\u009c', strings: '\u0090\u0098\u009d-\u009f' } as const;
const CONTROL = '\u0000-\u001f\u007f-\u009f';

/** A terminal's commands: colours and cursor (CSI), titles and links (OSC and its like, ended on the same line), the rest. */
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
 * What a reader cannot see or takes for something else: format and bidirectional characters, tags, variation selectors,
 * fillers, odd spaces, line separators, lone surrogates. The ideographic space stays: it is visibly wide.
 */
const HIDDEN =
  /(?![ \u3000])[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cs}\p{Zs}\u2028\u2029\u2800]/gu;

const namedCharacter = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/** Terminal escapes removed; text between them stays. */
const withoutEscapes = (text: string): string => text.replace(ESCAPES, '');

/**
 * Program output made fit to show: escapes and control characters gone, invisible characters named as `<U+200B>`.
 * Keeps newlines; tabs become spaces.
 */
export function visible(text: string): string {
  return withoutEscapes(text)
    .replace(/\r\n?/g, '\n')
    .replace(CONTROLS_BUT_NEWLINE_AND_TAB, '')
    .replaceAll('\t', '  ')
    .replace(HIDDEN, namedCharacter);
}

/**
 * Code made fit to show: nothing is removed but the CR of a CR LF, everything unseen is named. A reader decides on what
 * is shown, so that dropping a "terminal escape" out of a diff would hide the code inside it.
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
  /** UTF-8; absent: not bounded by bytes. */
  readonly bytes?: number;
}

/** The longest beginning within both bounds, ended with `…` where something was cut. Never splits a code point. */
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

/** Blanks and line ends of every kind; a byte order mark is none, it is shown. */
const BLANKS = /[\t-\r\u0085\p{Zs}\u2028\u2029]+/gu;

/** How much of a long text is looked at before it is cut: what is shown is always far shorter. */
const MAX_LINE_READ = 20_000;

/** One visible line of at most `limit` code points: newlines and runs of blanks become one space. */
export function visibleLine(text: string, limit: number): string {
  const line = visible(text.slice(0, MAX_LINE_READ).replace(BLANKS, ' ')).replace(/ {2,}/g, ' ').trim();
  return cut(line, { codePoints: limit });
}

/** Code points of one line of output that are kept. */
const MAX_TAIL_LINE = 500;

/** The last `lines` lines of a program's output that are not blank, fit to show; long ones are cut. */
export function tailOf(output: string, lines: number): string {
  const kept = visible(output.slice(-2 * MAX_TAIL_LINE * lines))
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-lines);
  return kept.map((line) => cut(line, { codePoints: MAX_TAIL_LINE })).join('\n');
}

/** A folder of the host, and what stands for it in public. */
export interface HostFolder {
  readonly path: string;
  readonly name: string;
}

const TEXT_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A character as our Markdown may write it: as it is, behind a backslash, as an entity, or parted from the next one. */
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
 * Takes folders of the host out of texts that everybody may read: a message that names a file of ours says so much about
 * the machine. Longer paths first; a folder that is only a part of a longer name is another one.
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
