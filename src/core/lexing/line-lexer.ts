import type { LexicalBlock, LexicalSyntax } from './languages.ts';

/** A part of a line; the parts of a line follow each other without gaps. */
export interface LexedPart {
  readonly is: 'blank' | 'comment' | 'text' | 'word' | 'sign';
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** The comment or literal that may span lines, to which it belongs. */
  readonly block?: OpenBlock;
  /** It opens or closes the block. */
  readonly mark?: true;
  /** A comment may have begun before it on this line. */
  readonly doubtful?: true;
}

export interface OpenBlock extends Pick<LexicalBlock, 'is' | 'escapes' | 'holes'> {
  readonly close: string;
}

/** How long nothing is certainly a comment: to the end of the line, of all lines, or of a text without quotes. */
type LexicalDoubt = 'line' | 'lines' | { readonly until: string } | { readonly indent: number };

/** The last token was a literal. */
const AFTER_LITERAL = '"';
const HOLE = 'hole';
const OPERAND_WORDS = /^(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield|new)$/;
// Repetitions are limited, so that a long line takes no quadratic time.
const REGEX_LITERAL = /\/(?![*/])(?:[^\\/[]|\\.|\[(?:[^\]\\]|\\.){0,200}\]){1,1000}\/\p{L}*/uy;
/** What a line ends with whose expression goes on in the next one. */
const CONTINUES = /^(?:[([{,=+\-*/%\\.&|^<>@~"]|and|or|not|in|is|if|else|return|yield|await|lambda)$/;
/** A quote that begins no literal; but not that of a lifetime. */
const STRAY_QUOTE = /[`"]|'(?!\p{L}[\p{L}\p{N}_]*(?!'))|\\["'`]/uy;
// A value has at most a tag and an anchor.
const SCALAR_START = /[:-](?:\s+[!&]\S+){0,2}\s+[|>][-+\d]*\s*(?:\s#.*)?$/;
const BRACKET_STEPS: ReadonlyMap<string, number> = new Map([
  ['(', 1],
  ['[', 1],
  ['{', 1],
  [')', -1],
  [']', -1],
  ['}', -1],
]);

/**
 * Tells comments, literals and code in consecutive lines of a file, which may begin anywhere. What may be part of a
 * literal that this lexer does not understand is no comment: to take code for a comment hides it.
 */
export class LineLexer {
  /** The end mark of a comment was found that had not begun. */
  stray = false;
  readonly #syntax: LexicalSyntax;
  /** Blocks, and the code in their holes; the innermost is the last. */
  readonly #open: (OpenBlock | typeof HOLE)[] = [];
  #doubt: LexicalDoubt | null;
  /** The last token that is neither blank nor comment. */
  #last = '';
  /** Number of open brackets. */
  #depth = 0;
  #parts: LexedPart[] = [];
  /** On this line, a comment may have begun. */
  #mayBeComment = false;
  /** Offset of what is first on this line, apart from blanks; -1 for an empty line. */
  #first = -1;

  /** `doubtful`: none of these lines certainly has a comment. */
  constructor(syntax: LexicalSyntax, begun: OpenBlock | null = null, doubtful = false) {
    this.#syntax = syntax;
    this.#doubt = doubtful ? 'lines' : null;
    if (begun) this.#open.push(begun);
  }

  /** What the next line begins in. */
  get open(): OpenBlock | null {
    return (this.#open[0] as OpenBlock | undefined) ?? null;
  }

  /** `from`: what is before it is not read. */
  line(text: string, from = 0): readonly LexedPart[] {
    this.#parts = [];
    this.#mayBeComment = false;
    this.#first = text.search(/\S/);
    this.#endDoubt(text);
    if (text === '' && this.#block) this.#add('text', 0, 0);
    for (let at = from; at < text.length; ) {
      at = this.#block ? this.#inBlock(text, at, this.#block) : this.#next(text, at);
    }
    if (this.#doubt === 'line' && !text.endsWith('\\')) this.#doubt = null;
    if (this.#syntax.scalars && SCALAR_START.test(text)) this.#distrust({ indent: this.#first });
    return this.#parts;
  }

  get #block(): OpenBlock | null {
    const innermost = this.#open.at(-1);
    return innermost === undefined || innermost === HOLE ? null : innermost;
  }

  /** The longer doubt remains. */
  #distrust(doubt: LexicalDoubt): void {
    if (this.#doubt === null || this.#doubt === 'line') this.#doubt = doubt;
  }

  #endDoubt(text: string): void {
    const doubt = this.#doubt;
    if (doubt === null || typeof doubt === 'string' || this.#first < 0) return;
    const ends = 'until' in doubt ? text.startsWith(doubt.until, this.#first) : this.#first <= doubt.indent;
    if (ends) this.#doubt = null;
  }

  #inBlock(text: string, from: number, { close, escapes, holes, is }: OpenBlock): number {
    for (let at = from; at < text.length; at++) {
      if (escapes && text[at] === '\\') at++;
      else if (text.startsWith(close, at)) {
        this.#add('text', from, at);
        this.#add('text', at, at + close.length, true);
        this.#open.pop();
        if (is === 'text') this.#last = AFTER_LITERAL;
        return at + close.length;
      } else if (holes && text.startsWith('${', at)) {
        this.#open.push(HOLE);
        this.#last = '{';
        return this.#add('text', from, at + 2);
      }
    }
    return this.#add('text', from, text.length);
  }

  #next(text: string, at: number): number {
    const { token, blocks } = this.#syntax;
    const regexEnd = this.#regexEnd(text, at);
    if (regexEnd > at) return this.#literal(text, at, regexEnd);
    token.lastIndex = at;
    const found = token.exec(text)?.groups ?? {};
    const to = token.lastIndex;
    if (found.blank !== undefined) return this.#add('blank', at, to);
    if (found.text !== undefined) return this.#literal(text, at, to);
    if (found.cut !== undefined) return this.#literal(text, at, to, true);
    const block = blocks.find((_, i) => found[`open${i}`] !== undefined);
    if (block?.is === 'text' || (block && !this.#doubt)) return this.#begin(block, text, at, to);
    const end = found.note === undefined ? at : this.#commentEnd(text, at);
    if (end > at) return this.#add('comment', at, end);
    if (found.opaque !== undefined) this.#distrust('line');
    if (found.note !== undefined || block) this.#mayBeComment = true;
    if (found.word !== undefined) {
      this.#last = found.word;
      // No statement begins within brackets: they were not read right, or are those of an excerpt.
      if (/^(?:def|class)$/.test(found.word) && at === this.#first) this.#depth = 0;
      return this.#add('word', at, to);
    }
    this.#readSign(text, at);
    return this.#add('sign', at, at + 1);
  }

  /** The end of a comment that begins here; `at` if it is doubtful. It is not read again for each sign of a line in doubt. */
  #commentEnd(text: string, at: number): number {
    const { note, elements } = this.#syntax;
    if (this.#doubt !== null) return at;
    note.lastIndex = at;
    const comment = note.exec(text)?.[0] ?? '';
    // Text between tags that has code in it is no comment.
    if (elements && /\{|<\//.test(comment)) this.#distrust('line');
    return this.#doubt === null ? at + comment.length : at;
  }

  #begin({ close, is, ...block }: LexicalBlock, text: string, at: number, to: number): number {
    const opened = text.slice(at, to);
    const isStatement = at === this.#first && this.#depth === 0 && !CONTINUES.test(this.#last);
    this.#open.push({
      ...block,
      close: typeof close === 'string' ? close : close(opened),
      is: is === 'doc' && !isStatement ? 'text' : is,
    });
    return this.#add('text', at, to, true);
  }

  #literal(text: string, from: number, to: number, cut = false): number {
    const { multiline, unsureEscapes } = this.#syntax;
    const content = text.slice(from + 1, cut ? to : to - 1);
    if (cut || (unsureEscapes && /\\["']|\\$/.test(content))) this.#distrust(multiline ? 'lines' : 'line');
    if (isInterpolationOpen(text.slice(Math.max(0, from - 2), from), content)) this.#distrust('line');
    this.#last = AFTER_LITERAL;
    return this.#add('text', from, to);
  }

  /** The end of a regular expression that begins here; `at` if there is none. */
  #regexEnd(text: string, at: number): number {
    if (!this.#syntax.regex || text[at] !== '/') return at;
    REGEX_LITERAL.lastIndex = at;
    const literal = REGEX_LITERAL.exec(text)?.[0];
    // A slash after the sign of a tag ends an element.
    if (literal === undefined || (this.#syntax.elements && this.#last === '<')) return at;
    if (!/[\p{L}\p{N}_$)\]}"]$/u.test(this.#last) || OPERAND_WORDS.test(this.#last))
      return at + literal.length;
    // After a bracket it may be one nevertheless.
    if (/\/[/*]/.test(literal)) this.#distrust('line');
    return at;
  }

  #readSign(text: string, at: number): void {
    const sign = text[at] as string;
    const { heredoc, blocks, multiline } = this.#syntax;
    // In a dictionary, a value follows.
    this.#last = sign === ':' && this.#last === AFTER_LITERAL ? ',' : sign;
    if (this.#open.length > 0) {
      if (sign === '{') this.#open.push(HOLE);
      if (sign === '}') this.#open.pop();
      return;
    }
    this.#depth = Math.max(0, this.#depth + (BRACKET_STEPS.get(sign) ?? 0));
    if (text.startsWith('*/', at) && blocks.some(({ close }) => close === '*/')) this.stray = true;
    STRAY_QUOTE.lastIndex = at;
    if (STRAY_QUOTE.test(text)) this.#distrust(multiline && sign === '\\' ? 'lines' : 'line');
    if (!heredoc || sign !== '<') return;
    heredoc.lastIndex = at;
    const until = heredoc.exec(text)?.[1];
    if (until !== undefined) this.#distrust({ until });
  }

  #add(is: LexedPart['is'], from: number, to: number, mark = false): number {
    const block = this.#open[0] as OpenBlock | undefined;
    this.#parts.push({
      is: block === undefined ? is : block.is === 'text' ? 'text' : 'comment',
      from,
      to,
      ...(block && { block }),
      ...(mark && this.#open.length === 1 && { mark }),
      ...(this.#mayBeComment && { doubtful: true }),
    });
    return to;
  }
}

/** In a string within a string, what looks like the end is not the end. */
function isInterpolationOpen(before: string, content: string): boolean {
  const mark = /(?:[fFtT][rR]?|\$@?|@\$)$/.test(before) ? /\{/ : /\$[({]|#\{|\\\(/;
  const count = (brackets: RegExp): number => content.match(brackets)?.length ?? 0;
  return mark.test(content) && count(/[({]/g) !== count(/[)}]/g);
}
