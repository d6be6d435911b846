import {
  type Chain,
  chainsOf,
  child,
  contentOf,
  type Grammar,
  isScript,
  isString,
  nodeText,
  type SourceText,
  type SyntaxNode,
  type SyntaxTree,
  type SyntaxTrees,
} from '../../source/index.ts';
import { lineIndexAt, type Side, sideOfText } from './view.ts';

/** A test, or a group of tests, in a text. */
export interface TestCase {
  readonly name: string;
  readonly suite: boolean;
  readonly node: SyntaxNode;
  /** Offset of its first decorator, attribute or keyword. */
  readonly at: number;
  /** Offset where its head ends and its body begins. */
  readonly body: number;
  /** Further arguments of a call may follow: they are computed when the test is declared. */
  readonly bodyEnd: number;
  readonly end: number;
  /** Offset of the name of a declaration, or of the declaring call. */
  readonly head: number;
}

/** A test or group among all of its text. */
export interface PlacedCase extends TestCase {
  /** The innermost other one that contains it. */
  readonly outer: PlacedCase | null;
}

export const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Calls that declare a test or a group; the prefixes `x` and `f` skip and focus. */
const GROUP_CALL =
  /^[xf]?(?:describe|context|feature)$|^(?:suite|group|module)$|^[PFX]?(?:Describe|Context|When)$|^(?:Skip|Focus)?Convey$|^DescribeTable$/;
const TEST_CALL =
  /^[xf]?(?:it|test|specify|example|scenario)$|^(?:step|bench|subtest|testWidgets)$|^[PFX]?(?:It|Specify|Entry)$|^Run$/;
/** Receivers of test calls: a runner, or the handle that a test is given. */
const CALL_ROOTS = wordSet('Deno QUnit RSpec t tt st tap b s suite ctx nodeTest bun');
const TEST_MACRO =
  /^(?:TYPED_)?TEST(?:_[FP])?$|^TEST_(?:CASE|METHOD)\w*$|^(?:SCENARIO|SECTION|SUBCASE|START_TEST|BOOST_\w+_TEST_CASE)$/;
/** Names by which runners discover functions and methods. */
const TEST_FUNCTION_NAMES: Partial<Readonly<Record<Grammar, RegExp>>> = {
  python: /^test/,
  go: /^(?:Test|Fuzz|Example)/,
  java: /^test/,
  php: /^test/,
  ruby: /^test_/,
};
/** Annotations, attributes and decorators that make a function a test. */
const TEST_ANNOTATIONS =
  /^(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Theory|Property|Fact|SkippableFact|TestCase|TestCaseSource|TestMethod|DataTestMethod|test|rstest|test_case|case|wasm_bindgen_test|quickcheck|proptest|bench)$/;

const FUNCTION_NODE =
  /^(?:function_definition|function_declaration|function_item|method_declaration|method|singleton_method|local_function_statement|generator_function_declaration|method_definition)$/;
const CALLBACK_NODE = /function|lambda|closure|func_literal|anonymous_method|^do_block$/;
const CLASS_NODE = /^(?:class|class_definition|class_declaration|mod_item|module|namespace_definition)$/;
const BLOCK_NODE = /^(?:block|do_block|compound_statement|statement_block)$/;
const ANNOTATION_NODE =
  /^(?:decorator|annotation|marker_annotation|attribute_item|inner_attribute_item|attribute_list)$/;

export const isFunction = ({ type, named }: SyntaxNode): boolean => named && FUNCTION_NODE.test(type);
export const isCallback = ({ type, named }: SyntaxNode): boolean =>
  named && CALLBACK_NODE.test(type) && !FUNCTION_NODE.test(type);

/** All tests and groups of a text, in order. */
export function testCasesOf(side: Side, chains: readonly Chain[]): readonly PlacedCase[] {
  const { tree } = side;
  if (!tree) return [];
  const found = [
    ...chains.flatMap((chain) => declaredByCall(tree, chain) ?? []),
    ...tree.nodes.flatMap((node) => declaredByFunction(tree, node) ?? []),
  ];
  const open: PlacedCase[] = [];
  return found
    .filter(({ head }) => side.mask[head] !== ' ')
    .sort((a, b) => a.at - b.at || b.end - a.end)
    .map((one) => {
      while ((open.at(-1)?.end ?? one.end) < one.end) open.pop();
      const placed = { ...one, outer: open.at(-1) ?? null };
      open.push(placed);
      return placed;
    });
}

const singleLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** `it('name', …)`, `test.each(table)('name', …)`, `Deno.test(…)`, `describe Thing do`. */
function declaredByCall(tree: SyntaxTree, { node, from, to, links }: Chain): TestCase | null {
  const word = declaringWord(links);
  const args = word === null ? null : ownArguments(links);
  if (word === null || args === null) return null;
  const [name, ...rest] = args;
  const callback = node.children.find(({ type }) => BLOCK_NODE.test(type)) ?? args.find(isCallback);
  const isNamed = name !== undefined && isString(name);
  // In other languages `test` and `it` are ordinary names unless a function is passed to them.
  const handed = isScript(tree.grammar) && (isNamed || rest.some(({ type }) => /identifier$/.test(type)));
  if (!callback && !handed) return null;
  const body = callback && (child(callback, 'body') ?? callback);
  const label = name && name !== callback ? nodeText(tree, name) : '';
  return {
    name: isNamed ? contentOf(label) : singleLine(label).slice(0, 200),
    suite: GROUP_CALL.test(word),
    node,
    at: from,
    body: body?.from ?? to,
    bodyEnd: body?.to ?? to,
    end: to,
    head: from,
  };
}

/** The word by which a chain declares a test or a group; null for none. */
function declaringWord(links: Chain['links']): string | null {
  const [first, second] = links;
  if (!first || links.length > 7) return null;
  const isHandle = second && CALL_ROOTS.has(first.name) && first.args === null;
  const { name } = isHandle ? second : first;
  return GROUP_CALL.test(name) || (TEST_CALL.test(name) && (isHandle || name !== 'Run')) ? name : null;
}

/** The call with the test follows the one with a table or a condition. */
function ownArguments(links: Chain['links']): readonly SyntaxNode[] | null {
  const table = links.findIndex(
    ({ name, args }) => args && /^(?:each|for|skipIf|runIf|cases|with)$/.test(name),
  );
  return (table < 0 ? links.find(({ args }) => args !== null) : links[table + 1])?.args ?? null;
}

/** A function or method that a runner discovers by its name or annotation; a class is a group. */
function declaredByFunction(tree: SyntaxTree, node: SyntaxNode): TestCase | null {
  if (!node.named) return null;
  if (CLASS_NODE.test(node.type)) return caseAt(tree, node, true);
  if (!isFunction(node)) return null;
  const macro = macroName(tree, node);
  if (macro !== null) return { ...caseAt(tree, node, false), name: macro };
  const one = caseAt(tree, node, false);
  const marked = annotationsOf(node).some((each) =>
    annotationNames(tree, each).some((name) => TEST_ANNOTATIONS.test(name)),
  );
  return marked || TEST_FUNCTION_NAMES[tree.grammar]?.test(one.name) ? one : null;
}

function caseAt(tree: SyntaxTree, node: SyntaxNode, suite: boolean): TestCase {
  const name = child(node, 'name') ?? child(node, 'declarator');
  const [first] = annotationsOf(node);
  const body = child(node, 'body');
  return {
    name: name ? singleLine(nodeText(tree, name)) : '',
    suite,
    node,
    at: Math.min(node.from, first?.from ?? node.from),
    body: body?.from ?? node.to,
    bodyEnd: body?.to ?? node.to,
    end: node.to,
    head: name?.from ?? node.from,
  };
}

/** `TEST(Suite, Name) { … }` parses as a function without a type. */
function macroName(tree: SyntaxTree, node: SyntaxNode): string | null {
  const declarator = tree.grammar === 'cpp' ? child(node, 'declarator') : null;
  const name = declarator && child(declarator, 'declarator');
  return declarator && name && TEST_MACRO.test(nodeText(tree, name))
    ? singleLine(nodeText(tree, declarator))
    : null;
}

/** Decorators, annotations and attributes of a declaration, for all grammars; in order. */
export function annotationsOf(node: SyntaxNode): readonly SyntaxNode[] {
  const { parent } = node;
  const inside = node.children.flatMap((each) =>
    ANNOTATION_NODE.test(each.type)
      ? [each]
      : /^(?:modifiers|attributes)$/.test(each.type)
        ? each.children.filter(({ named }) => named)
        : [],
  );
  if (parent?.type === 'decorated_definition')
    return parent.children.filter(({ type }) => type === 'decorator');
  const before: SyntaxNode[] = [];
  for (let i = node.index - 1; i >= 0 && before.length < 30; i--) {
    const sibling = parent?.children[i] as SyntaxNode;
    if (!ANNOTATION_NODE.test(sibling.type) && !/comment/.test(sibling.type)) break;
    before.unshift(sibling);
  }
  return [...before.filter(({ type }) => ANNOTATION_NODE.test(type)), ...inside];
}

/** The last part of each name in an annotation: `tokio::test`, `[Fact, Trait("x")]`. */
export function annotationNames(tree: SyntaxTree, annotation: SyntaxNode): readonly string[] {
  const text = nodeText(tree, annotation).slice(0, 1_000);
  const names = text.replace(/\((?:[^()]|\([^()]*\))*\)/g, '').split(/[\s,[\]@#]+/);
  return names.map((name) => name.split(/::|\\|\./).at(-1) ?? '').filter((name) => name !== '');
}

/** The innermost test or group (in order) that contains an offset; one that begins on the same line counts. */
export function enclosingCase(
  side: Side,
  cases: readonly PlacedCase[],
  offset: number,
  fits: (one: TestCase) => boolean = () => true,
): PlacedCase | null {
  const to = side.starts[lineIndexAt(side, offset) + 1] ?? offset;
  let last = lastBefore(cases, to);
  for (; (cases[last]?.at ?? offset) > offset; last--) {
    const later = cases[last] as PlacedCase;
    if (fits(later)) return later;
  }
  let one = cases[last] ?? null;
  while (one && (one.end <= offset || !fits(one))) one = one.outer;
  return one;
}

/** The index of the last item that begins before an offset. Expects sorted items. */
export function lastBefore(sorted: readonly { readonly at: number }[], offset: number): number {
  let low = -1;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sorted[middle] as { at: number }).at < offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Number of tests that a text declares, those within another test not counted: at least so many are reported, unless some
 * are declared on a condition. 0 if the text cannot be parsed.
 */
export function declaredTests(source: SourceText, trees: SyntaxTrees): number {
  const side = sideOfText(source, trees);
  const tests = testCasesOf(side, side.tree ? chainsOf(side.tree) : []).filter(({ suite }) => !suite);
  let end = -1;
  let count = 0;
  for (const test of tests) {
    if (test.at < end) continue;
    end = test.end;
    count += 1;
  }
  return count;
}
