/** Families whose tests and comments look alike. */
export type Language =
  | 'js'
  | 'python'
  | 'go'
  | 'rust'
  | 'jvm'
  | 'ruby'
  | 'php'
  | 'dotnet'
  | 'c'
  | 'shell'
  | 'prose'
  | 'other';

const EXTENSIONS_OF_LANGUAGE: Readonly<Record<Language, readonly string[]>> = {
  js: ['js', 'jsx', 'ts', 'tsx', 'mjs', 'cjs', 'mts', 'cts', 'vue', 'svelte'],
  python: ['py', 'pyi'],
  go: ['go'],
  rust: ['rs'],
  jvm: ['java', 'kt', 'kts', 'scala', 'groovy', 'gradle'],
  ruby: ['rb', 'rake'],
  php: ['php'],
  dotnet: ['cs', 'fs', 'swift', 'dart'],
  c: ['c', 'h', 'cc', 'cpp', 'cxx', 'hpp', 'zig'],
  shell: ['sh', 'bash', 'bats', 'yml', 'yaml', 'toml', 'ini', 'cfg', 'pl', 'ex', 'exs', 'nim'],
  prose: ['md', 'mdx', 'rst', 'txt', 'adoc', 'html', 'htm', 'svg', 'xml', 'csv', 'json'],
  other: [],
};
const EXTENSIONS: ReadonlyMap<string, Language> = new Map(
  Object.entries(EXTENSIONS_OF_LANGUAGE).flatMap(([language, extensions]) =>
    extensions.map((extension) => [extension, language as Language] as const),
  ),
);

export const languageOf = (path: string): Language =>
  EXTENSIONS.get(/\.([a-zA-Z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? '') ?? 'other';

/** How a line that is only a comment begins; null where the language has no line comments we know. */
const COMMENT_START: Readonly<Record<Language, RegExp | null>> = {
  js: /^(?:\/\/|\/\*|\*\/|\*(?:\s|$)|<!--)/,
  go: /^(?:\/\/|\/\*|\*\/|\*(?:\s|$))/,
  rust: /^(?:\/\/|\/\*|\*\/|\*(?:\s|$))/,
  jvm: /^(?:\/\/|\/\*|\*\/|\*(?:\s|$))/,
  php: /^(?:\/\/|\/\*|\*\/|\*(?:\s|$)|#(?!\[))/,
  dotnet: /^(?:\/\/|\/\*|\*\/|\*(?:\s|$))/,
  c: /^(?:\/\/|\/\*|\*\/|\*(?:\s|$))/,
  python: /^#/,
  ruby: /^#/,
  shell: /^#/,
  prose: null,
  other: null,
};

/** Directives that look like comments and are none: build tags, linters' and shells' first lines. */
const DIRECTIVE = /^(?:\/\/go:|\/\/ \+build|#!)/;

/** Is the whole line a comment? `/* x *\/ code` is not. */
export function isComment(text: string, language: Language): boolean {
  const line = text.trim();
  const start = COMMENT_START[language];
  if (!start?.test(line) || DIRECTIVE.test(line)) return false;
  const closed = line.startsWith('/*') ? line.indexOf('*/', 2) : line.startsWith('*/') ? 0 : -1;
  return closed < 0 || line.slice(closed + 2).trim() === '';
}
