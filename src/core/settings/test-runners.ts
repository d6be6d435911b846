export type RunnerName =
  | 'vitest'
  | 'jest'
  | 'mocha'
  | 'ava'
  | 'tape'
  | 'tap'
  | 'qunit'
  | 'node-test'
  | 'borp'
  | 'script'
  | 'pytest'
  | 'unittest'
  | 'go'
  | 'cargo'
  | 'deno'
  | 'bun'
  | 'rspec'
  | 'rake'
  | 'phpunit'
  | 'dotnet'
  | 'maven'
  | 'gradle'
  | 'ctest';

/** A recognized test command: its words, and the position of the runner's name. */
export interface Recognised {
  readonly runner: RunnerName;
  readonly words: readonly string[];
  /** Index of the last word that belongs to the runner's name; options and files come after it. */
  readonly at: number;
}

/** The test runner in a simple command; null if not recognized. */
export function recognise(command: string): Recognised | null {
  const words = wordsOf(command);
  for (const [index, word] of words.entries()) {
    const runner = NAMES[baseOf(word)];
    if (runner) return { runner, words, at: index };
    const build = BUILDS[baseOf(word)];
    if (build && runsTests(words.slice(index + 1))) return { runner: build, words, at: index };
    const second = words[index + 1];
    const pair = PAIRS.find(([one, other]) => one === baseOf(word) && other.test(second ?? ''));
    if (pair) return { runner: pair[2], words, at: index + 1 };
  }
  const node = words.findIndex((word) => /^(?:node|tsx)$/.test(baseOf(word)));
  if (node < 0) return null;
  if (words.slice(node).includes('--test')) return { runner: 'node-test', words, at: node };
  return words.slice(node + 1).filter(isTestScript).length === 1
    ? { runner: 'script', words, at: node }
    : null;
}

/** A known test runner without a supported report in a simple command; null for none. */
export function unreadRunner(command: string): string | null {
  const names = wordsOf(command).map(baseOf);
  return names.map((name) => UNREAD[name]).find((name) => name !== undefined) ?? null;
}

/** A test file that is a program by itself, not one that collects others. */
const TEST_SCRIPT =
  /(?:^|\/)(?:tests?\/(?:[\w.-]+\/)*(?!(?:index|run|runner|all|main|setup)\.)[\w.-]+|[\w-]+[.-](?:test|spec))\.[cm]?[jt]s$/;

const isTestScript = (word: string): boolean => TEST_SCRIPT.test(unquoted(word));
const unquoted = (word: string): string => word.replace(/^(['"])(.*)\1$/s, '$2');
const baseOf = (word: string): string =>
  unquoted(word)
    .replace(/^.*\//s, '')
    .replace(/\.[cm]?js$/, '');

const NAMES: Readonly<Record<string, RunnerName>> = Object.assign(Object.create(null), {
  vitest: 'vitest',
  jest: 'jest',
  mocha: 'mocha',
  _mocha: 'mocha',
  ava: 'ava',
  tape: 'tape',
  tap: 'tap',
  qunit: 'qunit',
  borp: 'borp',
  pytest: 'pytest',
  'py.test': 'pytest',
  rspec: 'rspec',
  phpunit: 'phpunit',
  pest: 'phpunit',
  ctest: 'ctest',
});

const BUILDS: Readonly<Record<string, RunnerName>> = Object.assign(Object.create(null), {
  mvn: 'maven',
  mvnw: 'maven',
  gradle: 'gradle',
  gradlew: 'gradle',
});

/** Maven goals and Gradle tasks that run tests, unless an option disables them. */
const runsTests = (words: readonly string[]): boolean =>
  words.some((word) => /^(?::?(?:[\w-]+:)*test|test|check|build|verify|install|package)$/.test(word)) &&
  !words.some((word) => /^-D(?:skipTests|maven\.test\.skip|test=)/.test(word)) &&
  !words.some((word, index) => /^(?:-x|--exclude-task)$/.test(word) && words[index + 1] === 'test');

const UNREAD: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  karma: 'karma',
  'web-test-runner': 'web-test-runner',
  wtr: 'web-test-runner',
  uvu: 'uvu',
  jasmine: 'jasmine',
  lab: 'lab',
  cypress: 'cypress',
  playwright: 'playwright',
  testem: 'testem',
});

const PAIRS: readonly (readonly [string, RegExp, RunnerName])[] = [
  ['react-scripts', /^test$/, 'jest'],
  ['-m', /^unittest$/, 'unittest'],
  ['go', /^test$/, 'go'],
  ['cargo', /^(?:test|t)$/, 'cargo'],
  ['deno', /^test$/, 'deno'],
  ['bun', /^test$/, 'bun'],
  ['rake', /^test(?::[\w:]+)?$/, 'rake'],
  ['rake', /^spec(?::[\w:]+)?$/, 'rspec'],
  ['rails', /^test$/, 'rake'],
  ['dotnet', /^test$/, 'dotnet'],
];

/**
 * A runner's options without its file arguments. A word after an option that may be its value is kept: running too
 * much costs time, but losing a value would change what is run.
 */
export function optionsOf({ runner, words, at }: Recognised): readonly string[] {
  const rest = words.slice(at + 1);
  // A program takes no further files: the words before it are options of node.
  if (runner === 'script') return rest.slice(0, rest.findIndex(isTestScript));
  return rest.filter((word, index) => {
    if (word.startsWith('-')) return word !== '--';
    if (runner === 'vitest' && index === 0 && VITEST_VERBS.test(word)) return true;
    const option = rest[index - 1];
    return option !== undefined && mayTakeValue(option);
  });
}

const VITEST_VERBS = /^(?:run|watch|dev)$/;

const mayTakeValue = (option: string): boolean =>
  option.startsWith('-') && option !== '--' && !option.includes('=') && !VALUELESS_OPTIONS.test(option);

/** Options without a value in all of these runners. */
const VALUELESS_OPTIONS =
  /^--(?:no-.+|experimental-.+|test|coverage|ci|verbose|silent|quiet|recursive|exit|check-leaks|forbid-only|full-trace|runInBand|passWithNoTests|detectOpenHandles|forceExit|run|enable-source-maps|expose-gc|strict)$|^-(?:v|vv|q|A|race|short)$/;

/** Words of a command as written, with quotes. A simple splitter for plain commands, not a shell parser. */
export const wordsOf = (command: string): readonly string[] =>
  command.match(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/gs) ?? [];

/** The parts of a chain by `&&`; null for a line with other operators, groups or substitutions. */
export function chainParts(line: string): readonly string[] | null {
  const parts: string[] = [''];
  for (const [token] of line.trim().matchAll(/'[^']*'|"(?:[^"\\]|\\.)*"|\\.|&&|\|\||2>&1|>&2|[\s\S]/g)) {
    if (token === '&&') parts.push('');
    else if (/^(?:\|\||[;&()`\n])$/.test(token) || (token.startsWith('"') && /`|\$\(/.test(token)))
      return null;
    else parts[parts.length - 1] += token;
  }
  return parts.map((part) => part.trim());
}
