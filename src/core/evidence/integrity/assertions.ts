import type { PatchFile } from '../../patches/index.ts';
import {
  ancestors,
  type Chain,
  type ChainLink,
  chainsOf,
  type Grammar,
  grammarOf,
  isScript,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
} from '../../source/index.ts';
import {
  enclosingCase,
  isCallback,
  lastBefore,
  type PlacedCase,
  type TestCase,
  testCasesOf,
} from './cases.ts';
import { callForm, chainForm, conditionForm, type Form } from './forms.ts';
import { type Guard, type GuardReader, guardReader } from './guards.ts';
import { squeeze } from './matchers.ts';
import type { InspectedFile, Side, View } from './view.ts';

/** A place in a test that can make it fail. */
export interface Assertion {
  readonly at: number;
  readonly end: number;
  /** Without white space, so that differently formatted assertions are equal. */
  readonly text: string;
  readonly form: Form;
  /** Its promise is awaited. */
  readonly awaited: boolean;
  /** Constructs around it, inside its test, that may prevent it from running or from failing the test. */
  readonly guards: readonly Guard[];
}

/** Functions that assert. */
const ASSERTING_FUNCTION =
  /^(?:(?:debug_|prop_)?assert(?:[A-Z_]\w*)?|refute\w*|flunk|expect|expectTypeOf|expectType|expectError|verify|panic|unreachable|fail|Fail|FailNow|FAIL\w*|equal|deepEqual|(?:deep)?[sS]trictEqual|deepStrictEqual|not(?:Deep)?(?:Strict)?Equal|throws|rejects|doesNot(?:Throw|Reject|Match)|raises|warns|deprecated_call|is_expected|Expect|Ω|So|Eventually|Consistently|(?:EXPECT|ASSERT|CHECK|REQUIRE|STATIC_REQUIRE|INFO_CHECK|BOOST_CHECK|BOOST_REQUIRE|BOOST_TEST|TEST_ASSERT|ck_assert|cr_assert|cr_expect|g_assert|XCT)\w*)$/;
/** Objects and classes whose methods assert. */
const ASSERTION_LIBRARY =
  /^(?:assert|assertions|Assert|\w*Assert|expect|require|must|qt|chai|self|pytest|unittest|cls|softly|\$this|this)$/;
/** Methods that assert, on a test's handle or an assertion object. */
const HANDLE_METHOD =
  /^(?:is|not|ok|notOk|equals?|notEqual|deepEquals?|notDeepEqual|same|notSame|strictEqual|strictSame|like|unlike|has|hasStrict|match|notMatch|true|false|truthy|falsy|assert|throws\w*|doesNotThrow|notThrows\w*|rejects|resolves|resolveMatch|regex|notRegex|snapshot|matchSnapshot|pass|fail|error|iferror|ifError|type|plan|looseEqual|deepLooseEqual|Errorf?|Fatalf?|Fail|FailNow)$/;
const TEST_HANDLE = /^(?:t|tt|st|tap|is|td|b|tb|f|s|suite|c|g|a|r|check|qt|must)$/;
/** Calls on a value that assert: `.expect(200)`, `.Should()`, `x.must_equal 3`. */
const VALUE_METHOD =
  /^(?:expect|should|Should|assert|and_?[eE]xpect\w*|assert_called\w*|assert_has_calls|assert_awaited\w*|assert_not_called|(?:must|wont)_\w+|Verify|assert[A-Z]\w*)$/;
/** An error raised by hand belongs to the condition above it. */
const REPORTS_FAILURE = /^(?:Errorf?|Fatalf?|Fail|FailNow)$/;

/** Of the libraries for Go, whose handles are called like other variables. */
const GO_ASSERTION =
  /^(?:Assert|Check|Must|Require|Verify|Should|Expect|Equal|Exactly|Not|Nil|No?Err|Error|True|False|Len|Contains|Empty|Zero|Subset|ElementsMatch|Panics|Greater|Less|In(?:Delta|Epsilon)|Implements|Is|JSONEq|YAMLEq|Regexp|Same|Eventually|Never|Condition|Consistently|Positive|Negative|HTTP|FileExists|DirExists|Within|Fail|Fatal|Cmp|That|DeepEqual|Matches|Satisfies|Ω)/;

type FoundAssertion = Omit<Assertion, 'guards'> & { readonly node: SyntaxNode; readonly reports?: boolean };

/** Maximum assertions of one text. */
const MAX_ASSERTIONS = 20_000;

/** All assertions of a text, in order. */
function assertionsOf(
  side: Side,
  { cases, chains, guardsOf }: Pick<ParsedTests, 'cases' | 'chains' | 'guardsOf'>,
): readonly Assertion[] {
  const { tree } = side;
  if (!tree) return [];
  const found = [
    ...chains.flatMap((chain) => fromChain(tree, side, chain) ?? []),
    ...tree.nodes.flatMap((node) => fromStatement(tree, side, node) ?? []),
  ].sort((a, b) => a.at - b.at || b.end - a.end);
  return withoutNested(found)
    .slice(0, MAX_ASSERTIONS)
    .map((one) => withGuards(side, cases, guardsOf, one));
}

/** Drops assertions nested in another one, unless they are in a function. */
function withoutNested(found: readonly FoundAssertion[]): readonly FoundAssertion[] {
  let outer: FoundAssertion | null = null;
  return found.filter((one) => {
    const inside = outer !== null && one.at < outer.end && one.end <= outer.end;
    if (!inside) outer = one;
    return !inside || (outer !== null && ancestors(one.node, outer.node).some(isCallback));
  });
}

function withGuards(
  side: Side,
  cases: readonly PlacedCase[],
  guardsOf: GuardReader,
  { node, reports, ...one }: FoundAssertion,
): Assertion {
  const test = enclosingCase(side, cases, one.at)?.node ?? null;
  const guards = guardsOf(node, test);
  const condition = reports
    ? ancestors(node, test).find(({ type }) => /^(?:if_statement|if_expression)$/.test(type))
    : undefined;
  if (!condition) return { ...one, guards };
  const body = condition.children.find(({ field }) => field === 'consequence')?.from ?? condition.to;
  const head = squeeze(side.code.slice(condition.from, body));
  const form = { ...one.form, subject: head, expected: '', matcher: 'fail' };
  return { ...one, text: `${head}:fail`, form, guards: removeGuard(guards, 'condition') };
}

function removeGuard(guards: readonly Guard[], one: Guard): readonly Guard[] {
  const at = guards.indexOf(one);
  return guards.filter((_, i) => i !== at);
}

function fromChain(tree: SyntaxTree, side: Side, chain: Chain): FoundAssertion | null {
  const at = assertingLink(tree, chain);
  if (at < 0) return null;
  const { node, from, links } = chain;
  // The statements of a block count separately.
  const to = node.children.find(({ type }) => type === 'do_block')?.from ?? chain.to;
  const link = links[at] as ChainLink;
  const rest = links.slice(at + 1);
  const args = (one: ChainLink): readonly string[] | null =>
    one.args?.map((each) => side.code.slice(each.from, each.to)) ?? null;
  const steps = rest.map((one) => ({ name: one.name, args: args(one) }));
  const awaited =
    /^(?:await_expression|await|return_statement|return)$/.test(
      outsideParentheses(node).parent?.type ?? '',
    ) ||
    node.type === 'await_expression' ||
    rest.some(({ name }) => name === 'await');
  return {
    node,
    at: from,
    end: to,
    text: squeeze(side.code.slice(from, to)).replace(/^await /, ''),
    awaited,
    reports: REPORTS_FAILURE.test(link.name) && at > 0,
    form: assertionForm(side, chain, at, { own: args(link), steps }),
  };
}

const outsideParentheses = (node: SyntaxNode): SyntaxNode =>
  node.parent && /^parenthesized/.test(node.parent.type) ? outsideParentheses(node.parent) : node;

interface AssertionArguments {
  readonly own: readonly string[] | null;
  readonly steps: readonly { readonly name: string; readonly args: readonly string[] | null }[];
}

function assertionForm(
  side: Side,
  { from, links }: Chain,
  at: number,
  { own, steps }: AssertionArguments,
): Form {
  const link = links[at] as ChainLink;
  const onValue = at > 0 && VALUE_METHOD.test(link.name) && !ASSERTION_LIBRARY.test(links[0]?.name ?? '');
  if (onValue) {
    const subject = squeeze(side.code.slice(from, links[at - 1]?.to ?? from));
    return chainForm(
      subject,
      [{ name: link.name, args: own }, ...steps].filter(
        ({ name }) => !/^(?:Should|should|assert)$/.test(name),
      ),
    );
  }
  if (link.name === 'is_expected') return chainForm('subject', steps);
  if (steps.length === 0) return callForm(link.name, own ?? []);
  return chainForm(squeeze((own ?? []).join(',')), steps);
}

/** The index of the link that asserts; -1 for none. */
function assertingLink({ grammar }: SyntaxTree, { links, node }: Chain): number {
  const [first, second] = links;
  if (!first) return -1;
  // `expect.any` and the like are values.
  if (first.name === 'expect' && second && first.args === null)
    return /^(?:soft|poll|assertions|hasAssertions|unreachable)$/.test(second.name) ? 1 : -1;
  if (first.name === 'is_expected' || (first.args !== null && ASSERTING_FUNCTION.test(first.name))) return 0;
  if (grammar === 'bash') return node.type === 'command' && SHELL_WORD.test(first.name) ? 0 : -1;
  const value = links.findIndex(
    ({ name, args }, i) => i > 0 && VALUE_METHOD.test(name) && (args !== null || name === 'should'),
  );
  if (value > 0 && !ASSERTION_LIBRARY.test(first.name)) return value;
  const called = links.findIndex(({ args }) => args !== null);
  return called > 0 && isAssertingCall(grammar, links.slice(0, called + 1)) ? called : -1;
}

const SHELL_WORD = /^(?:is|isnt|ok|like|assert\w*|refute\w*)$/;

/**
 * Whether a call asserts, by the end of its path: `assert.equal(…)`, `Assert.Equal(…)`, `self.assertTrue(…)`,
 * `t.Fatal(…)`.
 */
function isAssertingCall(grammar: Grammar, path: readonly ChainLink[]): boolean {
  const [root = '', owner = '', name = ''] = [path[0]?.name, path.at(-2)?.name, path.at(-1)?.name];
  if (ASSERTING_FUNCTION.test(name) && (ASSERTION_LIBRARY.test(root) || /^assert|^fail$|^expect/i.test(name)))
    return true;
  if (/^(?:assert|chai|\w*Assert)$/.test(owner)) return true;
  if (/^(?:require|must|qt|is)$/.test(owner) && /^[A-Z]/.test(name)) return true;
  if (!TEST_HANDLE.test(owner)) return false;
  if (grammar !== 'go') return isScript(grammar) && HANDLE_METHOD.test(name);
  return (/^(?:t|b|tb|f)$/.test(owner) ? REPORTS_FAILURE : GO_ASSERTION).test(name);
}

/** `assert a == b` as a statement of the language. */
function fromStatement(tree: SyntaxTree, side: Side, node: SyntaxNode): FoundAssertion | null {
  if (!/^(?:assert_statement|test_command)$/.test(node.type)) return null;
  const [condition] = node.children.filter(({ named }) => named);
  if (!condition) return null;
  const form = conditionForm(side.code.slice(condition.from, condition.to), false);
  // A non-empty tuple is always true.
  const vacuous =
    form.vacuous ||
    (condition.type === 'tuple' && condition.children.filter(({ named }) => named).length > 1);
  return {
    node,
    at: node.from,
    end: node.to,
    text: squeeze(nodeText(tree, node)),
    awaited: false,
    form: { ...form, vacuous },
  };
}

/** One side of a view, parsed. */
export interface ParsedTests {
  readonly side: Side;
  /** Tests and groups, in order. */
  readonly cases: readonly PlacedCase[];
  readonly tests: readonly PlacedCase[];
  readonly guardsOf: GuardReader;
  readonly assertions: readonly Assertion[];
  readonly chains: readonly Chain[];
}

/** A part of a test file before and after the patch. */
export interface TestView {
  readonly inspected: InspectedFile;
  readonly file: PatchFile;
  readonly before: ParsedTests;
  readonly after: ParsedTests;
}

/** Languages whose unit tests are in production files. */
const IN_SOURCE = /#\[(?:\w+::)*(?:test|rstest|test_case)\b|\bmod\s+tests?\b|#\[cfg\(test\)\]/;

/** Whether a production file contains tests, as is usual in Rust. */
export const holdsTests = (file: PatchFile): boolean =>
  file.role === 'production' && grammarOf(file.path) === 'rust' && IN_SOURCE.test(file.section);

/** The views of a test file, or of the tests inside a production file. */
export function readTests(inspected: InspectedFile): readonly TestView[] {
  const { file, views } = inspected;
  const inSource = file.role === 'production';
  return views
    .filter((view) => !inSource || IN_SOURCE.test(view.before.code) || IN_SOURCE.test(view.after.code))
    .map((view) => ({ inspected, file, ...bothSides(view, inSource) }));
}

const bothSides = (view: View, inSource: boolean): Pick<TestView, 'before' | 'after'> => ({
  before: parseTests(view.before, inSource),
  after: parseTests(view.after, inSource),
});

function parseTests(side: Side, inSource: boolean): ParsedTests {
  const chains = side.tree ? chainsOf(side.tree) : [];
  const cases = testCasesOf(side, chains);
  const guardsOf = guardReader(side);
  const all = assertionsOf(side, { cases, chains, guardsOf });
  const assertions = inSource ? all.filter(({ at }) => enclosingCase(side, cases, at) !== null) : all;
  return { side, chains, cases, guardsOf, tests: cases.filter(({ suite }) => !suite), assertions };
}

/** The test that contains an offset; groups do not count. */
export const testAround = ({ side, cases }: ParsedTests, offset: number): TestCase | null =>
  enclosingCase(side, cases, offset, ({ suite }) => !suite);

/** The names of the tests that contain these assertions; empty if one is in no test. */
export function testNames(
  parsed: ParsedTests,
  assertions: readonly Pick<Assertion, 'at'>[],
): readonly string[] {
  const names = assertions.map(({ at }) => testAround(parsed, at)?.name);
  return names.every((name) => name !== undefined) ? names : [];
}

/** The assertions of a test. */
export const assertionsIn = ({ assertions }: ParsedTests, { at, end }: TestCase): readonly Assertion[] =>
  assertions.slice(lastBefore(assertions, at) + 1, lastBefore(assertions, end) + 1);
