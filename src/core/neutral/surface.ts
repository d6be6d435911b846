/** Lines that declare what other files can use, by language. Enough to name it: nothing is parsed. */
const DECLARES: Readonly<Record<string, RegExp>> = {
  js: /^(?:export\s+(?:default\s+)?(?:declare\s+)?(?:async\s+)?(?:function|class|const|let|var|interface|type|enum|abstract)\b|export\s*[{*]|module\.exports\b|exports\.\w+\s*=)/,
  py: /^(?: {4})?(?:async\s+)?(?:def\s+[a-zA-Z]|class\s+\w)/,
  go: /^(?:func\s+(?:\([^)]*\)\s*)?[A-Z]|type\s+[A-Z])/,
  rs: /^\s*pub\s+(?:async\s+)?(?:fn|struct|enum|trait|type|const)\b/,
  java: /^\s*public\s/,
  rb: /^\s*(?:def\s+\w|class\s+\w|module\s+\w)/,
  php: /^\s*(?:(?:public|static|final|abstract)\s+)*(?:function\s+\w|class\s+\w|interface\s+\w)/,
};
const LANGUAGE: Readonly<Record<string, string>> = {
  js: 'js',
  mjs: 'js',
  cjs: 'js',
  jsx: 'js',
  ts: 'js',
  mts: 'js',
  cts: 'js',
  tsx: 'js',
  py: 'py',
  go: 'go',
  rs: 'rs',
  rb: 'rb',
  php: 'php',
  java: 'java',
  kt: 'java',
  cs: 'java',
  scala: 'java',
};
const LONGEST_LINE = 160;
/** Lines of one file. Our default. */
const MOST_LINES = 60;

/** Declarations of a source file as they stand there, cut; empty for a language that is not known. */
export function surfaceOf(path: string, text: string): readonly string[] {
  const declares = DECLARES[LANGUAGE[path.slice(path.lastIndexOf('.') + 1)] ?? ''];
  if (!declares) return [];
  return text
    .split('\n')
    .filter((line) => declares.test(line.slice(0, 400)))
    .slice(0, MOST_LINES)
    .map((line) => line.trim().slice(0, LONGEST_LINE));
}

/** Whether we know how this language declares things. */
export const hasSurface = (path: string): boolean =>
  Object.hasOwn(LANGUAGE, path.slice(path.lastIndexOf('.') + 1));

/** Words of a text, to tell names that occur in it from those that do not. */
export const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/[\w$]+/g) ?? []);
