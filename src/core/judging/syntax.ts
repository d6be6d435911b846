/** Comment and string syntax of a family of languages: just enough to separate them from code. */
export interface CommentSyntax {
  /** A sticky pattern with one named group for each kind of token. */
  readonly token: RegExp;
  /** Multi-line tokens, by their opening mark. */
  readonly blocks: Readonly<Record<string, MultilineBlock>>;
  /** A slash may begin a regular expression. */
  readonly regex?: true;
}

export interface MultilineBlock {
  readonly close: string;
  /** `doc`: a comment when it is a statement of its own, otherwise a string. */
  readonly is: 'comment' | 'text' | 'doc';
}

const DOUBLE = String.raw`"(?:[^"\\]|\\.)*"`;
const SINGLE = String.raw`'(?:[^'\\]|\\.)*'`;
const TICKS = '`[^`]*`';
/** A character literal, not a lifetime. */
const CHARACTER = String.raw`'(?:[^'\\]|\\.[^']{0,8})'`;
const WORD = String.raw`(?<word>[\p{L}\p{N}_$]+)`;
const REST = String.raw`(?<blank>\s+)|(?<sign>[^])`;
// Requires whitespace before `//`, because `https://` is unquoted in markup and settings. Ambiguous lines are shown.
const SLASHES = String.raw`(?<note>(?<!:)\/\/.*)`;
const HASH = String.raw`(?<note>(?<![^\s;({\[])#.*)`;

const tokenPatternOf = (...parts: readonly string[]): RegExp =>
  new RegExp([...parts, WORD, REST].join('|'), 'uy');
const STARS = { '/*': { close: '*/', is: 'comment' } } as const;
const ARROWS = { '<!--': { close: '-->', is: 'comment' } } as const;
const TEMPLATE = { '`': { close: '`', is: 'text' } } as const;
const TRIPLE = { '"""': { close: '"""', is: 'text' } } as const;

const SCRIPT: CommentSyntax = {
  token: tokenPatternOf(SLASHES, '(?<open>/\\*|<!--|`)', `(?<text>${DOUBLE}|${SINGLE})`),
  blocks: { ...STARS, ...ARROWS, ...TEMPLATE },
  regex: true,
};
const PYTHON: CommentSyntax = {
  token: tokenPatternOf('(?<note>#.*)', `(?<open>"""|''')`, `(?<text>${DOUBLE}|${SINGLE})`),
  blocks: { '"""': { close: '"""', is: 'doc' }, "'''": { close: "'''", is: 'doc' } },
};
const GO: CommentSyntax = {
  token: tokenPatternOf(SLASHES, '(?<open>/\\*|`)', `(?<text>${DOUBLE}|${CHARACTER})`),
  blocks: { ...STARS, ...TEMPLATE },
};
const C_LIKE: CommentSyntax = {
  token: tokenPatternOf(SLASHES, '(?<open>/\\*|""")', `(?<text>${DOUBLE}|${CHARACTER})`),
  blocks: { ...STARS, ...TRIPLE },
};
const PHP: CommentSyntax = {
  token: tokenPatternOf(
    SLASHES,
    String.raw`(?<note2>#(?!\[).*)`,
    '(?<open>/\\*|<!--)',
    `(?<text>${DOUBLE}|${SINGLE})`,
  ),
  blocks: { ...STARS, ...ARROWS },
};
const STYLE: CommentSyntax = {
  token: tokenPatternOf('(?<open>/\\*)', `(?<text>${DOUBLE}|${SINGLE})`),
  blocks: STARS,
};
const SASS: CommentSyntax = {
  token: tokenPatternOf(SLASHES, '(?<open>/\\*)', `(?<text>${DOUBLE}|${SINGLE})`),
  blocks: STARS,
};
const MARKUP: CommentSyntax = {
  token: tokenPatternOf('(?<open><!--)', `(?<text>${DOUBLE}|${SINGLE})`),
  blocks: ARROWS,
};
const SHELL: CommentSyntax = {
  token: tokenPatternOf(HASH, `(?<text>${DOUBLE}|${SINGLE}|${TICKS})`),
  blocks: {},
};
const DASHES: CommentSyntax = {
  token: tokenPatternOf(
    String.raw`(?<note>(?<!\S)--(?!\[\[).*)`,
    String.raw`(?<open>--\[\[|/\*|\{-)`,
    `(?<text>${DOUBLE}|${SINGLE})`,
  ),
  blocks: { ...STARS, '--[[': { close: ']]', is: 'comment' }, '{-': { close: '-}', is: 'comment' } },
};
const LISP: CommentSyntax = {
  token: tokenPatternOf(String.raw`(?<note>(?<!\S);.*)`, `(?<text>${DOUBLE})`),
  blocks: {},
};
const PERCENT: CommentSyntax = {
  token: tokenPatternOf(String.raw`(?<note>(?<!\S)%.*)`, `(?<text>${DOUBLE})`),
  blocks: {},
};
const JSON_LIKE: CommentSyntax = {
  token: tokenPatternOf(SLASHES, '(?<open>/\\*)', `(?<text>${DOUBLE})`),
  blocks: STARS,
};

const SYNTAX_BY_EXTENSION: readonly (readonly [RegExp, CommentSyntax])[] = [
  [/\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i, SCRIPT],
  [/\.(?:py|pyi|pyx|pxd|bzl)$/i, PYTHON],
  [/\.go$/i, GO],
  [
    /\.(?:rs|java|kts?|scala|sc|groovy|gradle|c|h|cc|cpp|cxx|hpp|hh|mm?|cs|fs|swift|dart|zig|proto|sol)$/i,
    C_LIKE,
  ],
  [/\.php$/i, PHP],
  [/\.css$/i, STYLE],
  [/\.(?:scss|sass|less)$/i, SASS],
  [/\.(?:html?|xml|svg|xhtml|hbs|ejs)$/i, MARKUP],
  [/\.(?:jsonc?|json5)$/i, JSON_LIKE],
  [/\.(?:sql|lua|hs|elm|adb|ads)$/i, DASHES],
  [/\.(?:clj[cs]?|el|lisp|scm|rkt|asm|s)$/i, LISP],
  [/\.(?:erl|hrl|tex|m4)$/i, PERCENT],
  [
    /(?:\.(?:rb|rake|sh|bash|zsh|pl|pm|r|jl|exs?|nim|ya?ml|toml|cfg|ini|conf|properties|graphql|gql|tf|ps1|cmake|mk|bats|fish)|(?:^|\/)(?:\w*file|\.[\w.-]*(?:rc|ignore|env)))$/i,
    SHELL,
  ],
];

/** Null for files whose comment syntax is unknown. */
export const syntaxOf = (path: string): CommentSyntax | null =>
  SYNTAX_BY_EXTENSION.find(([extension]) => extension.test(path))?.[1] ?? null;

/** Documentation files: they do not affect what runs. */
export const isProse = (path: string): boolean =>
  /\.(?:md|mdx|markdown|rst|adoc|asciidoc|org|pod|rtf)$/i.test(path) ||
  // Package lists and build files have the same extensions.
  /(?:^|\/)(?!requirements|constraints|cmakelists)[^/]*\.txt$/i.test(path) ||
  /(?:^|\/)(?:readme|changelog|changes|history|news|authors|contributors|copying|licen[cs]e|notice|todo)(?:\.\w+)?$/i.test(
    path,
  );

/** Generated or vendored files: no one decides anything based on their lines. */
export const isGenerated = (path: string): boolean =>
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|cargo\.lock|poetry\.lock|uv\.lock|pipfile\.lock|gemfile\.lock|composer\.lock|go\.sum|flake\.lock)$/i.test(
    path,
  ) || /\.(?:min\.\w+|map|snap|lock)$/i.test(path);
