import { chainParts, stepKind } from './command-kinds.ts';
import { inFolder } from './folder-parts.ts';
import { programWords, wordsOf } from './program-words.ts';

/** The purpose of a command in a CI job, as far as its text shows. */
export interface CiCommand {
  readonly part: 'setup' | 'build' | 'database' | 'test';
  /** For `sh -c` at the top of the repository. */
  readonly command: string;
}

/** The context of a workflow's script. */
interface ScriptPlace {
  /** From the top of the repository; empty for the top itself. */
  readonly folder: string;
  /** The value of `${{ expression }}`; null if unknown before the run. */
  readonly value: (expression: string) => string | null;
  /** Variables of the step, job and workflow. */
  readonly env: ReadonlyMap<string, string>;
  /** Variables of the step alone, passed to its commands. */
  readonly own: ReadonlyMap<string, string>;
}

/** Maximum characters of a command that is used. */
export const MAX_COMMAND_CHARS = 2_000;
/** Maximum characters of a script that are read. */
const MAX_SCRIPT_CHARS = 8_000;
const MAX_SCRIPT_LINES = 60;
/** Syntax that makes a script more than a portable list of commands. */
const NOT_PLAIN =
  /<<|\[\[|<\(|^[^\S\n]*(?:(?:if|for|while|until|case|select|function|trap|exec|eval|shopt|then|else|fi|do|done|esac)\b|[{}(]|\w+[^\S\n]*\(\))/m;

/**
 * The commands of a `run:` script that set up, build or test. Empty for a script with control structures or for
 * another shell. Leaves out what the sandbox does not need (system packages, git, uploads, linters) and what needs a
 * secret or other data of the CI service.
 */
export function scriptCommands(script: string, place: ScriptPlace): readonly CiCommand[] {
  const text = script.slice(0, MAX_SCRIPT_CHARS).replace(/ ?\\\r?\n\s*/g, ' ');
  if (script.length > MAX_SCRIPT_CHARS || NOT_PLAIN.test(text)) return [];
  const found: CiCommand[] = [];
  let { folder } = place;
  const lines = text.split(/\r?\n/).slice(0, MAX_SCRIPT_LINES);
  for (const line of lines.filter(({ length }) => length <= MAX_COMMAND_CHARS)) {
    const here = workspaceFrom(folder, withSingleBlanks(line.trim()));
    const plain = withoutExpressions(here, place);
    if (plain === null || plain === '' || /^(?:#|set\s)/.test(plain)) continue;
    for (const command of chainParts(plain) ?? [plain]) {
      const into = /^(?:cd|pushd)\s+(.*)$/.exec(command)?.[1];
      if (into !== undefined) {
        const next = folderIn(folder, into.replace(/^(['"])(.*)\1$/, '$2'));
        if (next === null) return found;
        folder = next;
        continue;
      }
      const plainCommand = byItself(
        withoutHeavyTargets(withoutSystemTests(withoutRunner(unwrapped(command)))),
      );
      const part = partOf(plainCommand.replace(/^\(\s*/, ''));
      if (part !== null)
        found.push({ part, command: inFolder(folder, withOwn(plainCommand, part, place.own)) });
    }
  }
  return found;
}

const WORKSPACE = /(=?)(?:\$\{\{\s*github\.workspace\s*\}\}|\$GITHUB_WORKSPACE\b|\$\{GITHUB_WORKSPACE\})/g;

/** The top of the repository, relative to a folder. The value of an option may be used in another one. */
export const workspaceFrom = (folder: string, text: string): string => {
  const way = folder === '' ? '.' : folder.replace(/[^/]+/g, '..');
  return text.replace(WORKSPACE, (_, equals: string) =>
    equals === '' ? way : folder === '' ? '=$PWD' : `=$PWD/${way}`,
  );
};

/** Patterns take quadratic time for long runs of blanks. */
const withSingleBlanks = (line: string): string =>
  line.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\s+/g, (part) => (part.trim() === '' ? ' ' : part));

/**
 * Resolves a folder of the repository relative to another; null if it leaves the repository or needs a shell to
 * evaluate.
 */
export function folderIn(from: string, path: string): string | null {
  const parts = from === '' ? [] : from.split('/');
  if (!/^[\w@./-]+$/.test(path) || path.startsWith('/')) return null;
  for (const part of path.split('/')) {
    if (part === '..' && parts.pop() === undefined) return null;
    if (part.startsWith('-')) return null;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** The folder in which a command of a CI job runs; empty for the top. */
export const enteredFolder = (command: string): string =>
  /^\(cd ([\w@./-]+) && .*\)$/s.exec(command)?.[1] ?? '';

/** Values of a matrix or of `env` that may become part of a command. */
const PLAIN_VALUE = /^[\w@./:=,+-]*$/;

/** A line adapted to run here; null if it needs something that only the CI service has. */
function withoutExpressions(line: string, { value, env }: ScriptPlace): string | null {
  let text = line.replace(/\$\{\{\s*([^}]{1,200}?)\s*\}\}/g, (all, expression: string) => {
    const known = value(expression);
    return known !== null && PLAIN_VALUE.test(known) ? known : all;
  });
  // A variable set for one command, such as a token for an upload.
  text = text.replace(/^(?:\w+=(?:"[^"]*"|'[^']*'|[^\s"'$]*(?:\$\{\{[^}]*\}\})?)\s+)+(?=\S)/, (all) =>
    all.includes('${{') ? '' : all,
  );
  text = text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (all, one?: string, other?: string) => {
    const name = one ?? other ?? '';
    if (/^(?:HOME|PWD|PATH)$/.test(name)) return all;
    const set = env.get(name);
    return set !== undefined && PLAIN_VALUE.test(set) ? set : `\${{ ${name} }}`;
  });
  // tox has a name for the Python that is there, whatever the matrix says.
  if (/\btox\b/.test(text)) text = text.replace(/\s(?:-e|--env)[= ]?\S*\$\{\{.*?\}\}\S*/, ' -e py');
  if (/\bnox\b/.test(text)) text = text.replaceAll(NOX_VERSION, '');
  return text.includes('${{') ? null : text;
}

/** The Python of a session, `tests-${{ … }}` or `--python ${{ … }}`: set-up says which one there is. */
const NOX_VERSION =
  /(?<=\s["']?[\w.]+)-(?:py(?:thon)?)?\$\{\{[^}]*\}\}(?=["'(\s]|$)|\s(?:-[pP]|--(?:force-|extra-)?pythons?)[= ]["']?\$\{\{[^}]*\}\}["']?(?=\s|$)/g;

/** Variables that are unrelated to the code, or that must not be in a command: secrets, and options that carry reports. */
const FOR_CI_ONLY =
  /^(?:CI|GITHUB_\w+|FORCE_COLOR|NO_COLOR|CARGO_TERM_COLOR|RUSTFLAGS|\w*(?:TOKEN|SECRET|PASSWORD|KEY)\w*|PIP_\w+|NPM_CONFIG_\w+|COVERALLS\w*|CODECOV\w*|PYTEST_ADDOPTS|SPEC_OPTS|TESTOPTS|MINITEST_REPORTER|MT_CPU|PARALLEL_WORKERS)$/i;

function withOwn(command: string, part: CiCommand['part'], own: ScriptPlace['own']): string {
  if (part === 'setup') return command;
  const set = [...own].filter(
    ([name, value]) => /^\w+$/.test(name) && !FOR_CI_ONLY.test(name) && /^[\w@./:=,+-]+$/.test(value),
  );
  return [...set.map(([name, value]) => `${name}=${value}`), command].join(' ');
}

/** Set-up provides tox and nox; what starts them in CI would look for them in the index. */
function withoutRunner(command: string): string {
  const words = programWords(command);
  return /^(?:uvx|(?:uv|pipx) run) /.test(command) && /^(?:tox|nox)$/.test(words[0] ?? '')
    ? wordsOf(command).slice(-words.length).join(' ')
    : command;
}

/** What stands before the first `|` or `||`; of `2>&1 |` and `|&`, too. */
const BEFORE_PIPE =
  /^((?:'[^']*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\\.|\([^()'"|]*\)|[^'"`\\|()])*?)\s*(?:2>&1\s*)?(\|.*)/s;

/**
 * A command of tests without what follows it behind a pipe or `||`: `make check || true` and, without `pipefail`, which
 * `sh` may not know, `make check | tee log` succeed whatever the tests do. What runs in any case is kept.
 */
function byItself(command: string): string {
  const [, first, behind = ''] = BEFORE_PIPE.exec(command) ?? [];
  return first !== undefined && !/&&|;/.test(behind.replace(/\{[^{}]*\}/g, '')) && partOf(first) === 'test'
    ? first
    : command;
}

/** What a program starts that provides an environment of its own; set-up here provides another. */
const unwrapped = (command: string): string =>
  command.replace(
    /^(?:mise (?:exec|x) --|nix develop (?:[\w.#/:-]+ )?(?:-c|--command)|docker(?:-| )compose run (?:-[\w-]+ )*[\w.-]+) (?=[\w./])/,
    '',
  );

/** Programs that are told several targets. */
const TARGETS =
  /^((?:(?:npx|bunx|pnpm|yarn) (?:exec )?)?(?:turbo (?:run )?|nx (?:run-many|affected) (?:-t|--targets?)[= ]|(?:g?make|just|task|gradle|(?:sh )?\.\/gradlew) ))([^|;&<>]*?)((?: 2>&1)? ?\|.*)?$/;

/** Without linters and the like where tests are a target beside them; a list for nx in one form. */
function withoutHeavyTargets(command: string): string {
  const [, start = '', list = '', pipe = ''] = TARGETS.exec(command) ?? [];
  const nx = /\bnx \S+ /.exec(start)?.[0];
  const words = (nx === undefined ? list : list.replaceAll(',', ' ')).split(' ');
  const isTarget = (at: number) => !/^-[^=]*$/.test(words[at - 1] ?? '');
  const left = words.filter((word, at) => !(isTarget(at) && /^\w+$/.test(word) && HEAVY.test(word)));
  if (!left.some((word) => TEST_WORD.test(word))) return command;
  return `${nx === undefined ? start : start.replace(/-\S+[= ]?$/, '-t ')}${left.join(' ')}${pipe}`;
}

/** Those of Rails need a browser. */
const withoutSystemTests = (command: string): string =>
  /\brails (?:\S+ )*test(?: |$)/.test(command) ? command.replace(/ test:system(?= |$)/, '') : command;

/** Tasks of Rails; the database is there only beside a test command. */
const PREPARES_DATABASE = /^(?:bundle exec )?(?:[\w./-]*\/)?(?:rails|rake)(?: db:[\w:]+)+$/;

function partOf(command: string): CiCommand['part'] | null {
  if (IGNORED_COMMANDS.some((pattern) => pattern.test(command))) return null;
  if (SETUP.some((pattern) => pattern.test(command))) return 'setup';
  if (ONLY_COMPILES.test(command)) return 'build';
  if (PREPARES_DATABASE.test(command)) return 'database';
  const kind = stepKind(command);
  if (kind === 'lint' || kind === 'types') return null;
  if (kind === 'tests' || namesTests(command)) return 'test';
  // `nyc npm test`: what a program that measures coverage starts.
  if (namesTests(programWords(command).join(' '))) return 'test';
  return BUILD.some((pattern) => pattern.test(command)) ? 'build' : null;
}

/** Commands that change the CI service's machine, or only inform people. */
const IGNORED_COMMANDS: readonly RegExp[] = [
  /\b(?:sudo|apt|apt-get|brew|choco|winget|apk|dnf|yum|snap|systemctl|service)\s/,
  /^(?:echo|printf|ls|cat|pwd|env|printenv|which|whoami|uname|df|free|date|true|sleep|export|alias|rm|chmod|chown|test|\[)(?:\s|$)/,
  /^(?:git|docker|docker-compose|podman|kubectl|helm|gh|aws|az|gcloud|curl|wget|ssh|scp|rsync|codecov|coveralls|rustup|nvm|pyenv|corepack|conda|mamba|cargo install|go install)(?:\s|$)/,
  /^(?:npm|pnpm|yarn|bun)\s+(?:(?:i|install|add)\s+(?:.*\s)?(?:-\w*g|--global|--location=global)\b|global\b|config\b|set\b|audit\b|publish\b|pack\b|login\b|cache\b|ls\b|outdated\b)/,
  // Another version of a package, for some jobs.
  /^(?:npm|pnpm|yarn|bun)\s+add\s/,
  /\s--(?:version|help)$|^\S+\s+version$/,
  // For runners of tests, these are other options.
  /^(?!(?:\S*\/)?(?:pytest|py\.test|tox|nox|ctest|nosetests[\d.]*|prove|(?:simple-)?phpunit)\s)\S+\s+-[vV]$/,
  // Set-up makes the environments.
  /^(?:python[\d.]*\s+-m\s+)?(?:tox|nox)\b.*\s--(?:notest|install-only|version|list\w*)(?:\s|$)/,
  /\$GITHUB_|\b(?:codecov|coveralls|upload|publish|deploy|release)\b/,
  // In the background, such as a server.
  /(?:^|[^&])&\s*$/,
];

/** Compiles tests, too, but runs none. */
const ONLY_COMPILES =
  /^(?:swift|dotnet|cargo|go|cabal)\s+(?:[-+]\S+\s+)*(?:build|publish)(?:\s|$)|^cmake\s+--build\b(?!.*--target[= ](?:test|check)(?:\s|$))/;

const PIP = String.raw`(?:uv\s+)?(?:python[\d.]*\s+-m\s+)?pip[\d.]*\s+install\b`;
const SETUP: readonly RegExp[] = [
  /^(?:npm|pnpm|bun)\s+(?:.*\s)?(?:ci|i|install|clean-install|install-clean)(?:\s|$)/,
  /^yarn(?:\s+install|\s+--\S+)*$|^yarn\s+install\b/,
  RegExp(`^${PIP}`),
  /^(?:uv\s+sync|uv\s+venv|poetry\s+install|poetry\s+config|pdm\s+(?:install|sync)|pipenv\s+(?:install|sync)|rye\s+sync|hatch\s+env\s+create)\b/,
  /^(?:python[\d.]*\s+-m\s+venv|virtualenv)\b/,
  /^(?:gem\s+install|bundle\s+(?:install|config)|composer\s+(?:install|update)|go\s+mod\s+download|go\s+get|cargo\s+fetch|dotnet\s+restore|mix\s+deps\.get|mix\s+local\.\w+)\b/,
  /^(?:npx\s+)?lerna\s+bootstrap\b|^(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:bootstrap|setup|install:\S+)$/,
  /^(?:make|just|task)\s+(?:install|deps|dependencies|setup|bootstrap|init|dev|develop|venv|install[-_]\w+|requirements)$/,
  /^(?:cp|mkdir|touch|ln)\s/,
];

const BUILD: readonly RegExp[] = [
  /^(?:npm|pnpm|yarn|bun)\s+(?:-r\s+|--recursive\s+)?(?:run\s+)?(?:-r\s+)?(?:build|compile|generate|codegen|prepare|prebuild|\w+:(?:generate|codegen)|(?:build|generate|codegen)[:-](?!doc|site|storybook|example)\S+)$/,
  /^(?:npx\s+|pnpm\s+|yarn\s+)?(?:turbo|nx|lerna)\s+(?:run(?:-many)?\s+)?(?:.*\s)?build\b/,
  /^(?:(?:npx|bunx|pnpm|yarn)\s+(?:exec\s+)?)?(?:tsc|tsup|rollup|prisma\s+generate)\b/,
  /^go\s+generate\s/,
  /^(?:make|just|task)(?:\s+(?:-j\S*(?:\s+\d+)?|[A-Z_]+=(?:'[^']*'|"[^"]*"|[^\s'"]*)))*(?:\s+(?:all|build|compile|generate))?$/,
  /^(?:cmake|ninja|meson\s+(?:setup|compile)|\.\/configure|\.\/autogen\.sh|\.\/bootstrap|autoreconf)\b/,
  /^(?:cargo|go|dotnet|swift|zig|stack|cabal|mix)\s+(?:build|compile)\b|^(?:bundle\s+exec\s+)?rake\s+compile$/,
  /^(?:mvn|(?:sh\s+)?\.\/mvnw)\b.*\b(?:compile|package|install)\b.*-DskipTests|^(?:gradle|(?:sh\s+)?\.\/gradlew)\b.*\b(?:assemble|classes)\b/,
];

const LAUNCHERS =
  /^(?:npm|pnpm|yarn|bun|npx|bunx|deno|node|make|gmake|just|task|rake|bundle|composer|mvn|mvnw|gradle|gradlew|python[\d.]*|hatch|pdm|poetry|uv|rye|pipenv|tox|nox|sbt|mix|swift|stack|cabal|lein|meson|ninja|bazel|turbo|nx|lerna|sh|bash|cmake|dotnet|php|ruby|prove|poe|invoke|inv|zig|dune|xvfb-run|cargo|coverage)$/;
const TEST_WORD =
  /^\+?(?:.*[:_./-])?(?:tests?|spec|specs|unit|unittests?|runtests?|mocha|jest|vitest)(?:[:_./-].*)?$/i;
/** Tests that need more than a machine without network offers. */
const HEAVY =
  /(?:^|[\s:_./-])(?:e2e|integration|browsers?|playwright|cypress|puppeteer|smoke|bench\w*|perf\w*|acceptance|docker|visual|storybook|windows|macos|types?|typings?|lint|docs?|size|examples?|android|ios|wasm|fuzz\w*)(?:$|[\s:_./-])/i;

/** Options that add to or leave out of the tests what their value names. */
const SELECTIONS = /\s--?(?:include|exclude|ignore|tags|testPathIgnorePatterns)[= ][^\s-]\S*/g;

/** A command whose text suggests that it runs tests, although its runner is unknown. */
export function namesTests(command: string): boolean {
  const words = command.split(/\s+/).filter((word) => !/^\w+=/.test(word));
  const program = (words[0] ?? '').replace(/^.*\//, '').replace(/\.(?:sh|py|js)$/, '');
  if (HEAVY.test(command.replace(SELECTIONS, ''))) return false;
  if (/^(?:npm|pnpm)\s+(?:t|it|cit)$|^(?:bundle\s+exec\s+|(?:\.\/)?bin\/)?rake$/.test(command)) return true;
  if (/^(?:tox|nox)$/.test(program) || /^python[\d.]*\s+-m\s+(?:tox|nox)\b/.test(command)) return true;
  if (/^(?:mvnw?|gradlew?)$/.test(program))
    return words.some((word) => /^(?:test|verify|check|build|(?::[\w:-]+:)?test\w+UnitTest)$/.test(word));
  // Tests have no network.
  if (program === 'make' && words.some((word) => /^(?:deps|dependencies|requirements)$/.test(word)))
    return false;
  if (program === 'make' && words.includes('check')) return true;
  if (/^cargo\s+nextest\s+run\b/.test(command)) return true;
  const own =
    /^(?:\.\/|(?:scripts?|bin|ci)\/)/.test(words[0] ?? '') &&
    (program === 'cibuild' || TEST_WORD.test(program));
  const named = (word: string): boolean => (word.startsWith('-') ? word === '--test' : TEST_WORD.test(word));
  return own || (LAUNCHERS.test(program) && words.slice(1).some(named));
}
