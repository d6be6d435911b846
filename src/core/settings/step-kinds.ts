import { recognise, wordsOf } from './test-runners.ts';

/**
 * The purpose of a step in a test command. `other`: anything else; before tests it may build what they need, such as
 * a compiler.
 */
export type StepKind = 'lint' | 'types' | 'tests' | 'other';

/** The kind of a simple command, by its program. */
export function stepKind(command: string): StepKind {
  const words = programWords(command);
  const [program = '', ...rest] = words;
  const line = [program, ...rest].join(' ');
  if (LINTERS.has(program) || LINT_LINES.some((pattern) => pattern.test(line))) return 'lint';
  if (TYPE_CHECKERS.has(program) || TYPE_LINES.some((pattern) => pattern.test(line))) return 'types';
  if (recognise(command)) return 'tests';
  const file = wordsOf(command).find((word) => /^[\w@./-]+\.(?:[cm]?[jt]s|sh|py|rb)$/.test(word));
  const own = INTERPRETERS.test(program) || file?.startsWith('./') === true;
  const name = own ? (file ?? '').replace(/^.*\//s, '').replace(/\.\w+$/, '') : '';
  return stepKindByName(name) ?? 'other';
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
  ...['staticcheck', 'rubocop', 'standardrb', 'phpcs', 'pre-commit', 'shellcheck', 'yamllint', 'evalmd'],
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
const STARTER_PAIRS = /^(?:pnpm|yarn|npm|poetry|uv|pdm|hatch|pipenv|rye|bundle|bun) (?:exec|run|dlx|x) /;

/** The words from the program on: without assignments, wrappers, folders and file extensions; unquoted. */
export function programWords(command: string): readonly string[] {
  let words = wordsOf(command).map((word) => word.replace(/^(['"])(.*)\1$/s, '$2'));
  for (let next = 0; next < words.length; next++) {
    const [first = '', second = ''] = words;
    const name = baseName(first);
    if (/^\w+=/.test(first)) words = words.slice(1);
    else if (STARTERS.has(name))
      words = words.slice(1 + words.slice(1).findIndex((word) => !isFileOperation(word)));
    else if (STARTER_PAIRS.test(`${name} ${second} `)) words = words.slice(2);
    else if (/^python[\d.]*$/.test(name) && second === '-m') words = words.slice(2);
    else if (name === 'node' && /node_modules\//.test(second)) words = words.slice(1);
    else break;
  }
  const [program = '', ...rest] = words;
  return [baseName(program), ...rest];
}

const isFileOperation = (word: string): boolean => word.startsWith('-') || /^\w+=/.test(word);

const baseName = (word: string): string => word.replace(/^.*\//s, '').replace(/\.[cm]?js$/, '');
