import {
  child,
  contentOf,
  type Grammar,
  moduleName,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
  type Use,
} from '../../source/index.ts';
import { DETECTION_RULES, testBuildRule } from './detection-rules.ts';
import { equalityRule } from './equality.ts';
import { allArguments, type CodeRule, EXIT_RULES, firstText, type PathsOf } from './exit-rules.ts';
import { PARTS_OF_TEST, QUESTION_RULES } from './question-rules.ts';

/** Libraries that decide whether tests pass. */
export const LIBRARIES =
  /^(?:assert|expect|chai|sinon\.assert|vitest|jest|@jest\/globals|@vitest\/expect|test|node:test|mocha|tape|ava|uvu|should|pytest|_pytest|unittest|TestCase|builtins|__builtins__|(?:np|numpy)\.testing|RSpec|Minitest|Test\.Unit)(?=$|[./])/;
/** A field of something in a variable called `test`, such as the error of a test in a reporter. */
const FIELD_OF_TEST = new RegExp(`^test\\.(?!${PARTS_OF_TEST}\\b)\\w+\\.\\w`);
/** Languages with test libraries called `test`, whose functions can be replaced. */
const HAS_TEST_MODULE: ReadonlySet<Grammar> = new Set<Grammar>(['tsx', 'typescript', 'python']);
/** A fake that a library made, or what a test gave it to keep: what a test sets on it is its own. */
const FAKE =
  /^(?:unittest\.mock\.(?:\w*Mock|create_autospec|mock_open)|(?:(?:vitest\.)?vi|(?:@jest\/globals\.)?jest|test\.mock)\.(?:fn|spyOn|method|hoisted))\(\)(?!.*(?:__|\bprototype\b|\bconstructor\b))/;
/** Where `gettext` puts the function that translates. */
const TRANSLATES = 'builtins._';
const isLibrary = (path: string, { grammar }: SyntaxTree): boolean =>
  LIBRARIES.test(path) &&
  path !== TRANSLATES &&
  !FAKE.test(path) &&
  (HAS_TEST_MODULE.has(grammar) || !/^test(?=$|[./])/.test(path));
/** Not of `self`, which in most languages is the object that has a field of this name. */
const GLOBAL_WORD =
  /^(?:globalThis|global|window)\.(?:it|test|describe|expect|assert|suite|(?:before|after)(?:Each|All)?)$/;
const CHANGES =
  /^(?:Object\.(?:assign|definePropert(?:y|ies)|setPrototypeOf)|Reflect\.(?:set|defineProperty|deleteProperty|setPrototypeOf)|setattr|delattr|(?:type|object)\.__setattr__|(?:unittest\.)?mock\.patch\.(?:object|multiple)|[\w.]+\.__dict__\.(?:update|setdefault|__setitem__))$/;
/** What an expectation is made of. */
const EXPECTATION =
  /^(?:(?:chai|vitest|jest|@jest\/globals)\.)?(?:expect|assert)\(\)\.(?:__proto__|constructor)(?=$|\.)/;
const BUILT_IN_MATCHER = /\b(?:to(?:Be|Equal|StrictEqual|Throw|Contain|Match|Have)\w*|resolves|rejects)\b/;
const OVERWRITES = /(?:^|\.)overwrite(?:Method|Property|ChainableMethod)$/;
/** Of Ruby: `Minitest::Test.any_instance.stubs(:assert_equal)`. */
const STUBS = /\.stubs?$/;
const REOPENS = /\.(?:class_eval|module_eval|prepend|define_method|send|class_exec|module_exec)$/;
const DICTIONARY = /\.(?:update|setdefault|__setitem__)$/;
/** Not what a call of them returns: `Array.prototype.slice.call(list)[0]`. */
const BUILT_IN =
  /^(?:Object|Function|Error|Promise|RegExp|Map|Set|Array|String|Number|Boolean|Symbol|Date|AssertionError)\.prototype(?:\.[^()]*)?$/;
const GROUND =
  /^(?:(?:JSON|Math|Reflect|Number|Object)\.\w+|process\.(?:exit|emit|on|once|send|reallyExit|stdout|stderr|stdout\.write|stderr\.write)|(?:globalThis|global|window|process|console|JSON|Math|Reflect|Number|Object|Function)(?:\.\w+)*\.__proto__|util\.isDeepStrictEqual)$/;
const LOADERS =
  /^(?:(?:module|Module)\._(?:load|resolveFilename|extensions|compile|cache)|[mM]odule\.prototype\.(?:require|_compile)|require\.(?:extensions|cache)(?:\..*)?|sys\.(?:meta_path|path_hooks)|builtins\.__import__)$/;
const HOOKS_LOADER =
  /(?:^|\.)registerHooks$|^module\.register$|^sys\.(?:settrace|setprofile)$|^sys\.(?:meta_path|path_hooks)\.(?:insert|append)$/;
const MODULES =
  /^(?:sys\.modules|require\.cache)\.(?:_?pytest|unittest|builtins|numpy|assert|chai|vitest|jest)/;

/** What puts a fake in the place of a function: of an object, which is given first, or of a module. */
const FAKES =
  /(?:^|\.)(?:spyOn(?:Property)?|stub|(?:sinon|sandbox|createSandbox\(\)|td|testdouble)\.(?:replace(?:Getter|Setter)?|define|mock)|mock\.(?:method|getter|setter)|[mM]onkey_?[pP]atch(?:\(\))?\.(?:set|del)attr|flexmock)$/;
const FAKES_MODULE = /(?:^|\.)(?:(?:vi|jest)\.(?:(?:do|set)?[mM]ock|unstable_mockModule)|mock\.module)$/;
/** The same by its full name. */
const FAKES_NAMED =
  /(?:^|\.)(?:mock(?:er)?\.patch(?:\.multiple)?|[mM]onkey_?[pP]atch(?:\(\))?\.(?:set|del)attr)$/;
const FAKES_GLOBAL = /(?:^|\.)stubGlobal$/;

/** The functions, or objects, that a spy or a fake replaces. */
function faked(use: Use, tree: SyntaxTree, pathsOf: PathsOf): readonly string[] {
  const [object, name] = use.args ?? [];
  if (!object || tree.grammar === 'ruby') return [];
  const text = firstText(tree, use);
  if (FAKES_NAMED.test(use.path) && text !== nodeText(tree, object)) return [text];
  if (FAKES_MODULE.test(use.path)) return [moduleName(text)];
  if (FAKES_GLOBAL.test(use.path)) return [`globalThis.${text}`];
  if (!FAKES.test(use.path)) return [];
  const own = name ? contentOf(nodeText(tree, name).slice(0, 300)) : '';
  return pathsOf(object).map((path) => (own === '' ? path : `${path}.${own}`));
}

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

/** What a library for tests offers. */
const MAY_FAKE = 'replaces a built-in function by a fake';

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
      (use, tree, pathsOf) =>
        faked(use, tree, pathsOf).some(
          (one) => isLibrary(one, tree) || EXPECTATION.test(one) || GLOBAL_WORD.test(one),
        ) ||
        (tree.grammar === 'ruby' && STUBS.test(use.path) && LIBRARIES.test(use.path)) ||
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
      MAY_FAKE,
      (use, tree, pathsOf) => faked(use, tree, pathsOf).some((one) => BUILT_IN.test(one) || GROUND.test(one)),
      true,
    ],
    [
      'changes how modules are loaded',
      ({ path, written, args }) =>
        (written && LOADERS.test(path)) || (args !== null && HOOKS_LOADER.test(path)),
      true,
    ],
  ] satisfies [string, CodeRule['fits'], boolean][]
).map(([what, fits, onlyInProduction]) => ({
  kind: 'assertions-patched',
  what,
  fits,
  onlyInProduction,
  isQuestion: what === MAY_FAKE,
}));

/** Macros of Rust, of C, and of test libraries for both. */
const LIBRARY_MACRO =
  /^(?:(?:static_|debug_|prop_|ck_)?assert(?:_(?:eq|ne|matches|snapshot|\w+_snapshot|(?:int|ptr|string|true|false|null|non_null|memory|float)\w*))?|panic|NDEBUG|(?:ASSERT|EXPECT)(?:_(?:TRUE|FALSE|EQ|NE|[LG][TE]|STR\w+|FLOAT_EQ|DOUBLE_EQ|NEAR|THAT|CALL|DEATH|EXIT|(?:ANY_|NO_)?THROW))?|(?:CHECK|REQUIRE)(?:_(?:FALSE|EQ|NE|[LG][TE]|EQUAL|THAT|NOTHROW|THROWS\w*))?|TEST(?:_[FPG]|_CASE|_METHOD|_GROUP|_ASSERT\w*)?|BOOST_(?:TEST|CHECK|REQUIRE)\w*)$/;
/** A project may call its own macros like this, and its tests may rest on them. */
const OWN_MACRO = /^(?:assert|ASSERT|EXPECT|REQUIRE)_\w+$/;

/** Detects declarations that replace what tests depend on, or that make objects equal to everything. */
export function declarationRule(tree: SyntaxTree, node: SyntaxNode): CodeRule | null {
  const found = equalityRule(tree, node) ?? testBuildRule(tree, node);
  if (found) return found;
  const name = child(node, 'name', 'declarator', 'key');
  if (!name) return null;
  const text = nodeText(tree, name);
  const replaces = (what: string, onlyInProduction = false): CodeRule => ({
    kind: 'assertions-patched',
    what,
    onlyInProduction,
    fits: () => true,
  });
  if (/^(?:macro_definition|preproc_def|preproc_function_def)$/.test(node.type)) {
    if (LIBRARY_MACRO.test(text)) return replaces('redefines assertions');
    if (OWN_MACRO.test(text))
      return { ...replaces('defines a macro that may be an assertion'), isQuestion: true };
  }
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
