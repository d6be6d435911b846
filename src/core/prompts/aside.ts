/** Where a piece that was set aside stood: one character of a private plane, which `withoutUnseen` leaves to us. */
const FIRST = 0xf0000;
const MOST = 0xfff0;

export interface Aside {
  readonly text: string;
  readonly pieces: readonly string[];
}

/** These begin blocks of HTML that empty lines do not end: behind one, nothing is surely code. */
const RAW = /<!|<\?|<\/?(?:script|pre|style|textarea)\b/i;

/**
 * Sets aside what GitHub surely shows as code: fenced blocks that no HTML block can swallow, and spans in lines without
 * any doubt. Where there is doubt, code is text like any other: what is lost by that is seen by a reader, and what would
 * be kept might not be.
 */
export function codeAside(text: string): Aside {
  const pieces: string[] = [];
  const keep = (piece: string): string => {
    if (pieces.length >= MOST) return piece;
    pieces.push(piece);
    return String.fromCodePoint(FIRST + pieces.length - 1);
  };
  const aside = spansAside(fencesAside(text, keep), keep);
  return RAW.test(withoutClosed(aside)) ? { text, pieces: [] } : { text: aside, pieces };
}

/** Without comments that are closed: they end where they say. */
function withoutClosed(text: string): string {
  let out = '';
  let at = 0;
  for (let from = text.indexOf('<!--'); from >= 0; from = text.indexOf('<!--', at)) {
    const end = text.indexOf('-->', from + 4);
    if (end < 0) break;
    out += text.slice(at, from);
    at = end + 3;
  }
  return out + text.slice(at);
}

/** The text with its pieces where they stood; a piece whose place is gone went with what was around it. */
export const codeBack = (text: string, pieces: readonly string[]): string =>
  text.replace(/[\u{f0000}-\u{ffffd}]/gu, (place) => pieces[(place.codePointAt(0) ?? 0) - FIRST] ?? '');

const FENCE = /^(?:(`{3,})[^`]*|(~{3,}).*)$/;
/** A line that may begin a block of HTML, in a list or quotation too. */
const HTML_LINE = /^[\s>*+\-\d.)]*</;

function fencesAside(text: string, keep: (piece: string) => string): string {
  const lines = text.split('\n');
  const out: string[] = [];
  let inHtml = false;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    inHtml = line.trim() !== '' && (inHtml || HTML_LINE.test(line));
    const found = inHtml ? null : FENCE.exec(line);
    const end = found ? closing(lines, at + 1, found[1] ?? found[2] ?? '') : -1;
    if (end < 0) {
      // One that is not closed swallows the rest, and so would everything behind it be looked through for each of them.
      out.push(found ? lines.slice(at).join('\n') : line);
      if (found) break;
      continue;
    }
    out.push(keep(lines.slice(at, end + 1).join('\n')));
    at = end;
  }
  return out.join('\n');
}

/** The line that closes a fence; -1 where none does. */
function closing(lines: readonly string[], from: number, fence: string): number {
  const mark = fence.charAt(0);
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (!/^ {0,3}[`~]/.test(line)) continue;
    const bar = line.trim();
    if (bar.length >= fence.length && bar === mark.repeat(bar.length)) return at;
  }
  return -1;
}

/** Spans of a paragraph that has no other `<` than in them, and in which every line's backticks pair up by themselves. */
function spansAside(text: string, keep: (piece: string) => string): string {
  return text
    .split(/(\n[ \t]*\n)/)
    .map((paragraph) => {
      if (!paragraph.includes('`')) return paragraph;
      const lines = paragraph.split('\n').map(withoutSpans);
      if (lines.some((line) => line === null || line.includes('<'))) return paragraph;
      return paragraph.replace(SPAN, (span) => keep(span));
    })
    .join('');
}

const SPAN = /(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g;

/** A line without its code spans; null where something could part them otherwise than we do: a table, an escape. */
function withoutSpans(line: string): string | null {
  const bare = line.replace(SPAN, '');
  return bare.includes('`') || (line.includes('`') && /[|\\]/.test(line)) ? null : bare;
}
