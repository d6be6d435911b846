import type { DiffLine, PatchFile } from '../patches/index.ts';

/** Language families with the same syntax for tests and comments. */
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

/** The start of a comment line; null for languages without known line comments. */
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

/** Directives that look like comments: build tags, shebang lines, Ruby's and Python's magic comments. */
const DIRECTIVE = /^(?:\/\/go:|\/\/ \+build|#!|#\s*frozen_string_literal:|#.{0,40}\bcoding[:=])/;

/** Whether the whole line is a comment. `/* x *\/ code` is not. */
export function isComment(text: string, language: Language): boolean {
  const line = text.trim();
  const start = COMMENT_START[language];
  if (!start?.test(line) || DIRECTIVE.test(line)) return false;
  const closed = line.startsWith('/*') ? line.indexOf('*/', 2) : line.startsWith('*/') ? 0 : -1;
  return closed < 0 || line.slice(closed + 2).trim() === '';
}

/** Indentation is significant in these languages, or its meaning is unknown. */
const INDENTATION_MATTERS: ReadonlySet<Language> = new Set(['python', 'shell', 'prose', 'other']);

/**
 * Whether a production file changes in more than white space and comments. Binary files, links, modes, and files
 * added or removed count as content; in doubt, so does everything else.
 */
export function hasContent(file: PatchFile): boolean {
  if (file.binary || file.change === 'deleted' || file.change === 'type-changed') return true;
  if (file.oldMode !== file.newMode && file.change === 'modified') return true;
  const language = languageOf(file.path);
  // The file may contain multi-line strings, in which lines that look like comments or indentation are data.
  const literal = /`|"""|'''/.test(file.section);
  const plain =
    literal || INDENTATION_MATTERS.has(language)
      ? trimmedLines(language, literal)
      : withoutWhitespace(language);
  return changedBlocks(file).some(({ removed, added }) => plain(added) !== plain(removed));
}

/** Runs of consecutive changed lines. A moved line counts as content. */
function changedBlocks(file: PatchFile): readonly { removed: readonly string[]; added: readonly string[] }[] {
  const found: { removed: string[]; added: string[] }[] = [];
  for (const hunk of file.hunks) {
    let before: DiffLine['kind'] = 'context';
    for (const line of hunk.lines) {
      if (line.kind !== 'context') {
        if (before === 'context') found.push({ removed: [], added: [] });
        const last = found.at(-1) as { removed: string[]; added: string[] };
        last[line.kind].push(line.text);
      }
      before = line.kind;
    }
  }
  return found;
}

type NormalizeLines = (lines: readonly string[]) => string;

const trimmedLines =
  (language: Language, literal: boolean): NormalizeLines =>
  (lines) =>
    lines
      .filter((line) => line.trim() !== '' && (literal || !isComment(line, language)))
      .map((line) => line.trimEnd())
      .join('\n');

const withoutWhitespace =
  (language: Language): NormalizeLines =>
  (lines) => {
    const writer: TokenWriter = { out: [], last: '', gap: false };
    for (const line of lines) if (!isComment(line, language)) writeTokens(line, writer);
    return writer.out.join('');
  };

interface TokenWriter {
  readonly out: string[];
  last: string;
  gap: boolean;
}

/** Strings, white space, a comment up to the end of the line, words, and runs of other characters. */
const CODE_TOKEN = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\s+|\/\/.*|\w+|[^\s"'/\w]+|[\s\S]/g;

/** Removes a comment at the end of the line, and white space outside quotes except for one space between words. */
function writeTokens(line: string, writer: TokenWriter): void {
  writer.gap = true;
  for (const token of line.match(CODE_TOKEN) ?? []) {
    if (/^\s/.test(token)) {
      writer.gap = true;
      continue;
    }
    // Without a preceding space it may be the end of a regular expression.
    if (writer.gap && token.startsWith('//') && !DIRECTIVE.test(token)) return;
    if (writer.gap && /\w/.test(writer.last) && /^\w/.test(token)) writer.out.push(' ');
    writer.out.push(token);
    writer.last = token.at(-1) as string;
    writer.gap = false;
  }
}
