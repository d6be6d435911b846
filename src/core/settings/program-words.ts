/** Words of a command as written, with quotes. A simple splitter for plain commands, not a shell parser. */
export const wordsOf = (command: string): readonly string[] =>
  command.match(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/gs) ?? [];

/** Programs that start another one with their own options, without changing its purpose. */
const STARTERS: ReadonlySet<string> = new Set([
  'npx',
  'bunx',
  'c8',
  'nyc',
  'time',
  'env',
  'cross-env',
  'nice',
]);
const STARTER_PAIRS = /^(?:pnpm|yarn|npm|poetry|uv|pdm|hatch|pipenv|pipx|rye|bundle|bun) (?:exec|run|dlx|x) /;
/** Their own options come before the program; these have a value as the next word. */
const PYTHON_STARTERS = /^(?:uvx |(?:uv|pipx) run )/;
const PYTHON_STARTER_VALUES =
  /^(?:--(?:with(?:-\w+)?|from|spec|python|(?:only-|no-)?group|(?:no-)?extra|package|project|directory|env-file|index)|-[pw])$/;

/** A program of a package, started by its interpreter. */
const INSTALLED_SCRIPT = /^(?:node .*node_modules\/|php (?:.*\/)?bin\/)/s;

/** The words from the program on: without assignments, wrappers, folders and file extensions; unquoted. */
export function programWords(command: string): readonly string[] {
  let words: readonly string[] = wordsOf(command).map((word) => word.replace(/^(['"])(.*)\1$/s, '$2'));
  for (let next = 0; next < words.length; next++) {
    const [first = '', second = ''] = words;
    const name = baseName(first);
    if (/^\w+=/.test(first)) words = words.slice(1);
    else if (PYTHON_STARTERS.test(`${name} ${second} `))
      words = afterOptions(words.slice(name === 'uvx' ? 1 : 2));
    else if (STARTERS.has(name))
      words = words.slice(1 + words.slice(1).findIndex((word) => !isFileOperation(word)));
    else if (STARTER_PAIRS.test(`${name} ${second} `)) words = words.slice(2);
    else if (/^python[\d.]*$/.test(name) && second === '-m') words = words.slice(2);
    else if (INSTALLED_SCRIPT.test(`${name} ${second}`)) words = words.slice(1);
    else break;
  }
  const [program = '', ...rest] = words;
  return [baseName(program), ...rest];
}

/** From the first word that is neither an option nor the value of one. */
function afterOptions(words: readonly string[]): readonly string[] {
  let at = 0;
  while (words[at]?.startsWith('-')) at += PYTHON_STARTER_VALUES.test(words[at] ?? '') ? 2 : 1;
  return words.slice(at);
}

const isFileOperation = (word: string): boolean => word.startsWith('-') || /^\w+=/.test(word);

const baseName = (word: string): string => word.replace(/^.*\//s, '').replace(/\.[cm]?js$/, '');
