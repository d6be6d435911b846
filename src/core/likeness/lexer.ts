/** Comment and string syntax of a language: just enough to separate them from code. */
export interface LexicalRules {
  /** A sticky pattern with one alternative for each kind of token. Its groups are those of `tokenPattern` below. */
  readonly pattern: RegExp;
  /** Opening marks of comments and strings that may span lines. */
  readonly blocks: Readonly<Record<string, MultilineToken>>;
  /** A line that begins like this is inside a block comment. */
  readonly inside?: RegExp;
  /** A literal that begins like a division. */
  readonly regex?: RegExp;
  /** Semicolons at the ends of lines are irrelevant. */
  readonly freeSemicolons?: true;
  /** Indentation is significant. */
  readonly indented?: true;
}

interface MultilineToken {
  readonly close: string;
  /** `doc`: a comment when it is a statement of its own, otherwise a string. */
  readonly is: 'comment' | 'string' | 'doc';
}

const WORD_OR_NUMBER = String.raw`[\p{L}_$][\p{L}\p{N}_$]*|\p{N}[\p{L}\p{N}_]*(?:\.\p{N}[\p{L}\p{N}_]*)?`;
const DOUBLE_QUOTED = String.raw`"(?:[^"\\]|\\.)*(?:"|\\?$)`;
const SINGLE_QUOTED = String.raw`'(?:[^'\\]|\\.)*(?:'|\\?$)`;
/** A character literal; a lifetime has no second quote. */
const CHARACTER_LITERAL = String.raw`'(?:[^'\\]|\\.[^']{0,8})'`;
/** Not Go's build tags and embedded files. */
const SLASH_COMMENT = String.raw`\/\/(?!go:| \+build).*`;
/** Not the address in the text of an element. */
const SCRIPT_COMMENT = String.raw`(?<!:)\/\/.*`;
/** Not shebang lines and magic comments, which change what is executed. */
const HASH_COMMENT = String.raw`#(?!!|\s*frozen_string_literal:|.{0,40}\bcoding[:=]).*`;
/** Shells and regular expressions have the same sign within words. */
const SEPARATE_HASH_COMMENT = String.raw`(?<!\S)${HASH_COMMENT}`;
/** Matches nothing. */
const NO_MATCH = '[]';

/** Groups: 1 a comment to the end of the line, 2 what opens a block, 3 a string, 4 a word or a sign; else blanks. */
const tokenPattern = (note: string, open: string, text: string): RegExp =>
  new RegExp(String.raw`(${note})|(${open})|(${text})|\s+|(${WORD_OR_NUMBER}|[^])`, 'uy');

const STARRED = { '/*': { close: '*/', is: 'comment' } } as const;
const ANGLED = { '<!--': { close: '-->', is: 'comment' } } as const;
const STAR_LINE = /^\s*\*(?:\s|\/|$)/;
const SLASH_RULES: LexicalRules = {
  pattern: tokenPattern(SLASH_COMMENT, String.raw`\/\*`, `${DOUBLE_QUOTED}|${CHARACTER_LITERAL}`),
  blocks: STARRED,
  inside: STAR_LINE,
};
const SCRIPT_RULES: LexicalRules = {
  pattern: tokenPattern(SCRIPT_COMMENT, '\\/\\*|<!--|`', `${DOUBLE_QUOTED}|${SINGLE_QUOTED}`),
  blocks: { ...STARRED, ...ANGLED, '`': { close: '`', is: 'string' } },
  inside: STAR_LINE,
  regex: /\/(?![*/])(?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+\/\p{L}*/uy,
  freeSemicolons: true,
};
const STYLE_RULES: LexicalRules = {
  pattern: tokenPattern(NO_MATCH, String.raw`\/\*|<!--`, DOUBLE_QUOTED),
  blocks: { ...STARRED, ...ANGLED },
};
const PYTHON_RULES: LexicalRules = {
  pattern: tokenPattern(HASH_COMMENT, `"""|'''`, `${DOUBLE_QUOTED}|${SINGLE_QUOTED}`),
  blocks: { '"""': { close: '"""', is: 'doc' }, "'''": { close: "'''", is: 'doc' } },
  indented: true,
};
const HASH_RULES: LexicalRules = {
  pattern: tokenPattern(SEPARATE_HASH_COMMENT, NO_MATCH, `${DOUBLE_QUOTED}|${SINGLE_QUOTED}`),
  blocks: {},
};
const PLAIN_RULES: LexicalRules = { pattern: tokenPattern(NO_MATCH, NO_MATCH, DOUBLE_QUOTED), blocks: {} };

const RULES_BY_EXTENSION: readonly (readonly [RegExp, LexicalRules])[] = [
  [/\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i, SCRIPT_RULES],
  [/\.(?:pyi?|pyx|pxd)$/i, PYTHON_RULES],
  [
    /\.(?:rs|go|java|kts?|scala|groovy|gradle|c|h|cc|cpp|cxx|hpp|hh|mm?|cs|fs|swift|dart|php|zig|proto)$/i,
    SLASH_RULES,
  ],
  [/\.(?:css|scss|less|html?|xml|svg)$/i, STYLE_RULES],
  [/\.(?:rb|sh|bash|pl|pm|r|jl|exs?|nim|ya?ml|toml|cfg|ini|graphql)$/i, HASH_RULES],
];

export const lexicalRulesOf = (path: string): LexicalRules =>
  RULES_BY_EXTENSION.find(([extension]) => extension.test(path))?.[1] ?? PLAIN_RULES;

/**
 * The comment that contains the first of these lines although it began earlier; null for code. `lines` are those of
 * the base, because the author of a change cannot choose its context. Without an end of a comment in these lines, it
 * is code.
 */
export function openBefore(lines: readonly string[], { blocks }: LexicalRules): MultilineToken | null {
  const comments = Object.entries(blocks).filter(([, block]) => block.is !== 'string');
  for (const [at, line] of lines.entries()) {
    const found = comments.find(([open, { close }]) => line.includes(open) || line.includes(close));
    if (!found) continue;
    const [open, block] = found;
    const closes =
      open === block.close ? endsDoc(line, open, lines[at - 1]) : endsComment(line, open, block.close);
    return closes ? { close: block.close, is: 'comment' } : null;
  }
  return null;
}

const endsComment = (line: string, open: string, close: string): boolean => {
  const text = line.trim();
  return !text.includes(open) && (text.startsWith(close) || text.endsWith(close));
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
  readonly #syntax: LexicalRules;
  #open: MultilineToken | null;
  /** The last token of all lines so far. */
  #last: string | undefined;

  /** `open`: the token that contains the first line, from `openBefore`. */
  constructor(syntax: LexicalRules, open: MultilineToken | null = null) {
    this.#syntax = syntax;
    this.#open = open;
  }

  /**
   * A string is one token, so that its content cannot pass for code: `"` and its content, or a backtick and this
   * line's part of a multi-line one.
   */
  line(text: string): readonly string[] {
    const tokens: string[] = [];
    let at = !this.#open && this.#syntax.inside?.test(text) ? pastComment(text) : 0;
    while (at < text.length) at = this.#open ? this.#close(text, at, tokens) : this.#next(text, at, tokens);
    this.#last = tokens.at(-1) ?? this.#last;
    return tokens;
  }

  #close(text: string, from: number, tokens: string[]): number {
    const { close, is } = this.#open as MultilineToken;
    const end = text.indexOf(close, from);
    const to = end < 0 ? text.length : end;
    if (is === 'string' && to > from) tokens.push(`\`${text.slice(from, to)}`);
    if (end < 0) return to;
    this.#open = null;
    return to + close.length;
  }

  #next(text: string, from: number, tokens: string[]): number {
    const { pattern, blocks, regex } = this.#syntax;
    if (regex && text[from] === '/' && isAtValue(tokens.at(-1))) {
      regex.lastIndex = from;
      const [literal] = regex.exec(text) ?? [];
      if (literal) {
        tokens.push(literal);
        return regex.lastIndex;
      }
    }
    pattern.lastIndex = from;
    const found = pattern.exec(text);
    if (!found) return text.length;
    const [, , open, literal, code] = found;
    const block = open === undefined ? undefined : blocks[open];
    if (block) this.#open = this.#opened(block, tokens);
    else if (literal !== undefined) tokens.push(withPlainQuote(literal));
    else if (code !== undefined) tokens.push(code);
    return pattern.lastIndex;
  }

  #opened(block: MultilineToken, tokens: readonly string[]): MultilineToken {
    if (block.is !== 'doc') return block;
    const isStatement = tokens.length === 0 && !CONTINUES.test(this.#last ?? '');
    return { ...block, is: isStatement ? 'comment' : 'string' };
  }
}

/** A line with this ending continues on the next one. */
const CONTINUES = /^[([{,=+%\\]$/;
const BEFORE_VALUE = /^(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield)$/;
/** After a value a slash is a division, elsewhere it begins a pattern. */
const isAtValue = (last: string | undefined): boolean =>
  last === undefined || BEFORE_VALUE.test(last) || !/^(?:["`\p{L}\p{N}_$]|\/.|[)\]}]$)/u.test(last);

const pastComment = (text: string): number => {
  const end = text.indexOf('*/');
  return end < 0 ? text.length : end + 2;
};

/** All kinds of quotes are equivalent. */
const withPlainQuote = (literal: string): string =>
  `"${literal.slice(1, literal.length > 1 && literal.endsWith(literal[0] as string) ? -1 : undefined)}`;
