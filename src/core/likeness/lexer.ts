import { type LexedPart, type LexicalSyntax, LineLexer, type OpenBlock } from '../lexing/index.ts';

/** A line that begins like this is inside a block comment, if nothing else is before it. */
const STAR_LINE = /^\s*\*(?:\s|\/|$)/;
/** Comments that change what is built or executed: Go's and cgo's, shebang lines, magic comments. */
const EFFECTIVE_COMMENT =
  /^(?:\/\/(?:go:|export | \+build| ?#)|#(?:!|\s*frozen_string_literal:|.{0,40}\bcoding[:=]))/;

/**
 * The comment that contains the first of these lines although it began earlier; null for code. `lines` are those of
 * the base, because the author of a change cannot choose its context. Without an end of a comment in these lines, it
 * is code.
 */
export function openBefore(lines: readonly string[], { blocks }: LexicalSyntax): OpenBlock | null {
  const comments = blocks.flatMap(({ open, close, is }) =>
    is === 'text' || typeof close !== 'string' ? [] : [{ open: new RegExp(open, 'u'), close }],
  );
  for (const [at, line] of lines.entries()) {
    const found = comments.find(({ open, close }) => open.test(line) || line.includes(close));
    if (!found) continue;
    const { open, close } = found;
    const closes = open.test(close) ? endsDoc(line, close, lines[at - 1]) : endsComment(line, open, close);
    return closes ? { close, is: 'comment' } : null;
  }
  return null;
}

/** Not a regular expression that ends alike. */
const endsComment = (line: string, open: RegExp, close: string): boolean => {
  const text = line.trim();
  return !open.test(text) && (text.startsWith(close) || (text.endsWith(close) && !/\/.*\*\/$/.test(text)));
};

/** Docstrings open and close with the same mark; the surrounding text shows which one it is. */
function endsDoc(line: string, quotes: string, above: string | undefined): boolean {
  const [before = '', after = '', ...more] = line.split(quotes);
  if (more.length > 0 || after.trim() !== '') return false;
  if (/^\s*[rRbBfFuU]{0,2}$/.test(before)) return above !== undefined && !/:\s*(?:#.*)?$/.test(above);
  return !/(?:[=(,[{:+%]|\breturn|\bin)\s*[rRbBfFuU]{0,2}$/.test(before);
}

/** Tokenizes one side of a hunk, in order, without comments and blanks. */
export class Lexer {
  readonly #syntax: LexicalSyntax;
  readonly #lines: LineLexer;
  /** No code so far. */
  #fresh = true;

  /** `open`: the token that contains the first line, from `openBefore`; `doubtful` as for `LineLexer`. */
  constructor(syntax: LexicalSyntax, open: OpenBlock | null, doubtful: boolean) {
    this.#syntax = syntax;
    this.#lines = new LineLexer(syntax, open, doubtful);
  }

  /** The comment or literal that the next line begins in. */
  get open(): OpenBlock | null {
    return this.#lines.open;
  }

  /**
   * A string is one token, so that its content cannot pass for code: `"` and its content, or a backtick and this
   * line's part of a multi-line one.
   */
  line(text: string): readonly string[] {
    const starred = this.#fresh && !this.open && this.#syntax.blocks.some(({ close }) => close === '*/');
    const parts = this.#lines.line(text, starred && STAR_LINE.test(text) ? pastComment(text) : 0);
    const tokens: string[] = [];
    for (const [i, part] of parts.entries()) {
      const own = text.slice(part.from, part.to);
      const last = parts[i - 1];
      if (isIrrelevant(part, own)) continue;
      if (!part.block) tokens.push(part.is === 'text' ? this.#literal(own) : own);
      // The code within a template is part of it.
      else if (last?.block === part.block && !last.mark) tokens.push(`${tokens.pop()}${own}`);
      else tokens.push(`\`${part.from === 0 ? '\n' : ''}${own}`);
    }
    if (tokens.length > 0) this.#fresh = false;
    return tokens;
  }

  #literal(text: string): string {
    const content = text.slice(1, -1);
    const quote = text[0] as string;
    if (!/["']/.test(quote) || text.length < 2 || !text.endsWith(quote)) return text;
    const { quotesAlike } = this.#syntax;
    // Elsewhere, the other quotes have other escapes and interpolation, or none.
    const alike = quotesAlike === 'always' || (quotesAlike === 'plain' && /^[\w\s.,:;/?&=-]*$/.test(content));
    return alike ? `"${content}"` : text;
  }
}

/**
 * Without `{}` between tags, which renders nothing and is what is left of a comment there. `{}` is an empty object or
 * function elsewhere.
 */
export function withoutEmptyElements(lines: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const kept: { readonly text: string; readonly line: number; readonly isFirst: boolean }[] = [];
  for (const [line, tokens] of lines.entries())
    for (const [at, text] of tokens.entries()) {
      const last = kept.at(-1);
      const isEmpty = text === '}' && last?.text === '{' && isBetweenTags(kept.slice(-9, -1), last.isFirst);
      if (isEmpty) kept.pop();
      else kept.push({ text, line, isFirst: at === 0 });
    }
  const byLine = Map.groupBy(kept, ({ line }) => line);
  return lines.map((_, line) => (byLine.get(line) ?? []).map(({ text }) => text));
}

/** A bracket that is first on its line may also follow the start of an element, or another value in it. */
function isBetweenTags(before: readonly { readonly text: string }[], isFirst: boolean): boolean {
  const text = before.map((token) => token.text).join('');
  return /<\/[\w.:-]*>$|\/>$/.test(text) || (isFirst && /(?:[^=]>|\})$/.test(text));
}

const isIrrelevant = ({ is, block, mark }: LexedPart, text: string): boolean =>
  is === 'blank' ||
  mark === true ||
  (is === 'comment' && (block !== undefined || !EFFECTIVE_COMMENT.test(text)));

const pastComment = (text: string): number => {
  const end = text.indexOf('*/');
  return end < 0 ? text.length : end + 2;
};
