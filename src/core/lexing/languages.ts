/** How a language writes comments and literals: just enough to tell them from code, line by line. */
export interface LexicalSyntax {
  /** A sticky pattern with a named group for each kind of token. */
  readonly token: RegExp;
  /** Comments and literals that may span lines. */
  readonly blocks: readonly LexicalBlock[];
  /** A sticky pattern: a comment that is no block, from its beginning to its end. */
  readonly note: RegExp;
  /** A slash may begin a regular expression. */
  readonly regex?: true;
  /** An ordinary string may span lines. */
  readonly multiline?: true;
  /** A sticky pattern. The following lines are text, up to the word that is its group. */
  readonly heredoc?: RegExp;
  /** `key: |`: the following lines that are indented further are text. */
  readonly scalars?: true;
  /** Whether a backslash escapes a quote depends on the kind of string. */
  readonly unsureEscapes?: true;
  /** There may be text between tags, which may look like a comment or like code. */
  readonly elements?: true;
  /** Both kinds of quotes mean the same: always, or if the string contains nothing special. */
  readonly quotesAlike?: 'always' | 'plain';
  /** Semicolons at the ends of lines are irrelevant. */
  readonly freeSemicolons?: true;
  /** Indentation is significant. */
  readonly indented?: true;
}

export interface LexicalBlock {
  /** The source of a pattern. */
  readonly open: string;
  readonly close: string | ((opened: string) => string);
  /** `doc`: a comment when it is a statement of its own, otherwise a string. */
  readonly is: 'comment' | 'text' | 'doc';
  /** A backslash escapes what follows. */
  readonly escapes?: true;
  /** `${` … `}` is code. */
  readonly holes?: true;
}

const NAME = String.raw`[\p{L}_$][\p{L}\p{N}_$]*`;
const WORD = String.raw`${NAME}|\p{N}[\p{L}\p{N}_]*(?:\.\p{N}[\p{L}\p{N}_]*)?`;
/** A character literal; a lifetime has no second quote. */
const CHARACTER = String.raw`'(?:[^'\\]|\\.[^']{0,8})'`;
/** Not in an address, which in markup and settings is not quoted. */
const SLASHES = String.raw`(?<![:/])\/\/`;
/** Not within a word: shells and regular expressions have the same sign there. */
const HASH = String.raw`(?<![^\s;])#(?!\{)`;
const NOTHING = '[]';

interface LexicalTokens {
  /** What begins a comment to the end of the line. */
  readonly note?: string;
  /** The quotes of strings. */
  readonly quotes: string;
  /** A literal of another form. */
  readonly literal?: string;
  /** What begins a literal that is not read: after it, nothing on the line is certainly a comment. */
  readonly opaque?: string;
}

function syntaxWith(
  { note = NOTHING, quotes, literal = NOTHING, opaque = NOTHING }: LexicalTokens,
  blocks: readonly LexicalBlock[] = [],
  more: Partial<Omit<LexicalSyntax, 'token' | 'blocks'>> = {},
): LexicalSyntax {
  const strings = [...quotes].map((quote) => String.raw`${quote}(?:[^${quote}\\]|\\.)*`);
  const groups = [
    ...blocks.map(({ open }, i) => [`open${i}`, open] as const),
    ['note', note],
    ['opaque', opaque],
    ['text', [literal, ...strings.map((string, i) => string + quotes[i])].join('|')],
    ['cut', strings.map((string) => String.raw`${string}\\?$`).join('|')],
    ['blank', String.raw`\s+`],
    ['word', WORD],
    ['sign', '[^]'],
  ] as const;
  const token = new RegExp(groups.map(([name, source]) => `(?<${name}>${source})`).join('|'), 'uy');
  return { token, blocks, note: /.*/uy, ...more };
}

const STARS: LexicalBlock = { open: String.raw`\/\*`, close: '*/', is: 'comment' };
const ARROWS: LexicalBlock = { open: '<!--', close: '-->', is: 'comment' };
const BRACES: LexicalBlock = { open: String.raw`\{-`, close: '-}', is: 'comment' };
const TEMPLATE: LexicalBlock = { open: '`', close: '`', is: 'text', escapes: true, holes: true };
const RAW: LexicalBlock = { open: '`', close: '`', is: 'text' };
const TRIPLE: LexicalBlock = { open: '"""', close: '"""', is: 'text', escapes: true };
const RAW_TRIPLE: LexicalBlock = { open: '"""', close: '"""', is: 'text' };
const TRIPLE_SINGLE: LexicalBlock = { open: `'''`, close: `'''`, is: 'text', escapes: true };
const DOCS: readonly LexicalBlock[] = [TRIPLE, TRIPLE_SINGLE].map((block) => ({ ...block, is: 'doc' }));
const RUST_RAW: LexicalBlock = {
  open: String.raw`(?<![\p{L}\p{N}_])[bc]?r#*"`,
  close: (opened) => `"${opened.replace(/[^#]/g, '')}`,
  is: 'text',
};
const SWIFT_RAW: LexicalBlock = {
  // Found from its first sign only, so that a line of many takes no quadratic time.
  open: '(?<!#)#+"(?:"")?|"""',
  close: (opened) => [...opened].reverse().join(''),
  is: 'text',
};
const CPP_RAW: LexicalBlock = {
  open: String.raw`(?<![\p{L}\p{N}_])(?:u8|[uUL])?R"[^\s()\\]{0,16}\(`,
  close: (opened) => `)${opened.slice(opened.indexOf('"') + 1, -1)}"`,
  is: 'text',
};
const CSHARP_RAW: LexicalBlock = { open: '"{3,}', close: (opened) => opened, is: 'text' };
const VERBATIM: LexicalBlock = { open: String.raw`\$?@\$?"`, close: '"', is: 'text' };
const closeOfLua = (opened: string): string => opened.replace(/^-+/, '').replaceAll('[', ']');
const LUA: readonly LexicalBlock[] = [
  { open: String.raw`--\[=*\[`, close: closeOfLua, is: 'comment' },
  { open: String.raw`\[=*\[`, close: closeOfLua, is: 'text' },
];

const SCRIPT_TOKENS: LexicalTokens = { note: SLASHES, quotes: `"'` };
const SCRIPT = { regex: true, quotesAlike: 'always', freeSemicolons: true } as const;
const ELEMENTS = { ...SCRIPT, elements: true } as const;
const C_TOKENS: LexicalTokens = { note: SLASHES, quotes: '"', literal: CHARACTER };
const DASH_TOKENS: LexicalTokens = { note: String.raw`(?<!\S)--(?![>|^<=+*.])`, quotes: `"'` };
const HASH_TOKENS: LexicalTokens = { note: HASH, quotes: `"'` };
const SHELL_TOKENS: LexicalTokens = { ...HASH_TOKENS, literal: '`[^`]*`' };
const SHELL = { multiline: true, unsureEscapes: true, quotesAlike: 'plain' } as const;
const SHELL_HEREDOC = new RegExp(String.raw`(?<!<)<<-?\s*\\?["']?(${NAME})`, 'uy');
/** Not the operator, which has a space after it. */
const RUBY_HEREDOC = new RegExp(
  String.raw`(?<!<)<<(?:[-~](?=["'\x60]?\p{L})|(?=["'\x60]?\p{Lu}))["'\x60]?(${NAME})`,
  'uy',
);
const PHP_HEREDOC = new RegExp(String.raw`(?<!<)<<<\s*["']?(${NAME})`, 'uy');
const PLAIN_ALIKE = { quotesAlike: 'plain' } as const;
const MULTILINE = { multiline: true } as const;
const UNSURE = { unsureEscapes: true } as const;
const TRIPLES = [TRIPLE, TRIPLE_SINGLE] as const;

const SYNTAX_BY_EXTENSION: readonly (readonly [RegExp, LexicalSyntax])[] = [
  [/\.(?:[cm]?ts|[cm]js)$/i, syntaxWith(SCRIPT_TOKENS, [STARS, TEMPLATE], SCRIPT)],
  [/\.(?:js|[cm]?[jt]sx)$/i, syntaxWith(SCRIPT_TOKENS, [STARS, TEMPLATE], ELEMENTS)],
  [/\.(?:vue|svelte|astro)$/i, syntaxWith(SCRIPT_TOKENS, [STARS, ARROWS, TEMPLATE], ELEMENTS)],
  [
    /\.(?:py|pyi|pyx|pxd|bzl)$/i,
    syntaxWith({ note: '#', quotes: `"'` }, DOCS, { quotesAlike: 'always', indented: true }),
  ],
  [/\.go$/i, syntaxWith(C_TOKENS, [STARS, RAW])],
  [/\.rs$/i, syntaxWith(C_TOKENS, [STARS, RUST_RAW], MULTILINE)],
  [/\.(?:c|h|cc|cpp|cxx|hpp|hh|mm?)$/i, syntaxWith(C_TOKENS, [STARS, CPP_RAW])],
  [/\.cs$/i, syntaxWith(C_TOKENS, [STARS, CSHARP_RAW, VERBATIM])],
  [/\.swift$/i, syntaxWith(C_TOKENS, [STARS, SWIFT_RAW])],
  [/\.(?:kts?|scala|sc|fs)$/i, syntaxWith(C_TOKENS, [STARS, RAW_TRIPLE])],
  [/\.java$/i, syntaxWith(C_TOKENS, [STARS, TRIPLE])],
  [/\.zig$/i, syntaxWith({ ...C_TOKENS, opaque: String.raw`\\\\` })],
  [
    /\.(?:groovy|gradle)$/i,
    syntaxWith({ ...SCRIPT_TOKENS, opaque: String.raw`\\|\$\/` }, [STARS, ...TRIPLES], PLAIN_ALIKE),
  ],
  [/\.dart$/i, syntaxWith(SCRIPT_TOKENS, [STARS, ...TRIPLES], { ...UNSURE, ...PLAIN_ALIKE })],
  [/\.(?:proto|sol)$/i, syntaxWith(SCRIPT_TOKENS, [STARS])],
  [
    /\.php$/i,
    syntaxWith(
      { note: String.raw`(?<![:/])\/\/|#(?!\[)`, quotes: `"'` },
      [STARS, ARROWS],
      // The end of a block of PHP ends a comment, too.
      { ...MULTILINE, ...PLAIN_ALIKE, heredoc: PHP_HEREDOC, note: /(?:(?!\?>).)*/uy },
    ),
  ],
  [/\.css$/i, syntaxWith({ quotes: `"'` }, [STARS], PLAIN_ALIKE)],
  [/\.(?:scss|sass|less)$/i, syntaxWith(SCRIPT_TOKENS, [STARS], PLAIN_ALIKE)],
  [
    /\.(?:html?|xml|svg|xhtml|hbs|ejs)$/i,
    syntaxWith({ quotes: `"'` }, [ARROWS], { ...PLAIN_ALIKE, elements: true }),
  ],
  [/\.(?:jsonc?|json5)$/i, syntaxWith({ note: SLASHES, quotes: '"' }, [STARS])],
  [
    /\.sql$/i,
    syntaxWith({ ...DASH_TOKENS, opaque: String.raw`\$\w*\$` }, [STARS], { ...MULTILINE, ...UNSURE }),
  ],
  [/\.lua$/i, syntaxWith(DASH_TOKENS, LUA)],
  [/\.(?:hs|elm|adb|ads)$/i, syntaxWith({ ...DASH_TOKENS, quotes: '"', literal: CHARACTER }, [BRACES])],
  [
    /\.(?:clj[cs]?|el|lisp|scm|rkt|asm)$/i,
    syntaxWith({ note: String.raw`(?<!\S);`, quotes: '"' }, [], MULTILINE),
  ],
  [/\.(?:erl|hrl|tex)$/i, syntaxWith({ note: String.raw`(?<!\S)%`, quotes: '"' })],
  [
    /(?:\.(?:rb|rake)|(?:^|\/)(?:gem|rake|pod|fast|vagrant)file)$/i,
    syntaxWith({ ...SHELL_TOKENS, opaque: String.raw`\/|%[qQwWiIrxs]?[^\p{L}\p{N}_\s=]|\?["'\x60#]` }, [], {
      ...SHELL,
      heredoc: RUBY_HEREDOC,
    }),
  ],
  [
    /\.(?:pl|pm)$/i,
    syntaxWith(
      { ...SHELL_TOKENS, opaque: String.raw`\/|\b(?:q[qwrx]?|m|s|tr|y)\s*[^\p{L}\p{N}_\s,;=)]` },
      [],
      { ...SHELL, heredoc: RUBY_HEREDOC },
    ),
  ],
  [
    /\.exs?$/i,
    syntaxWith({ ...HASH_TOKENS, opaque: String.raw`~\p{L}+["'(\[{<|\/]|\?["'#]` }, TRIPLES, MULTILINE),
  ],
  [
    /\.r$/i,
    syntaxWith({ ...HASH_TOKENS, opaque: String.raw`[rR]["']-*[(\[{]` }, [], {
      ...MULTILINE,
      ...PLAIN_ALIKE,
    }),
  ],
  [/\.ya?ml$/i, syntaxWith(HASH_TOKENS, [], { ...UNSURE, ...PLAIN_ALIKE, scalars: true })],
  [/\.toml$/i, syntaxWith(HASH_TOKENS, TRIPLES, { ...UNSURE, ...PLAIN_ALIKE })],
  // Elsewhere on a line the sign is part of a value.
  [
    /\.(?:cfg|ini|conf|properties)$|(?:^|\/)\.[\w.-]*ignore$/i,
    syntaxWith({ note: String.raw`#(?<=^\s*#)`, quotes: '"' }),
  ],
  [/\.(?:jl|nim|graphql|gql|ps1|cmake)$/i, syntaxWith(HASH_TOKENS, TRIPLES, UNSURE)],
  [
    /(?:\.(?:sh|bash|zsh|tf|mk|bats|fish)|(?:^|\/)(?:\w*file|\.[\w.-]*(?:rc|env)))$/i,
    syntaxWith(SHELL_TOKENS, [], { ...SHELL, heredoc: SHELL_HEREDOC }),
  ],
];

/** For files of which only strings are known. */
export const PLAIN_SYNTAX: LexicalSyntax = syntaxWith({ quotes: '"' });

/** Null for files whose comment syntax is unknown. */
export const lexicalSyntaxOf = (path: string): LexicalSyntax | null =>
  SYNTAX_BY_EXTENSION.find(([extension]) => extension.test(path))?.[1] ?? null;
