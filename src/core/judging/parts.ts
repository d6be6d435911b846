import type { Block, Syntax } from './syntax.ts';

/** A stretch of one line. `to` is where the next begins. */
export interface Part {
  readonly is: 'code' | 'text' | 'comment';
  readonly from: number;
  readonly to: number;
  /** Of a string that stands as a comment: which of its stretch. */
  readonly doc?: number;
}
type Line = readonly Part[];

/** Where the lines of a hunk begin and end up. */
interface Reading {
  readonly lines: readonly Line[];
  /** Something was still open at the end. */
  readonly open: Block | null;
  /** A comment was closed that was never opened here. */
  readonly stray: boolean;
}

/**
 * The comments, strings and code of each line of a stretch of a file, which may begin and end anywhere. It is read as if
 * it began outside of everything; where that leaves something open, as if it began inside. What stays unclear counts as
 * code: text is shown rather than hidden, because hiding a line of code from a judge is worse than showing a comment.
 */
export function partsOf(lines: readonly string[], syntax: Syntax): readonly Line[] {
  const outside = read(lines, syntax, null);
  const begun = Object.values(syntax.blocks)
    .filter(({ close }) => lines.some((line) => line.includes(close)))
    .map((block) => read(lines, syntax, block));
  if (Object.values(syntax.blocks).some(({ is }) => is === 'doc')) {
    return byPlausibility(
      lines,
      [outside, ...begun].map((reading) => reading.lines),
    );
  }
  if (!outside.open && !outside.stray) return outside.lines;
  const inside = begun.find((reading) => !reading.open && !reading.stray);
  if (inside) return inside.lines.map((own, i) => believed(own, lines[i] as string, i, inside.lines));
  return outside.open ? unclosed(lines, outside.lines) : outside.lines;
}

/** Of lines that are comments only because one ends later, those that look like code are code: odd code could fake the end. */
function believed(own: Line, line: string, at: number, all: readonly Line[]): Line {
  const begun = all.slice(0, at).every((before) => before.every(({ is }) => is === 'comment'));
  const looks = /^\s*\*/.test(line) || !/[;{}()=<>]/.test(line.slice(own[0]?.from, own[0]?.to));
  return begun && !looks ? own.map((part) => (part.is === 'comment' ? { ...part, is: 'code' } : part)) : own;
}

/** A comment without an end in sight: only lines that look like one are. */
function unclosed(lines: readonly string[], parts: readonly Line[]): readonly Line[] {
  let from = parts.length;
  while (from > 0 && endsInComment(parts[from - 1] as Line)) from--;
  return parts.map((own, i) => {
    if (i < from || /^\s*\/?\*/.test(lines[i] as string)) return own;
    return own.map((part) => ({ ...part, is: part.is === 'comment' ? 'code' : part.is }) as const);
  });
}

const endsInComment = (parts: Line): boolean => parts.length === 0 || parts.at(-1)?.is === 'comment';

const OPERAND_WORDS = /^(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$/;
const REGEX = /\/(?![*/])(?:[^\\/[]|\\.|\[(?:[^\]\\]|\\.)*\])+\/[a-z]*/uy;

function read(lines: readonly string[], syntax: Syntax, begun: Block | null): Reading {
  const reader = new Reader(syntax, begun);
  const parts = lines.map((line) => reader.line(line));
  return { lines: parts, open: reader.open, stray: reader.stray };
}

class Reader {
  open: Block | null;
  stray = false;
  readonly #syntax: Syntax;
  /** The last token that is neither blank nor comment; decides what a slash and a triple quote mean. */
  #last = '';
  #parts: Part[] = [];
  #docs = 0;

  constructor(syntax: Syntax, begun: Block | null) {
    this.#syntax = syntax;
    this.open = begun;
  }

  line(text: string): Line {
    this.#parts = [];
    let fresh = true;
    for (let at = 0; at < text.length; ) {
      const before = at;
      at = this.open ? this.#block(text, at, this.open) : this.#token(text, at, fresh);
      if (text.slice(before, at).trim() !== '') fresh = false;
    }
    return this.#parts;
  }

  #block(text: string, at: number, block: Block): number {
    const end = text.indexOf(block.close, at);
    const to = end < 0 ? text.length : end + block.close.length;
    if (end >= 0) {
      this.open = null;
      if (block.is === 'text') this.#last = ')';
    }
    return this.#addBlock(block, at, to);
  }

  #token(text: string, at: number, fresh: boolean): number {
    const { token, blocks } = this.#syntax;
    const regexEnd = this.#regexEnd(text, at);
    if (regexEnd > at) {
      this.#last = ')';
      return this.#add('code', at, regexEnd);
    }
    token.lastIndex = at;
    const found = token.exec(text)?.groups;
    if (!found) return this.#add('code', at, text.length);
    const to = token.lastIndex;
    if (found.note !== undefined || found.note2 !== undefined) return this.#add('comment', at, to);
    if (found.open !== undefined) return this.#openBlock(blocks[found.open] as Block, fresh, at, to);
    if (text.startsWith('*/', at) && '/*' in blocks) this.stray = true;
    if (found.text !== undefined) this.#last = ')';
    else this.#last = found.word ?? found.sign ?? this.#last;
    return this.#add(found.text === undefined ? 'code' : 'text', at, to);
  }

  #openBlock(block: Block, fresh: boolean, at: number, to: number): number {
    const alone = fresh && this.#endsStatement();
    this.#docs += 1;
    this.open = block.is === 'doc' && !alone ? { ...block, is: 'text' } : block;
    return this.#addBlock(this.open, at, to);
  }

  #addBlock({ is }: Block, at: number, to: number): number {
    return is === 'doc' ? this.#add('comment', at, to, this.#docs) : this.#add(is, at, to);
  }

  /** Where a regular expression that begins here ends; `at` where none does. */
  #regexEnd(text: string, at: number): number {
    if (!this.#syntax.regex || text[at] !== '/' || !this.#mayBeOperand()) return at;
    REGEX.lastIndex = at;
    return REGEX.test(text) ? REGEX.lastIndex : at;
  }

  #mayBeOperand = (): boolean => !/[\p{L}\p{N}_$)\]}]$/u.test(this.#last) || OPERAND_WORDS.test(this.#last);
  #endsStatement = (): boolean => !/[([{,=\\+%.]$/.test(this.#last);

  #add(is: Part['is'], from: number, to: number, doc?: number): number {
    const last = this.#parts.at(-1);
    if (last?.is === is && last.doc === doc) this.#parts[this.#parts.length - 1] = { ...last, to };
    else this.#parts.push({ is, from, to, ...(doc === undefined ? {} : { doc }) });
    return to;
  }
}

/**
 * Of several readings of the same lines the one that makes most sense; the first of equals. Where a language opens and
 * closes its doc strings alike, a stretch of a file does not tell inside from outside otherwise. A doc string with lines
 * that look like code counts as a string, and is shown whole: they might be code after all, and if they are not, what
 * stands around them says so.
 */
function byPlausibility(texts: readonly string[], readings: readonly (readonly Line[])[]): readonly Line[] {
  let best: { readonly lines: readonly Line[]; readonly odd: number } | null = null;
  for (const lines of readings) {
    const odd = lines.filter((line, i) => isOdd(texts[i] as string, line)).length;
    if (!best || odd < best.odd) best = { lines, odd };
  }
  return best ? withoutCode(texts, best.lines) : [];
}

const isDoc = (line: Line): boolean => line.some(({ doc }) => doc !== undefined);

/** Code in a doc string, or prose in code. */
function isOdd(text: string, line: Line): boolean {
  if (isDoc(line)) return CODE.test(text);
  return line.length > 0 && line.every(({ is }) => is === 'code') && PROSE.test(text) && !CODE.test(text);
}

function withoutCode(texts: readonly string[], lines: readonly Line[]): readonly Line[] {
  const suspect = new Set(
    lines.flatMap((line, i) =>
      CODE.test(texts[i] as string)
        ? line.flatMap(({ doc, from, to }) => (doc !== undefined && to - from > QUOTES ? [doc] : []))
        : [],
    ),
  );
  return lines.map((line) =>
    line.map((part) =>
      part.doc !== undefined && suspect.has(part.doc) ? ({ ...part, is: 'text' } as const) : part,
    ),
  );
}

/** No more than the quotes that open or close it. */
const QUOTES = 3;

/** A whole line of code, as Python writes it. Lines of an interactive session (`>>>`) are examples, not code. */
const CODE =
  /^\s*(?:(?:from\s+\S+\s+)?import\s+\S+(?:\s+as\s+\w+|\s*,\s*\w+)*\s*(?:\(|$)|(?:async\s+)?(?:def|class)\s+\w+.*:\s*$|(?:if|elif|while|for|with|try|except|else|finally)\b.*:\s*(?:#.*)?$|return\s*(?:\S+|.*[=()[\]{}].*)?$|raise\s+\w+(?:\(|$)|(?:pass|break|continue)\s*$|assert\s+\S+(?:\s*(?:[=!<>]=?|is|in|not)\s|$)|@\w[\w.]*(?:\(.*\))?\s*$|[\w.]+(?:\[[^\]]*\])?\s*[-+*/|&%]?=\s*\S|[\w.]+\(.*\)\s*$|yield\s*\S*$|del\s+\S+\s*$)/;
/** At least four words, and nothing that code is made of. */
const PROSE = /^\s*[\p{L}`*'"-]+(?:\s+[\p{L}\p{N}`*'",.:;/_-]+){3,}\s*$/u;
