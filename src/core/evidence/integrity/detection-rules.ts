import {
  ancestors,
  child,
  type Grammar,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
  type Use,
} from '../../source/index.ts';
import { type Beside, RUNNER_NAME } from './beside.ts';
import { wordSet } from './cases.ts';
import { type CodeRule, firstText, type PathsOf } from './exit-rules.ts';
import { WHOLE_ENVIRONMENT } from './question-rules.ts';

/** Variables, properties and marks that test runners set, by full name. */
const RUNNER_MARK =
  /^(?:NODE_TEST_(?:CONTEXT|WORKER_ID)|VITEST(?:_[A-Z_]+)?|__vitest_\w+|JEST_WORKER_ID|PYTEST_(?:CURRENT_TEST|XDIST_\w+|VERSION|ADDOPTS)|_called_from_test|npm_lifecycle_(?:event|script)|TOX_ENV_NAME|RUST_TEST_[A-Z_]+|NEXTEST(?:_[A-Z_]+)?|XCTestConfigurationFilePath|__karma__|(?:__)?PHPUNIT_\w+|VSTEST_\w+|GTEST_\w+)$/;
const RUNNER_PROPERTY = /^"(?:surefire\.[\w.]+|org\.gradle\.test\.worker)$/;
/** What passes a variable on to another program, or takes it from it. */
const SETS_VARIABLE =
  /(?:^|[.:>])(?:env|env_remove|set_var|remove_var|setenv|unsetenv|putenv|[sS]etProperty|Setenv|Unsetenv|SetEnvironmentVariable)!?\s*$/;
const LOOKS_UP =
  /(?:^|\.)(?:forName|loadClass|getResource(?:AsStream)?|class_exists|defined|const_defined\?|GetType|find_spec|NSClassFromString|Symbol\.for)$/;
const TEST_FRAMEWORK =
  /^(?:\/?org[./](?:junit|testng)\b|junit\.|[\\]*PHPUnit|(?:__)?PHPUNIT_|:?(?:::)?(?:RSpec|Minitest|Test::Unit)\b|Xunit\b|NUnit\b|Microsoft\.VisualStudio\.Test|pytest|unittest|XCTest|jest|vitest)/;
const RUNNER_WORDS = wordSet(
  'it describe expect test suite beforeEach afterEach vi jest mocha Mocha jasmine QUnit Cypress RSpec Minitest Test.Unit',
);
const ASKS_RUNNER =
  /^(?:import\.meta\.vitest|testing\.(?:Testing|Short|CoverMode)|(?:testing(?:\.|::))?UnitTest(?:\.|::)GetInstance|Rails\.env\(\)\.test\?)$|\.runningUnitTests$/;
/**
 * What a file of tests is recognised by: `.spec.`, `a_test.go`, `test_`, `/tests/`, `tests/a.js`, `test.js`,
 * `__tests__`; brackets and escapes of patterns aside. A folder of specs may have other files.
 */
const TEST_FILE =
  /^[._-]+(?:tests?|specs?)(?:$|[.|])|[._-](?:test|spec)\.\w{1,4}$|^test_$|(?:^|[\\/])test_\w{0,100}\.py$|__tests__|(?:^|[\\/])(?:tests?\??(?:[\\/]|\.\w{1,4}$)|specs?\??[\\/]+$)/i;
const namesTestFile = (text: string): boolean =>
  TEST_FILE.test(text.replace(/\\(?=[^\w\\])|[()[\]]|\?:/g, ''));
const ENVIRONMENT = /(?:^|\.)(?:(?:NODE|BABEL|APP|RAILS|RACK|MIX|DJANGO|FLASK|GO)_ENV|ENVIRONMENT)(?![\w$])/;
const LARAVEL_ENVIRONMENT = /(?:^|\.)[aA]pp(?:\(\))?\.environment$/;
const CI = /^(?:CI|GITHUB_ACTIONS|GITLAB_CI|TRAVIS|JENKINS_URL|BUILDKITE|CIRCLECI)$/;
const READS_VARIABLE =
  /(?:^|\.)(?:get|getenv|Getenv|LookupEnv|var|var_os|fetch|option_env|GetEnvironmentVariable)$/;

/** By what a process was started, and what called a function: near a test-related word it is a check for tests. */
interface Origins {
  /** The program, its arguments, and what it has loaded. */
  readonly program: RegExp;
  readonly callers?: RegExp;
}
const SCRIPT_ORIGINS: Origins = {
  program: /^(?:process\.(?:argv|execArgv|mainModule|title)|require\.(?:cache|main)|module\.parent)(?![\w$])/,
  callers: /(?<![\w$])(?:\w*Error\(\)\.stack|prepareStackTrace)(?![\w$])|^(?:getCallSites?|caller)(?![\w$])/,
};
const ORIGINS: Partial<Readonly<Record<Grammar, Origins>>> = {
  typescript: SCRIPT_ORIGINS,
  tsx: SCRIPT_ORIGINS,
  python: {
    program: /^sys\.(?:argv|orig_argv|modules)(?!\w)/,
    callers:
      /^(?:sys\._getframe|inspect\.(?:stack|currentframe|getouterframes)|traceback\.(?:extract_stack|format_stack))(?!\w)/,
  },
  go: {
    program: /^(?:os\.(?:Args|Executable)|flag\.Visit(?:All)?|debug\.Stack)(?!\w)/,
    callers: /^runtime\.Callers?(?!\w)/,
  },
  rust: {
    program: /(?<!\w)(?:env\.(?:args|args_os|vars|vars_os)|current_exe|thread\.current\(\))(?!\w)/,
  },
  java: {
    program: /^"(?:java\.class\.path|sun\.java\.command)$|\.getInputArguments(?!\w)/,
    callers:
      /(?<!\w)(?:(?:\w*(?:Error|Exception)|Throwable)\(\)\.getStackTrace|currentThread\(\)\.getStackTrace)(?!\w)|^StackWalker(?!\w)/,
  },
  ruby: {
    program: /^(?:\$0|\$PROGRAM_NAME|\$LOADED_FEATURES|\$"|ARGV|Gem\.loaded_specs)(?!\w)/,
    callers: /^caller(?:_locations)?(?!\w)/,
  },
  php: {
    program:
      /^(?:\$_SERVER(?=$|\.(?:argv|SCRIPT_\w+|PHP_SELF|_)(?!\w))|\$argv|get_(?:included|required)_files|get_declared_classes)(?!\w)/,
    callers: /^debug_backtrace(?!\w)|Exception\(\)\.getTrace(?!\w)/,
  },
  'c-sharp': {
    program:
      /^(?:Environment\.(?:CommandLine|GetCommandLineArgs)|AppDomain\.CurrentDomain\.(?:FriendlyName|GetAssemblies)|Assembly\.GetEntryAssembly|Process\.GetCurrentProcess\(\)\.(?:ProcessName|MainModule))(?!\w)/,
    callers: /^(?:StackTrace|Environment\.StackTrace)(?!\w)/,
  },
  cpp: { program: /^(?:__progname|program_invocation_(?:short_)?name)$/ },
};
const ALL_ORIGINS = Object.values(ORIGINS);
/** The same for what may as well be the stack of a parser, or of an error that is logged. */
const PERHAPS_CALLERS = /(?<![\w$])(?:stack|getStackTrace|StackTrace)(?![\w$])/;

const lastName = (path: string): string => path.split('.').at(-1)?.replace(/^"/, '') ?? '';

const STARTED_OR_CALLED = 'checks how it was started or called to detect tests';
const PERHAPS_CALLED = 'may check how it was called to detect tests';
const PERHAPS_BUILT = 'may be built differently for tests';
const IN_CI = 'checks whether it runs in CI (`CI`)';

/** A sentence of the program's help. */
const isSentence = (text: string): boolean => /\s/.test(text) && !RUNNER_NAME.test(text);
/** `if __FILE__ == $0` asks whether a file is the program. */
const WITH_ITSELF =
  /^\s*(?:__FILE__|__file__|__filename|module)\s*[!=]==?|[!=]==?\s*(?:__FILE__|__file__|__filename|module)\s*$/;

/**
 * Null if it does not look for tests there. A program's arguments may be files of tests, so that only the name of a
 * runner is certain, unless it asks for the file that was started, or for options of Node itself. A word such as `spec`
 * beside the callers may be what a document or a category is called.
 */
function looksForTests(use: Use, tree: SyntaxTree, { testNames }: Beside): 'certain' | 'perhaps' | null {
  // A text that was not parsed may be in any language.
  const all = tree.nodes.length === 1 ? ALL_ORIGINS : [ORIGINS[tree.grammar] ?? []].flat();
  const program = all.some((one) => one.program.test(use.path));
  const callers = all.some((one) => one.callers?.test(use.path));
  if (use.written || !(program || callers || PERHAPS_CALLERS.test(use.path))) return null;
  const { parent } = use.node;
  if (program && parent && WITH_ITSELF.test(nodeText(tree, parent).slice(0, 300))) return null;
  const found = testNames(use);
  if (found.length === 0 || (program && found.every(isSentence))) return null;
  const isCertain = callers
    ? found.some((text) => RUNNER_NAME.test(text) || namesTestFile(text))
    : program && found.some((text) => RUNNER_NAME.test(text) || isStartedAs(text, use, tree));
  return isCertain ? 'certain' : 'perhaps';
}

/** A text that only tests were started as: of a program of Go, that of its tests is called `NAME.test`. */
function isStartedAs(word: string, { path, to }: Use, { text }: SyntaxTree): boolean {
  if (/^(?:require\.main|process\.mainModule|module\.parent)(?![\w$])/.test(path)) return namesTestFile(word);
  if (path.startsWith('process.execArgv')) return word.startsWith('--test');
  const isOwnFile = /^os\.Executable(?!\w)/.test(path) || (path === 'os.Args' && text.startsWith('[0]', to));
  return word === '.test' && isOwnFile;
}

/** Detect code that checks whether it runs under test. */
export const DETECTION_RULES: readonly CodeRule[] = (
  [
    [
      'checks for a marker of a test runner',
      (use, tree, pathsOf) =>
        ((RUNNER_MARK.test(lastName(use.path)) || RUNNER_PROPERTY.test(use.path)) &&
          !isPassedOn(use, tree)) ||
        (LOOKS_UP.test(use.path) && firstTexts(use, tree, pathsOf).some((text) => TEST_FRAMEWORK.test(text))),
    ],
    ['checks for functions of a test runner', (use, tree, _, beside) => asksForWords(use, tree, beside)],
    ['checks whether it is a test binary', asksForBinary],
    [
      'checks whether the environment is a test environment',
      (use, tree, _, { texts }) =>
        ((ENVIRONMENT.test(use.path) ||
          (READS_VARIABLE.test(use.path) && ENVIRONMENT.test(firstText(tree, use)))) &&
          texts(comparedNode(use.node)).some(isTestEnvironment)) ||
        (LARAVEL_ENVIRONMENT.test(use.path) && isTestEnvironment(firstText(tree, use))),
    ],
    [IN_CI, asksForCi],
    [STARTED_OR_CALLED, (use, tree, _, beside) => looksForTests(use, tree, beside) === 'certain'],
    [PERHAPS_CALLED, (use, tree, _, beside) => looksForTests(use, tree, beside) === 'perhaps'],
    [PERHAPS_BUILT, isBuiltForTests],
  ] satisfies [string, CodeRule['fits']][]
).map(([what, fits]) => ({
  kind: 'environment-detected',
  what,
  fits,
  onlyInProduction: true,
  normalInPrograms: what === STARTED_OR_CALLED || what === PERHAPS_CALLED,
  isQuestion: what === PERHAPS_CALLED || what === PERHAPS_BUILT || what === IN_CI,
}));

const isTestEnvironment = (text: string): boolean => /^tests?(?:ing)?$/.test(text);

/** `.env("RUST_TEST_THREADS", "1")`: a program that starts tests tells them so. */
function isPassedOn({ path, node }: Use, tree: SyntaxTree): boolean {
  if (!path.startsWith('"')) return false;
  const list = ancestors(node).find(({ type }) => type === 'arguments' || type === 'argument_list');
  const before = list?.parent ? tree.text.slice(Math.max(list.parent.from, list.from - 60), list.from) : '';
  return SETS_VARIABLE.test(before);
}

function asksForCi(use: Use, tree: SyntaxTree, pathsOf: PathsOf): boolean {
  if (/(?:^|\.)(?:env|ENV|environ)\./.test(use.path) && CI.test(lastName(use.path))) return true;
  if (READS_VARIABLE.test(use.path) && CI.test(firstText(tree, use))) return true;
  return (
    use.path.startsWith('"') && CI.test(lastName(use.path)) && isLookedUpInEnvironment(use.node, pathsOf)
  );
}

/** `'CI' in process.env`, `Object.hasOwn(process.env, 'CI')`. */
const isLookedUpInEnvironment = ({ parent }: SyntaxNode, pathsOf: PathsOf): boolean =>
  parent !== null &&
  /^(?:binary_expression|comparison_operator|arguments|argument_list)$/.test(parent.type) &&
  parent.children.some((each) => each.named && pathsOf(each).some((path) => WHOLE_ENVIRONMENT.test(path)));

function asksForWords({ path, node, written }: Use, tree: SyntaxTree, { introduces }: Beside): boolean {
  const word = path.replace(/^(?:globalThis|global|window)\./, '');
  if (written || !RUNNER_WORDS.has(word.replace(/^"/, '').split('.')[0] ?? ''))
    return RUNNER_WORDS.has(word) && isExistenceCheck(tree, node);
  if (word !== path) return true;
  const { parent } = node;
  // A parameter of this name is not the runner's function.
  const [name = ''] = word.split('.');
  if (nodeText(tree, node).startsWith(name) && ancestors(node).some((outer) => introduces(outer, name)))
    return false;
  if (path.startsWith('"'))
    return /\bin\s+(?:globalThis|global|window)\b/.test(parent ? nodeText(tree, parent).slice(0, 200) : '');
  return isExistenceCheck(tree, node);
}

const isExistenceCheck = (tree: SyntaxTree, { from }: SyntaxNode): boolean =>
  /(?:\btypeof\s+\(?|\bdefined\?\s*\(?\s*)(?:globalThis\.|global\.|window\.)?$/.test(
    tree.text.slice(Math.max(0, from - 30), from),
  );

/** What the first argument says, and what the names in it stand for. */
const firstTexts = (use: Use, tree: SyntaxTree, pathsOf: PathsOf): readonly string[] => [
  firstText(tree, use),
  ...(use.args?.[0] ? pathsOf(use.args[0]) : []).map((path) => path.replace(/^"/, '')),
];

function asksForBinary(use: Use, tree: SyntaxTree, pathsOf: PathsOf): boolean {
  if (ASKS_RUNNER.test(use.path)) return !use.written;
  if (/^flag\.(?:Lookup|Set)$/.test(use.path))
    return firstTexts(use, tree, pathsOf).some((text) => text.startsWith('test.'));
  return use.path === 'cfg' && use.node.type !== 'attribute' && /\btest\b/.test(conditionOf(tree, use.node));
}

/**
 * `#[cfg(not(test))]`, a statement under `#[cfg(test)]` in a function, another file for a module: a clock or a file
 * system that tests replace is written like this, too.
 */
function isBuiltForTests({ path, node }: Use, tree: SyntaxTree): boolean {
  if (CARGO_CONDITION.test(path)) return true;
  if (node.type !== 'attribute' || !/^cfg(?:_attr)?$/.test(path)) return false;
  const text = conditionOf(tree, node);
  if (path === 'cfg_attr') return /\btest\b[\s\S]*\bpath\s*=/.test(text);
  const item = node.parent;
  const next = item?.parent?.children.slice(item.index + 1).find(({ type }) => type !== 'attribute_item');
  const isStatement = item?.parent?.type === 'block' && !/_item$|_declaration$/.test(next?.type ?? '');
  return /\bnot\s*\(\s*(?:any\s*\()?\s*test\b/.test(text) || (isStatement && /\btest\b/.test(text));
}

/** What a build script says to Cargo; a name that it fills in may be any. */
const CARGO_CONDITION = /^b?r?"[\s\S]{0,300}cargo::?rustc-cfg=(?:(?:loom|test)\b|\{)/;

/**
 * A condition of Rust. The name of a feature is no test, and neither are tests under the model checker loom: ordinary
 * tests are built without it, unless a build script says otherwise.
 */
const conditionOf = (tree: SyntaxTree, node: SyntaxNode): string =>
  nodeText(tree, node)
    .slice(0, 300)
    .replace(/"[^"]*"/g, '""')
    .replace(/\ball\s*\(\s*(?:test\s*,\s*loom|loom\s*,\s*test)\s*\)/g, 'loom');

const TEST_BUILD = /^(?:UNIT_?TESTS?|TESTING|GTEST_\w+|(?:RUNNING_|BUILD_)?(?:UNIT_)?TESTS?)$/;
/** Detects `#ifdef UNIT_TEST`. */
export const testBuildRule = (tree: SyntaxTree, node: SyntaxNode): CodeRule | null => {
  const name = node.type === 'preproc_ifdef' ? child(node, 'name') : null;
  return name && TEST_BUILD.test(nodeText(tree, name))
    ? {
        kind: 'environment-detected',
        what: PERHAPS_BUILT,
        onlyInProduction: true,
        isQuestion: true,
        fits: () => true,
      }
    : null;
};

/** What compares a value with strings, looks it up in them, or switches on it. */
function comparedNode(node: SyntaxNode): SyntaxNode {
  const compares =
    /^(?:comparison_operator|call_expression|call|switch_statement|switch_expression|match_statement|method_invocation)$/;
  const found = ancestors(node)
    .slice(0, 5)
    .find(
      ({ type, children }) =>
        compares.test(type) || (/^binary/.test(type) && children.some((each) => /^[!=]==?$/.test(each.type))),
    );
  return found ?? node;
}
