import {
  ancestors,
  child,
  contentOf,
  type Grammar,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
  tokensOf,
  type Use,
} from '../../source/index.ts';
import { wordSet } from './cases.ts';
import { equalityRule } from './equality.ts';
import { allArguments, type CodeRule, EXIT_RULES, firstText, type PathsOf } from './exit-rules.ts';
import {
  HOW_STARTED,
  PARTS_OF_TEST,
  PERHAPS_HOW_STARTED,
  QUESTION_RULES,
  WHOLE_ENVIRONMENT,
} from './question-rules.ts';

/** Variables and marks of test runners, by full name. */
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
const ENVIRONMENT = /(?:^|\.)(?:(?:NODE|BABEL|APP|RAILS|RACK|MIX|DJANGO|FLASK|GO)_ENV|ENVIRONMENT)(?![\w$])/;
const CI = /^(?:CI|GITHUB_ACTIONS|GITLAB_CI|TRAVIS|JENKINS_URL|BUILDKITE|CIRCLECI)$/;
const READS_VARIABLE =
  /(?:^|\.)(?:get|getenv|Getenv|LookupEnv|var|var_os|fetch|option_env|GetEnvironmentVariable)$/;

const lastName = (path: string): string => path.split('.').at(-1)?.replace(/^"/, '') ?? '';

const STARTED_OR_CALLED = 'checks how it was started or called to detect tests';
const PERHAPS_CALLED = 'may check how it was called to detect tests';
/** Uses of these names, with a test-related word around. */
const nearTestWord =
  (names: RegExp): CodeRule['fits'] =>
  ({ path, written, around }, tree) =>
    names.test(path) && !written && literalsIn(tree, around).some((text) => TEST_WORD.test(text));

/** Detect code that checks whether it runs under test. */
const DETECTION_RULES: readonly CodeRule[] = (
  [
    [
      'checks for a marker of a test runner',
      (use, tree) =>
        RUNNER_VARIABLE.test(lastName(use.path)) ||
        (LOOKS_UP.test(use.path) && TEST_FRAMEWORK.test(firstText(tree, use))),
    ],
    ['checks for functions of a test runner', asksForWords],
    ['checks whether it is a test binary', asksForBinary],
    [
      'checks whether the environment is a test environment',
      (use, tree) =>
        (ENVIRONMENT.test(use.path) ||
          (READS_VARIABLE.test(use.path) && ENVIRONMENT.test(firstText(tree, use)))) &&
        comparedWith(tree, use.node).some((text) => /^tests?(?:ing)?$/.test(text)),
    ],
    [
      'checks whether it runs in CI (`CI`)',
      (use, tree, pathsOf) =>
        (/(?:^|\.)(?:env|ENV|environ)\./.test(use.path) && CI.test(lastName(use.path))) ||
        (READS_VARIABLE.test(use.path) && CI.test(firstText(tree, use))) ||
        (use.path.startsWith('"') &&
          CI.test(lastName(use.path)) &&
          isLookedUpInEnvironment(use.node, pathsOf)),
    ],
    [STARTED_OR_CALLED, nearTestWord(HOW_STARTED)],
    [PERHAPS_CALLED, nearTestWord(PERHAPS_HOW_STARTED)],
  ] satisfies [string, CodeRule['fits']][]
).map(([what, fits]) => ({
  kind: 'environment-detected',
  what,
  fits,
  onlyInProduction: true,
  normalInPrograms: what === STARTED_OR_CALLED || what === PERHAPS_CALLED,
  isQuestion: what === PERHAPS_CALLED,
}));

/** `'CI' in process.env`, `Object.hasOwn(process.env, 'CI')`. */
const isLookedUpInEnvironment = ({ parent }: SyntaxNode, pathsOf: PathsOf): boolean =>
  parent !== null &&
  /^(?:binary_expression|comparison_operator|arguments|argument_list)$/.test(parent.type) &&
  parent.children.some((each) => each.named && pathsOf(each).some((path) => WHOLE_ENVIRONMENT.test(path)));

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

/** Strings that a value is compared with, looked up in, or switched on. */
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
  // In a text that does not parse, quotes may be unbalanced.
  const loose = tree.isBroken ? tree.text.slice(from, to).matchAll(/(['"])([^'"\n]*)\1/g) : [];
  const strings = tokensOf(tree, { from, to }).filter(({ kind }) => kind === 'string');
  return [...strings.map(({ text }) => contentOf(text)), ...[...loose].map(([, , text = '']) => text)];
}

/** Libraries that decide whether tests pass. */
export const LIBRARIES =
  /^(?:assert|expect|chai|sinon\.assert|vitest|jest|@jest\/globals|@vitest\/expect|test|node:test|mocha|tape|ava|uvu|should|pytest|_pytest|unittest|TestCase|builtins|__builtins__|(?:np|numpy)\.testing|RSpec|Minitest|Test\.Unit)(?=$|[./])/;
/** A field of something in a variable called `test`, such as the error of a test in a reporter. */
const FIELD_OF_TEST = new RegExp(`^test\\.(?!${PARTS_OF_TEST}\\b)\\w+\\.\\w`);
/** Languages with test libraries called `test`, whose functions can be replaced. */
const HAS_TEST_MODULE: ReadonlySet<Grammar> = new Set<Grammar>(['tsx', 'typescript', 'python']);
/** A fake that a library made: what a test sets on it is its own. */
const FAKE =
  /^(?:unittest\.mock\.(?:\w*Mock|create_autospec|mock_open)|(?:(?:vitest\.)?vi|(?:@jest\/globals\.)?jest|test\.mock)\.(?:fn|spyOn|method))\(\)(?!.*(?:__|\bprototype\b|\bconstructor\b))/;
const isLibrary = (path: string, { grammar }: SyntaxTree): boolean =>
  LIBRARIES.test(path) && !FAKE.test(path) && (HAS_TEST_MODULE.has(grammar) || !/^test(?=$|[./])/.test(path));
const GLOBAL_WORD =
  /^(?:globalThis|global|window|self)\.(?:it|test|describe|expect|assert|suite|(?:before|after)(?:Each|All)?)$/;
const CHANGES =
  /^(?:Object\.(?:assign|definePropert(?:y|ies)|setPrototypeOf)|Reflect\.(?:set|defineProperty|deleteProperty|setPrototypeOf)|setattr|delattr|(?:type|object)\.__setattr__|(?:unittest\.)?mock\.patch\.(?:object|multiple)|[\w.]+\.__dict__\.(?:update|setdefault|__setitem__))$/;
/** What an expectation is made of. */
const EXPECTATION =
  /^(?:(?:chai|vitest|jest|@jest\/globals)\.)?(?:expect|assert)\(\)\.(?:__proto__|constructor)(?=$|\.)/;
const BUILT_IN_MATCHER = /\b(?:to(?:Be|Equal|StrictEqual|Throw|Contain|Match|Have)\w*|resolves|rejects)\b/;
const OVERWRITES = /(?:^|\.)overwrite(?:Method|Property|ChainableMethod)$/;
const REOPENS = /\.(?:class_eval|module_eval|prepend|define_method|send|class_exec|module_exec)$/;
const DICTIONARY = /\.(?:update|setdefault|__setitem__)$/;
const BUILT_IN =
  /^(?:Object|Function|Error|Promise|RegExp|Map|Set|Array|String|Number|Boolean|Symbol|Date|AssertionError)\.prototype(?=$|\.)/;
const GROUND =
  /^(?:(?:JSON|Math|Reflect|Number|Object)\.\w+|process\.(?:exit|emit|on|once|send|reallyExit|stdout|stderr|stdout\.write|stderr\.write)|[\w.]*\b__proto__|util\.isDeepStrictEqual)$/;
const LOADERS =
  /^(?:(?:module|Module)\._(?:load|resolveFilename|extensions|compile|cache)|[mM]odule\.prototype\.(?:require|_compile)|require\.(?:extensions|cache)(?:\..*)?|sys\.(?:meta_path|path_hooks)|builtins\.__import__)$/;
const HOOKS_LOADER =
  /(?:^|\.)registerHooks$|^module\.register$|^sys\.(?:settrace|setprofile)$|^sys\.(?:meta_path|path_hooks)\.(?:insert|append)$/;
const MODULES =
  /^(?:sys\.modules|require\.cache)\.(?:_?pytest|unittest|builtins|numpy|assert|chai|vitest|jest)/;

/** Placeholders for `this` in `call` and `apply`, which are not modified. */
const NO_OBJECT = /^(?:null|undefined|None|Object|Reflect|void 0)$/;

/** All objects that `Object.assign` or a similar call may modify. */
function changedObjects(use: Use, tree: SyntaxTree, pathsOf: PathsOf): readonly string[] {
  const args = use.args ?? [];
  const [first, second, third] = args;
  const changes =
    CHANGES.test(use.path) ||
    (use.path === 'Reflect.apply' && first !== undefined && pathsOf(first).some((one) => CHANGES.test(one)));
  if (!changes || !first) return [];
  const object =
    use.path === 'Reflect.apply' ? third : NO_OBJECT.test(nodeText(tree, first)) ? second : first;
  const item =
    object && /^(?:array|list)$/.test(object.type) ? object.children.find(({ named }) => named) : object;
  return item ? pathsOf(item) : [];
}

/** Detect the replacement of assertions, test runners, or functions that they depend on. */
const PATCHING_RULES: readonly CodeRule[] = (
  [
    [
      'replaces functions of a test library',
      (use, tree, pathsOf) =>
        (use.written &&
          use.path.includes('.') &&
          isLibrary(use.path, tree) &&
          !FIELD_OF_TEST.test(use.path)) ||
        (use.written && EXPECTATION.test(use.path)) ||
        changedObjects(use, tree, pathsOf).some((one) => isLibrary(one, tree) || EXPECTATION.test(one)) ||
        (DICTIONARY.test(use.path) && use.args !== null && isLibrary(use.path, tree)) ||
        OVERWRITES.test(use.path) ||
        (use.written && MODULES.test(use.path)),
      false,
    ],
    [
      'replaces functions of a test library',
      (use, tree) =>
        (/(?:^|\.)mock\.patch$/.test(use.path) && LIBRARIES.test(firstText(tree, use))) ||
        (/(?:^|\.)expect\.extend$/.test(use.path) && BUILT_IN_MATCHER.test(allArguments(tree, use))),
      true,
    ],
    [
      'replaces functions of the test runner',
      (use, tree) =>
        (use.written && GLOBAL_WORD.test(use.path)) ||
        (CHANGES.test(use.path) &&
          /^(?:globalThis|global|window)(?: as \w+)?\s*,\s*['"`](?:it|test|describe|expect|assert|suite)\b/.test(
            allArguments(tree, use),
          )),
      false,
    ],
    [
      'replaces what comparisons depend on',
      ({ path, written }) =>
        (written && /^(?:Object\.is|util\.isDeepStrictEqual)$/.test(path)) ||
        /(?:^|\.)asymmetricMatch$|^"jest\.asymmetricMatcher/.test(path),
      false,
    ],
    ['modifies the test library', ({ path }) => REOPENS.test(path) && LIBRARIES.test(path), false],
    [
      'replaces a built-in function',
      (use, tree, pathsOf) =>
        (use.written && (BUILT_IN.test(use.path) || GROUND.test(use.path))) ||
        changedObjects(use, tree, pathsOf).some((one) => BUILT_IN.test(one) || one === 'process'),
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

/** Detects declarations that replace what tests depend on, or that make objects equal to everything. */
export function declarationRule(tree: SyntaxTree, node: SyntaxNode): CodeRule | null {
  const equality = equalityRule(tree, node);
  if (equality) return equality;
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
    return replaces('redefines assertions');
  if (
    /^(?:class|module|namespace_definition|namespace_declaration|file_scoped_namespace_declaration)$/.test(
      node.type,
    ) &&
    /^(?:RSpec|Minitest|Test::Unit|Xunit|NUnit|PHPUnit)(?![A-Za-z])/.test(text)
  )
    return replaces('uses the name of a test library');
  if (text === 'asymmetricMatch') return replaces('replaces what comparisons depend on', true);
  return null;
}

export const CODE_RULES: readonly CodeRule[] = [
  ...PATCHING_RULES,
  ...DETECTION_RULES,
  ...EXIT_RULES,
  ...QUESTION_RULES,
];
