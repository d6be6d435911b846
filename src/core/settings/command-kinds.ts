import { programWords, wordsOf } from './program-words.ts';

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
  | 'uvu'
  | 'lab'
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
  | 'ctest'
  | 'meson';

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
  if (FILE_PROGRAMS.test(words[0] ?? '')) return null;
  for (const [index, word] of words.entries()) {
    const runner = NAMES[baseOf(word)];
    if (runner && (runner !== 'lab' || isLab(word, command))) return { runner, words, at: index };
    const build = BUILDS[baseOf(word)];
    if (build && runsTests(words.slice(index + 1))) return { runner: build, words, at: index };
    const rails = baseOf(word) === 'rails' ? railsTests(words, index) : null;
    if (rails !== null) return { runner: 'rake', words, at: rails };
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

/** Where Rails is told to test, also after tasks that prepare the database; null for system tests, and if it is not. */
function railsTests(words: readonly string[], rails: number): number | null {
  const rest = words.slice(rails + 1);
  const at = rest.findIndex((word) => /^test(?::(?!system$|prepare$)[\w:]+)?$/.test(word));
  return at >= 0 && rest.slice(0, at).every((word) => /^\w+:[\w:]+$/.test(word)) ? rails + 1 + at : null;
}

/** Many folders are named lab: `tsc -p lab`. */
const isLab = (word: string, command: string): boolean =>
  /(?:^|\/)node_modules\//.test(unquoted(word)) || programWords(command)[0] === 'lab';

/** Programs whose words are files, which may be named like a runner: `rimraf mocha.js`. */
const FILE_PROGRAMS = /^(?:rimraf|rm|del|del-cli|cp|cpx|cpy|mv|mkdir|mkdirp|shx|touch|cat|echo|ls)$/;

/** A known test runner without a supported report in a simple command; null for none. */
export function unreadRunner(command: string): string | null {
  if (isAngularTest(command)) return 'ng test';
  const names = wordsOf(command).map(baseOf);
  return names.map((name) => UNREAD[name]).find((name) => name !== undefined) ?? null;
}

/** The runner that Angular's configuration names: karma in a browser, or vitest. */
export const isAngularTest = (command: string): boolean =>
  /^ng (?:test|t)\b/.test(programWords(command).join(' '));

/** A test file that is a program by itself, not one that collects others, and none that writes files for tests. */
const TEST_SCRIPT =
  /(?:^|\/)(?:tests?\/(?:(?!fixtures?\/)[\w.-]+\/)*(?!(?:index|run|runner|all|main|setup|transpile|autogen)\.|(?:build|compile|generate|prepare|write)[-_])[\w.-]+|[\w-]+[.-](?:test|spec))\.[cm]?[jt]s$/;

const isTestScript = (word: string): boolean => TEST_SCRIPT.test(unquoted(word));
/** A word without the quotes around it. */
export const unquoted = (word: string): string => word.replace(/^(['"])(.*)\1$/s, '$2');
const baseOf = (word: string): string =>
  unquoted(word)
    .replace(/\/vitest\/dist\/cli(?:-wrapper)?\.js$/, '/vitest')
    .replace(/\/uvu\/bin\.js$/, '/uvu')
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
  uvu: 'uvu',
  lab: 'lab',
  bnt: 'node-test',
  pytest: 'pytest',
  'py.test': 'pytest',
  rspec: 'rspec',
  phpunit: 'phpunit',
  'simple-phpunit': 'phpunit',
  pest: 'phpunit',
  ctest: 'ctest',
  'runtests.py': 'unittest',
});

const BUILDS: Readonly<Record<string, RunnerName>> = Object.assign(Object.create(null), {
  mvn: 'maven',
  mvnw: 'maven',
  gradle: 'gradle',
  gradlew: 'gradle',
});

/** Maven goals and Gradle tasks that run tests, unless an option disables them. */
const runsTests = (words: readonly string[]): boolean =>
  words.some((word) => /^(?::?(?:[\w-]+:)*(?:jvmT|t)est|check|build|verify|install|package)$/.test(word)) &&
  !words.some((word) => /^-D(?:skipTests|maven\.test\.skip|test=)/.test(word)) &&
  !words.some((word, index) => /^(?:-x|--exclude-task)$/.test(word) && words[index + 1] === 'test');

const UNREAD: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  karma: 'karma',
  'web-test-runner': 'web-test-runner',
  wtr: 'web-test-runner',
  jasmine: 'jasmine',
  cypress: 'cypress',
  playwright: 'playwright',
  testem: 'testem',
  'qunit-cli': 'qunit-cli',
});

const PAIRS: readonly (readonly [string, RegExp, RunnerName])[] = [
  // These hand their further options to jest.
  ...['react-scripts', 'react-app-rewired', 'kcd-scripts', 'tsdx', 'craco'].map(
    (name) => [name, /^test$/, 'jest'] as const,
  ),
  ['wp-scripts', /^test-unit-js$/, 'jest'],
  ['-m', /^unittest$/, 'unittest'],
  ...['manage.py', 'django', 'django-admin'].map((name) => [name, /^test$/, 'unittest'] as const),
  ['go', /^test$/, 'go'],
  ['cargo', /^(?:test|t)$/, 'cargo'],
  ['deno', /^test$/, 'deno'],
  ['bun', /^test$/, 'bun'],
  ['rake', /^test(?::[\w:]+)?$/, 'rake'],
  ['rake', /^spec(?::[\w:]+)?$/, 'rspec'],
  ['dotnet', /^test$/, 'dotnet'],
  ['meson', /^test$/, 'meson'],
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

/**
 * The purpose of a step in a test command. `other`: anything else; before tests it may build what they need, such as
 * a compiler.
 */
export type StepKind = 'lint' | 'types' | 'tests' | 'other';

/** Programs that format TAP for people. */
const FORMATTER = /\|\s*(?:npx )?(?:tap-[\w-]+|faucet|colortape)(?:\s+-[\w-]+)*\s*$/;

/** A command without such a program behind it: its output is TAP. */
export const withoutFormatter = (command: string): string =>
  FORMATTER.test(command) ? command.replace(FORMATTER, '').trimEnd() : command;

/** The kind of a simple command, by its program. */
export function stepKind(command: string): StepKind {
  const words = programWords(command);
  const [program = '', ...rest] = words;
  const line = [program, ...rest].join(' ');
  if (LINTERS.has(program) || LINT_LINES.some((pattern) => pattern.test(line))) return 'lint';
  if (TYPE_CHECKERS.has(program) || TYPE_LINES.some((pattern) => pattern.test(line))) return 'types';
  if (recognise(command) || FORMATTER.test(command)) return 'tests';
  const file = wordsOf(command).find((word) => /^[\w@./-]+\.(?:[cm]?[jt]s|sh|py|rb)$/.test(word));
  const own = INTERPRETERS.test(program) || file?.startsWith('./') === true;
  const name = own ? (file ?? '').replace(/^.*\//s, '').replace(/\.\w+$/, '') : '';
  return /^(?:run[_-]?)?tests?(?:[_-]?runner)?$/i.test(name) ? 'tests' : (stepKindByName(name) ?? 'other');
}

/** The kind suggested by the name of a script, a make target or a tox environment; null for none. */
export function stepKindByName(name: string): 'lint' | 'types' | null {
  if (/(?:^|[:_-])(?:fix|write|build|watch)(?:$|[:_-])/i.test(name)) return null;
  if (LINT_NAME.test(name)) return 'lint';
  return TYPES_NAME.test(name) ? 'types' : null;
}

const LINT_NAME =
  /^(?:(?:check|test|ci|run)[:_-])?(?:\w*lint\w*|format|formatting|fmt|style|codestyle|prettier|standard|xo|flake8|ruff|black|isort|pre-commit|spell\w*|audit)(?:$|[:_-])/i;
const TYPES_NAME =
  /^(?:(?:check|test|ci|run|lint)[:_-])?(?:types?|typings?|typing|typecheck|type-?check\w*|check-?types?|tsc|tsd|mypy|pyright|typescript)(?:$|[:_-])/i;

const INTERPRETERS = /^(?:node|tsx|sh|bash|python[\d.]*|ruby|deno|bun|ts-node)$/;

const LINTERS: ReadonlySet<string> = new Set([
  ...['xo', 'eslint', 'standard', 'standardx', 'semistandard', 'ts-standard', 'oxlint', 'jshint', 'jslint'],
  ...['tslint', 'stylelint', 'markdownlint', 'markdownlint-cli2', 'remark', 'textlint', 'cspell', 'knip'],
  ...['depcheck', 'publint', 'eclint', 'editorconfig-checker', 'ls-lint', 'lockfile-lint', 'commitlint'],
  ...['flake8', 'pylint', 'pycodestyle', 'pydocstyle', 'bandit', 'codespell', 'golangci-lint', 'gofmt'],
  ...[
    'staticcheck',
    'rubocop',
    'standardrb',
    'phpcs',
    'phpmd',
    'parallel-lint',
    'ecs',
    'pre-commit',
    'shellcheck',
    'yamllint',
    'evalmd',
  ],
]);
const LINT_LINES: readonly RegExp[] = [
  /^prettier\b.* (?:--check|-c|--list-different|-l)\b/,
  /^biome (?:check|ci|lint|format)\b/,
  /^ruff (?:check|format .*--(?:check|diff))\b/,
  /^(?:black|isort)\b.* (?:--check(?:-only)?|--diff|-c)\b/,
  /^(?:npm|pnpm|yarn)\b.* audit\b/,
  /^gts (?:check|lint)\b/,
  /^cargo (?:fmt|clippy)\b/,
  /^dotnet format\b/,
  /^(?:php-cs-fixer|rector)\b.* (?:--dry-run|-n)\b/,
  /^php-cs-fixer check\b/,
  /^pint\b.* --test\b/,
];
const TYPE_CHECKERS: ReadonlySet<string> = new Set([
  ...['tsd', 'dtslint', 'attw', 'tstyche', 'type-coverage', 'flow', 'mypy', 'dmypy', 'pyright'],
  ...['basedpyright', 'pytype', 'phpstan', 'psalm', 'sorbet'],
]);
const TYPE_LINES: readonly RegExp[] = [
  /^(?:tsc|vue-tsc|svelte-check|tsgo)\b.* --noEmit\b/i,
  /^svelte-check\b/,
  /^go vet\b/,
  /^cargo check\b/,
  /^bundle exec srb\b/,
];

/** Type checkers that name the lines in question: their findings can be compared with those of the base. */
const NAMING_CHECKERS =
  /^(?:(?:tsc|vue-tsc|tsgo)\b.* --noEmit\b|(?:mypy|dmypy|pyright|basedpyright|go vet|cargo check)\b)/i;

/** Whether a command is a type checker whose findings can be compared. */
export const isTypeCheck = (command: string): boolean =>
  NAMING_CHECKERS.test(programWords(command).join(' '));
