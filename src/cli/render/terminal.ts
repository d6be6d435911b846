import stringWidth from 'string-width';
import { type Markup, visibleCode, visibleLine } from '../../core/reports/index.ts';

/** Columns that a text takes in a terminal; it may contain colours. */
export const displayWidth = (text: string): number =>
  // Most cells are plain, and the library takes a hundred times as long.
  /^[ -~]*$/.test(text) ? text.length : stringWidth(text);

/** What a terminal draws as one character, such as a letter with its accents or a flag. */
const CHARACTERS = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The longest prefix within `width` columns; ends with `…` if something was cut. It must not contain colours. */
export function clipped(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let columns = 0;
  for (const { segment } of CHARACTERS.segment(text)) {
    columns += displayWidth(segment);
    if (columns > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Exactly `width` columns: cut or padded. */
export function padded(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const kept = clipped(text, width);
  const space = ' '.repeat(Math.max(0, width - displayWidth(kept)));
  return side === 'left' ? kept + space : space + kept;
}

/** Wraps words into lines of at most `width` columns. A longer word gets its own line and is cut. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const grown = line === '' ? word : `${line} ${word}`;
    if (displayWidth(grown) <= width) {
      line = grown;
      continue;
    }
    if (line !== '') lines.push(line);
    line = clipped(word, width);
  }
  return line === '' ? lines : [...lines, line];
}

/** Untrusted text for a terminal: one line without control or invisible characters. */
export const printable = (text: string, limit = 300): string => visibleLine(text, limit);

/** How parts of a sentence are written in a terminal. Addresses are listed beside it, where no line is cut. */
export const TERMINAL: Markup = {
  own: (text) => text.replaceAll('**', ''),
  code: (text, limit) => `\`${printable(text, limit)}\``,
  sentence: printable,
  link: (label) => printable(label),
};

const ESC = '\u001b';
/** The sequences that Runoff writes itself: colours. */
const OWN_SEQUENCES = new RegExp(`(${ESC}\\[(?:0|1|2|31|32)m)`);

/**
 * A finished text for a terminal: only our own colours are kept as sequences, and invisible characters are escaped. All
 * output to a screen goes through this function, so that text of others is harmless even if it was not escaped before.
 */
export const terminalText = (text: string): string =>
  text
    .split(OWN_SEQUENCES)
    .map((part, at) => (at % 2 === 1 ? part : visibleCode(part)))
    .join('');

/** Each sequence that begins with ESC, whole, and what else a terminal may act on. No ESC is left to another match. */
const SEQUENCE = new RegExp(
  [
    `${ESC}\\[(?<parameters>[0-?]*)(?<command>[ -/]*[@-~])`,
    `${ESC}[\\]PX^_][\\s\\S]*?(?:\u0007|${ESC}\\\\)`,
    `(?<unfinished>${ESC}(?:[\\]PX^_][\\s\\S]*|\\[[0-?]*[ -/]*|[ -/]*)$)`,
    `${ESC}(?<short>[ -/]*[0-~])`,
    `${ESC}|[\u0005\u0080-\u009f]`,
  ].join('|'),
  'g',
);
/** Colours, cursor, deletion, insertion, scrolling: ECMA-48. None of them is answered, as reports are. */
const DRAWN = /^[@A-MPSTXZ`adefgmrsu]$/;
/** Modes of the cursor, of its keys, of wrapping, of the other screen and of pasted text; not of the mouse. */
const DRAWN_MODES = /^\??(?:1|4|7|12|25|47|1047|1048|1049|2004)(?:;(?:1|4|7|12|25|47|1047|1048|1049|2004))*$/;
/** Cursor, keypad, scrolling by a line, and the two character sets that draw text and lines. */
const DRAWN_SHORT = /^(?:[78=>DEM]|[()][0B])$/;
/** Maximum characters of the beginning of a sequence whose rest has not come yet; our default. */
const MAX_UNFINISHED = 64 * 1024;

/**
 * Output of an untrusted program that draws on a terminal, piece by piece: colours and cursor movement are kept, what
 * else a terminal may act on is removed: titles, clipboard, links, and requests that it answers as if somebody typed.
 */
export function openTerminalFilter(): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder();
  let rest = '';
  return (bytes) => {
    const text = rest + decoder.decode(bytes, { stream: true });
    rest = '';
    return text.replace(SEQUENCE, (whole, ...more: unknown[]) => {
      const { parameters = '', command = '', unfinished, short = '' } = more.at(-1) as SequenceParts;
      if (unfinished !== undefined) {
        rest = unfinished.length > MAX_UNFINISHED ? unfinished.slice(0, 2) : unfinished;
        return '';
      }
      const isDrawn =
        (DRAWN.test(command) && !/[<-?]/.test(parameters)) ||
        (/^[hl]$/.test(command) && DRAWN_MODES.test(parameters)) ||
        DRAWN_SHORT.test(short);
      return isDrawn ? whole : '';
    });
  };
}

type SequenceParts = Readonly<
  Partial<Record<'parameters' | 'command' | 'unfinished' | 'short', string | undefined>>
>;

export type Tone = 'strong' | 'good' | 'bad' | 'dim';
const SGR = { strong: 1, good: 32, bad: 31, dim: 2 } as const satisfies Record<Tone, number>;

export type Paint = (tone: Tone, text: string) => string;

/** Colours a finished text, or leaves it unchanged if NO_COLOR is set or the output is a pipe. */
export const painter =
  (colour: boolean): Paint =>
  (tone, text) =>
    colour && text !== '' ? `\u001b[${SGR[tone]}m${text}\u001b[0m` : text;
