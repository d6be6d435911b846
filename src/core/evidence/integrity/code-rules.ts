import {
  ancestors,
  child,
  contentOf,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
  tokensOf,
  type Use,
} from '../../source/index.ts';
import { isFunction, wordSet } from './cases.ts';
import { allArguments, type CodeRule, EXIT_RULES, firstText, type PathsOf } from './exit-rules.ts';

/** Variables and marks of test runners, by their whole name. */
const RUNNER_VARIABLE =
  /^(?:NODE_TEST_(?:CONTEXT|WORKER_ID)|VITEST(?:_[A-Z_]+)?|__vitest_\w+|JEST_WORKER_ID|PYTEST_(?:CURRENT_TEST|XDIST_\w+|VERSION|ADDOPTS)|_called_from_test|npm_lifecycle_(?:event|script)|TOX_ENV_NAME|CARGO_TARGET_TMPDIR|RUST_TEST_THREADS|XCTestConfigurationFilePath|__karma__)$/;
const LOOKS_UP = /(?:^|\.)(?:forName|class_exists|defined|find_spec|NSClassFromString|Symbol\.for)$/;
const TEST_FRAMEWORK = /^(?:org\.(?:junit|testng)\b|\\*PHPUnit|PHPUNIT_|pytest|unittest|XCTest|jest|vitest)/;
const RUNNER_WORDS = wordSet(
  'it describe expect test suite beforeEach afterEach vi jest mocha Mocha jasmine QUnit Cypress RSpec Minitest Test.Unit',
);
const ASKS_RUNNER = wordSet(
  'import.meta.vitest testing.Testing testing.Short testing.CoverMode Rails.env().test?',
);
const TEST_WORD =
  /pytest|unittest|nose|jest|vitest|mocha|jasmine|junit|rspec|minitest|phpunit|xunit|nunit|(?<![a-z])(?:tests?|specs?)(?![a-z])/i;
/** How a process was started, and what called it: with a word of tests near it, it asks for tests. */
const HOW_STARTED =
  /^(?:process\.(?:argv|execArgv|mainModule|title)|require\.(?:cache|main)|module\.parent|sys\.(?:argv|orig_argv|modules|_getframe)|os\.Args|\$_SERVER|\$PROGRAM_NAME|inspect\.(?:stack|currentframe|getouterframes)|traceback\.(?:extract_stack|format_stack)|runtime\.Callers?|debug_backtrace|StackWalker|caller|caller_locations|getCallSites?)(?![\w$])|(?<![\w$])(?:stack|getStackTrace|prepareStackTrace|StackTrace|current_exe|thread\.current\(\))(?![\w$])/;
const ENVIRONMENT = /(?:^|\.)(?:(?:NODE|BABEL|APP|RAILS|RACK|MIX|DJANGO|FLASK|GO)_ENV|ENVIRONMENT)(?![\w$])/;
const CI = /^(?:CI|GITHUB_ACTIONS|GITLAB_CI|TRAVIS|JENKINS_URL|BUILDKITE|CIRCLECI)$/;
const READS_VARIABLE =
  /(?:^|\.)(?:get|getenv|Getenv|LookupEnv|var|var_os|fetch|option_env|GetEnvironmentVariable)$/;

const lastName = (path: string): string => path.split('.').at(-1)?.replace(/^"/, '') ?? '';

const STARTED_OR_CALLED = 'asks how it was started or called, and looks for tests there';

/** Asks whether it is being tested. */
const DETECTION_RULES: readonly CodeRule[] = (
  [
    [
      'asks for a mark of a test runner',
      (use, tree) =>
        RUNNER_VARIABLE.test(lastName(use.path)) ||
        (LOOKS_UP.test(use.path) && TEST_FRAMEWORK.test(firstText(tree, use))),
    ],
    ['asks for the words of a test runner', asksForWords],
    ['asks whether it is a test binary', asksForBinary],
    [
      'asks whether the environment is a test',
      (use, tree) =>
        (ENVIRONMENT.test(use.path) ||
          (READS_VARIABLE.test(use.path) && ENVIRONMENT.test(firstText(tree, use)))) &&
        comparedWith(tree, use.node).some((text) => /^tests?(?:ing)?$/.test(text)),
    ],
    [
      'asks whether it runs in CI (`CI`)',
      (use, tree) =>
        (/(?:^|\.)(?:env|ENV|environ)\./.test(use.path) && CI.test(lastName(use.path))) ||
        (READS_VARIABLE.test(use.path) && CI.test(firstText(tree, use))),
    ],
    [
      STARTED_OR_CALLED,
      (use, tree) =>
        HOW_STARTED.test(use.path) &&
        !use.written &&
        literalsIn(tree, use.around).some((text) => TEST_WORD.test(text)),
    ],
  ] satisfies [string, CodeRule['fits']][]
).map(([what, fits]) => ({
  kind: 'environment-detected',
  what,
  fits,
  onlyInProduction: true,
  normalInPrograms: what === STARTED_OR_CALLED,
}));

function asksForWords({ path, node, written }: Use, tree: SyntaxTree): boolean {
  const word = path.replace(/^(?:globalThis|global|window)\./, '');
  if (written || !RUNNER_WORDS.has(word.replace(/^"/, '').split('.')[0] ?? ''))
    return RUNNER_WORDS.has(word) && isExistenceCheck(tree, node);
  if (word !== path) return true;
  const { parent } = node;
  if (path.startsWith('"'))
    return /\bin\s+(?:globalThis|global|window)\b/.test(parent ? nodeText(tree, parent).slice(0, 200) : '');
  return isExistenceCheck(tree, node);
}

const isExistenceCheck = (tree: SyntaxTree, { from }: SyntaxNode): boolean =>
  /(?:\btypeof\s+\(?|\bdefined\?\s*\(?\s*)(?:globalThis\.|global\.|window\.)?$/.test(
    tree.text.slice(Math.max(0, from - 30), from),
  );

function asksForBinary(use: Use, tree: SyntaxTree): boolean {
  if (ASKS_RUNNER.has(use.path)) return !use.written;
  if (/^flag\.(?:Lookup|Set)$/.test(use.path)) return /^test\./.test(firstText(tree, use));
  if (use.path !== 'cfg') return false;
  return (use.node.type === 'attribute' ? /\bnot\s*\(\s*test\b/ : /\btest\b/).test(
    nodeText(tree, use.node).slice(0, 300),
  );
}

/** Texts that a value is compared with, looked up in, or switched by. */
function comparedWith(tree: SyntaxTree, node: SyntaxNode): readonly string[] {
  const compares =
    /^(?:comparison_operator|call_expression|call|switch_statement|switch_expression|match_statement|method_invocation)$/;
  const found = ancestors(node)
    .slice(0, 5)
    .find(
      ({ type, children }) =>
        compares.test(type) || (/^binary/.test(type) && children.some((each) => /^[!=]==?$/.test(each.type))),
    );
  return literalsIn(tree, found ?? node);
}

function literalsIn(tree: SyntaxTree, part: Pick<SyntaxNode, 'from' | 'to'>): readonly string[] {
  const { from, to } = { from: part.from, to: Math.min(part.to, part.from + 2_000) };
  // Where a text does not parse, quotes may stand alone.
  const loose = tree.isBroken ? tree.text.slice(from, to).matchAll(/(['"])([^'"\n]*)\1/g) : [];
  const strings = tokensOf(tree, { from, to }).filter(({ kind }) => kind === 'string');
  return [...strings.map(({ text }) => contentOf(text)), ...[...loose].map(([, , text = '']) => text)];
}

/** Libraries whose functions decide what passes. */
const LIBRARIES =
  /^(?:assert|expect|chai|sinon\.assert|vitest|jest|@jest\/globals|@vitest\/expect|test|node:test|mocha|tape|ava|uvu|should|pytest|_pytest|unittest|TestCase|builtins|__builtins__|(?:np|numpy)\.testing|RSpec|Minitest|Test\.Unit)(?=$|[./])/;
const GLOBAL_WORD =
  /^(?:globalThis|global|window|self)\.(?:it|test|describe|expect|assert|suite|(?:before|after)(?:Each|All)?)$/;
const CHANGES =
  /^(?:Object\.(?:assign|definePropert(?:y|ies)|setPrototypeOf)|Reflect\.(?:set|defineProperty|deleteProperty|setPrototypeOf)|setattr|delattr|mock\.patch\.object)$/;
const OVERWRITES = /(?:^|\.)overwrite(?:Method|Property|ChainableMethod)$/;
const REOPENS = /\.(?:class_eval|module_eval|prepend|define_method|send|class_exec|module_exec)$/;
const BUILT_IN =
  /^(?:Object|Function|Error|Promise|RegExp|Map|Set|Array|String|Number|Boolean|Symbol|Date|AssertionError)\.prototype(?=$|\.)/;
const GROUND =
  /^(?:(?:JSON|Math|Reflect|Number|Object)\.\w+|process\.(?:exit|emit|on|once|send|reallyExit|stdout|stderr|stdout\.write|stderr\.write)|[\w.]*\b__proto__|util\.isDeepStrictEqual)$/;
const LOADERS =
  /^(?:(?:module|Module)\._(?:load|resolveFilename|extensions|compile|cache)|Module\.prototype\.(?:require|_compile)|require\.(?:extensions|cache)(?:\..*)?|sys\.(?:meta_path|path_hooks)|builtins\.__import__)$/;
const HOOKS_LOADER =
  /(?:^|\.)registerHooks$|^module\.register$|^sys\.(?:settrace|setprofile)$|^sys\.(?:meta_path|path_hooks)\.(?:insert|append)$/;
const MODULES =
  /^(?:sys\.modules|require\.cache)\.(?:_?pytest|unittest|builtins|numpy|assert|chai|vitest|jest)/;

const changedObject = (use: Use, pathsOf: PathsOf): string =>
  CHANGES.test(use.path) && use.args?.[0] ? pathsOf(use.args[0]) : '';

/** Assertions, test runners, or what they rest on are replaced. */
const PATCHING_RULES: readonly CodeRule[] = (
  [
    [
      'replaces functions of a test library',
      (use, _, pathsOf) =>
        (use.written && use.path.includes('.') && LIBRARIES.test(use.path)) ||
        LIBRARIES.test(changedObject(use, pathsOf)) ||
        OVERWRITES.test(use.path) ||
        (use.written && MODULES.test(use.path)),
      false,
    ],
    [
      'replaces the words of the test runner',
      (use, tree) =>
        (use.written && GLOBAL_WORD.test(use.path)) ||
        (CHANGES.test(use.path) &&
          /^(?:globalThis|global|window)\s*,\s*['"`](?:it|test|describe|expect|assert|suite)\b/.test(
            allArguments(tree, use),
          )),
      false,
    ],
    [
      'replaces what comparisons rest on',
      ({ path, written }) =>
        (written && /^(?:Object\.is|util\.isDeepStrictEqual)$/.test(path)) ||
        /(?:^|\.)asymmetricMatch$|^"jest\.asymmetricMatcher/.test(path),
      false,
    ],
    ['reopens the test library', ({ path }) => REOPENS.test(path) && LIBRARIES.test(path), false],
    [
      'replaces a built-in function',
      (use, _, pathsOf) =>
        (use.written && (BUILT_IN.test(use.path) || GROUND.test(use.path))) ||
        BUILT_IN.test(changedObject(use, pathsOf)) ||
        /^process$/.test(changedObject(use, pathsOf)),
      true,
    ],
    [
      'changes how modules are loaded',
      ({ path, written, args }) =>
        (written && LOADERS.test(path)) || (args !== null && HOOKS_LOADER.test(path)),
      true,
    ],
  ] satisfies [string, CodeRule['fits'], boolean][]
).map(([what, fits, onlyInProduction]) => ({ kind: 'assertions-patched', what, fits, onlyInProduction }));

const EQUALITY = /^(?:__eq__|equals|Equals|eq|==|operator\s*==)$/;

/** Declarations that take the place of what tests rest on, or make things equal to everything. */
export function declarationRule(tree: SyntaxTree, node: SyntaxNode): CodeRule | null {
  const name = child(node, 'name', 'declarator', 'key');
  if (!name) return null;
  const text = nodeText(tree, name);
  const replaces = (what: string, onlyInProduction = false): CodeRule => ({
    kind: 'assertions-patched',
    what,
    onlyInProduction,
    fits: () => true,
  });
  if (
    /^(?:macro_definition|preproc_def|preproc_function_def)$/.test(node.type) &&
    /^(?:(?:debug_)?assert\w*|panic|(?:ASSERT|EXPECT|CHECK|REQUIRE|TEST)\w*|NDEBUG)$/.test(text)
  )
    return replaces('defines assertions anew');
  if (
    /^(?:class|module|namespace_definition|namespace_declaration|file_scoped_namespace_declaration)$/.test(
      node.type,
    ) &&
    /^(?:RSpec|Minitest|Test::Unit|Xunit|NUnit|PHPUnit)(?![A-Za-z])/.test(text)
  )
    return replaces('takes the name of a test library');
  if (text === 'asymmetricMatch') return replaces('replaces what comparisons rest on', true);
  const body = child(node, 'body');
  if (!body || !EQUALITY.test(text) || !isFunction(node)) return null;
  const words = tokensOf(tree, { from: body.from, to: Math.min(body.to, body.from + 200) }).flatMap((one) =>
    one.kind === 'word' ? [one.text] : [],
  );
  return /^(?:return )?[tT]rue$/.test(words.join(' '))
    ? replaces('makes things equal to everything', true)
    : null;
}

export const CODE_RULES: readonly CodeRule[] = [...PATCHING_RULES, ...DETECTION_RULES, ...EXIT_RULES];
