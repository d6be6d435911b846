import {
  ancestors,
  type Chain,
  child,
  firstFrom,
  isComment,
  isString,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
} from '../../source/index.ts';
import type { ParsedTests } from './assertions.ts';
import { annotationNames, annotationsOf, enclosingCase, isCallback, type TestCase } from './cases.ts';
import { constantTruth } from './constants.ts';

/** A place that disables tests: the test that it marks, or all others. */
export interface SkipMarker {
  readonly offset: number;
  readonly focus: boolean;
}

/** Names that skip their receiver, or the test in which they are called. */
const SKIP_NAMES =
  /^(?:skip|skipIf|skipUnless|skipif|runIf|todo|fails|failing|fixme|ignore|xfail|importorskip|skipTest|Skip|SkipNow|Skipf|skipOn\w*|pending|bailout|omit|markTest(?:Skipped|Incomplete)|expectNotToPerformAssertions|addToAssertionCount|doesNotPerformAssertions|autoMockOn|enableAutomock|Inconclusive|Ignore|GTEST_SKIP|TEST_IGNORE\w*|SKIP)$/;
const ASSUMPTIONS = /^assum(?:e|ing)(?:True|False|That|NotNull|NoException)?$/;
const FOCUS_WORD =
  /^(?:only|f(?:it|describe|context|specify|example)|F(?:It|Describe|Context|When|Specify)|FocusConvey)$/;
const SKIPPED_WORD =
  /^(?:x(?:it|test|describe|context|specify|example|scenario|feature)|[PX](?:It|Describe|Context|When)|SkipConvey)$/;
/** Receivers of skipping names; when called alone, they must be inside a test. */
const SKIP_OWNERS =
  /^(?:it|test|describe|suite|context|specify|scenario|bench|QUnit|Deno|t|tt|st|b|f|ctx|this|\$this|self|pytest|unittest|jest|RSpec|Assert|Skip)$/;
const BARE_SKIP = /^(?:skip|pending|omit|bailout|Skip|GTEST_SKIP|SKIP|TEST_IGNORE\w*)$/;
const SKIP_OPTIONS = /^(?:skip|todo|ignore|only|fails|solo|pending|focus|Skip|enabled)$/;
const SKIP_ANNOTATIONS =
  /^(?:skip\w*|xfail|expectedFailure|not_?test|Disabled\w*|Ignore\w*|ignore|Explicit|EnabledIf\w*|EnabledOn\w*|EnabledFor\w*|PendingFeature|Requires\w*|disabled|enabled)$/;
const SKIP_EXCEPTIONS = /^(?:SkipTest|SkipException|TestAbortedException|AssumptionViolatedException)$/;

/** All markers in a text that skip or disable tests; in order. */
export function skipMarkersIn({ side, cases, chains }: ParsedTests): readonly SkipMarker[] {
  const { tree } = side;
  if (!tree) return [];
  const declared = new Set(cases.map(({ node }) => node));
  const marked = chains.map((chain) => ({ chain, markers: inChain(chain, declared) }));
  // A named marker skips the tests that are marked with its name.
  const names = new Set(
    marked.flatMap(({ chain, markers }) => (markers.length > 0 ? (nameFor(tree, chain) ?? []) : [])),
  );
  const found = [
    ...marked.flatMap(({ chain, markers }) => (nameFor(tree, chain) === null ? markers : [])),
    ...tree.nodes.flatMap((node) => atNode(tree, node)),
    ...inOptions(tree, cases),
    ...cases.flatMap((one) => inAnnotations(tree, annotationsOf(one.node), names)),
  ];
  return found.filter(
    ({ offset }) => side.mask[offset] !== ' ' || /^\/\//.test(tree.text.slice(offset, offset + 2)),
  );
}

function inChain({ node, from, links }: Chain, declared: ReadonlySet<SyntaxNode>): readonly SkipMarker[] {
  const [first, ...rest] = links;
  if (!first) return [];
  const place = { offset: from };
  const isCase = declared.has(node);
  if (isCase && SKIPPED_WORD.test(first.name)) return [{ ...place, focus: false }];
  if (isCase && FOCUS_WORD.test(first.name)) return [{ ...place, focus: true }];
  if (first.args !== null && (ASSUMPTIONS.test(first.name) || BARE_SKIP.test(first.name)))
    return [{ ...place, focus: false }];
  const isHandled =
    SKIP_OWNERS.test(first.name) || isCase || rest.some(({ name }) => SKIP_EXCEPTIONS.test(name));
  if (!isHandled) return SKIP_EXCEPTIONS.test(first.name) ? [{ ...place, focus: false }] : [];
  if (rest.some(({ name }) => name === 'only')) return [{ ...place, focus: true }];
  return rest.some(({ name }) => SKIP_NAMES.test(name)) ? [{ ...place, focus: false }] : [];
}

/** Markers that are not calls: statements, build tags, names. */
function atNode(tree: SyntaxTree, node: SyntaxNode): readonly SkipMarker[] {
  const at = { offset: node.from, focus: false };
  if (isComment(node)) {
    const text = nodeText(tree, node);
    const skips =
      /^\/\/(?:go:build| \+build)/.test(text) ||
      (tree.grammar === 'php' && /@(?:requires|doesNotPerformAssertions)\b/.test(text));
    return skips ? [at] : [];
  }
  if (node.type === 'identifier' && SKIP_EXCEPTIONS.test(nodeText(tree, node)) && tree.grammar === 'python')
    return [at];
  if (node.type === 'inner_attribute_item' && /^#!\[cfg/.test(nodeText(tree, node))) return [at];
  if (tree.grammar === 'cpp' && /identifier$/.test(node.type) && /^DISABLED_/.test(nodeText(tree, node)))
    return [at];
  if (tree.grammar !== 'python') return [];
  const text = nodeText(tree, node).slice(0, 200);
  const skips =
    (node.type === 'assignment' &&
      /^(?:pytestmark|collect_ignore\w*)\s*=|^__test__\s*=\s*False|^[tT]est\w*\s*=\s*(?:None|lambda)/.test(
        text,
      )) ||
    (node.type === 'delete_statement' && /^del\s+[tT]est/.test(text)) ||
    (node.type === 'function_definition' && /^def\s+load_tests\b/.test(text));
  return skips ? [at] : [];
}

/** Options and tags in the heads of tests: `{ skip: true }`, `skip: true`, `:focus`, `[.]`. */
function inOptions(tree: SyntaxTree, cases: readonly TestCase[]): readonly SkipMarker[] {
  const byNode = new Map(cases.map((one) => [one.node, one] as const));
  return tree.nodes.flatMap((each) => {
    const found = option(tree, each);
    if (!found) return [];
    for (const at of ancestors(each)) {
      const one = byNode.get(at);
      const counts = one && each.from >= one.head && each.to <= one.body;
      if (counts && !(found.onlyTests && one.suite)) return [{ offset: each.from, focus: found.focus }];
      if (each.type === 'pair' && isCallback(at)) return [];
    }
    return [];
  });
}

/** What an option of a test would do, if the node is one. */
function option(
  tree: SyntaxTree,
  each: SyntaxNode,
): { readonly focus: boolean; readonly onlyTests: boolean } | null {
  if (tree.grammar === 'ruby' && each.type === 'simple_symbol') {
    const text = nodeText(tree, each);
    return SKIP_OPTIONS.test(text.slice(1)) ? { focus: text === ':focus', onlyTests: false } : null;
  }
  if (tree.grammar === 'cpp' && isString(each))
    return /\[!?\.(?:skip|hide)?\]/.test(nodeText(tree, each).slice(0, 200))
      ? { focus: false, onlyTests: true }
      : null;
  if (each.type !== 'pair') return null;
  const [key, value] = each.children.filter(({ named }) => named);
  const name = key ? nodeText(tree, key).replace(/\W/g, '') : '';
  if (!value || !SKIP_OPTIONS.test(name) || nodeText(tree, value) === 'false') return null;
  return { focus: /^(?:only|focus|solo)$/.test(name), onlyTests: false };
}

/**
 * The variable that a value is assigned to; null if it is not assigned, or if the variable's name skips all tests of
 * the file.
 */
function nameFor(tree: SyntaxTree, { node: { parent, field } }: Chain): string | null {
  const left = parent?.type === 'assignment' && field === 'right' ? child(parent, 'left') : null;
  const name = left && nodeText(tree, left);
  return name === null || name === 'pytestmark' ? null : name;
}

function inAnnotations(
  tree: SyntaxTree,
  annotations: readonly SyntaxNode[],
  skipping: ReadonlySet<string>,
): readonly SkipMarker[] {
  return annotations.flatMap((each) => {
    const text = nodeText(tree, each).slice(0, 1_000);
    const skips =
      annotationNames(tree, each).some((name) => SKIP_ANNOTATIONS.test(name) || skipping.has(name)) ||
      /\bcfg_attr\(.*\bignore\b|\bcfg\((?!test\))|\benabled\s*=\s*false|\bSkip\s*=|\.disabled\b/.test(text);
    return skips ? [{ offset: each.from, focus: false }] : [];
  });
}

/** Names and build tags that skip under a condition, such as a platform or a version. */
const CONDITIONAL_SKIP =
  /^[^\n]{0,80}?(?:skip_?if|skipUnless|runIf|skipOn|importorskip|(?:En|Dis)abled(?:If|On|For)|\bassum|Requires|cfg(?:_attr)?\(|go:build|\+build|@requires)/i;
/** The same with a condition that always holds, and conditions that no build meets. */
const ALWAYS_SKIPS =
  /^[^\n]{0,80}?(?:\(\s*(?:true|1|True|!0|!false|not False)\s*[,)]|(?:Unless|runIf|assum\w*)\s*\(\s*(?:false|0|False|!1|!true|not True)\s*[,)]|build\s+(?:ignore|never|none|skip)\b|cfg(?:_attr)?\((?:any\(\)|not\(test\)|FALSE|never)|\bFIXME\b)/;
/** `skip: value`, with a value that is neither a literal nor a reason. */
const SKIP_BY_VALUE =
  /^\W*(?:skip|todo|ignore|fails|pending)\W*[:=](?!\s*(?:true\b|1\b|['"`{(]|async\b|function\b))/i;

const FIRST_ARGUMENT =
  /^[^\n(]{0,80}?\b(skip_?[iI]f|skipUnless|runIf|assume(?:True|False)?)\s*\(((?:[^(),]|\([^()]*\))*)[,)]/;

/** The condition of the marker consists of literals, and skips. Python evaluates a text. */
function skipsByConstant(text: string): boolean {
  const [, name = '', condition = ''] = FIRST_ARGUMENT.exec(text) ?? [];
  const inner = name === 'skipif' ? condition.trim().replace(/^(['"])(.*)\1$/, '$2') : condition;
  return constantTruth(inner) === !/^(?:skipUnless|runIf|assume(?:True)?)$/.test(name);
}

/** Whether a marker skips only under a condition that may be false. */
export function isConditional({ side, cases, guardsOf }: ParsedTests, { offset }: SkipMarker): boolean {
  const { tree } = side;
  const text = side.code.slice(offset, offset + 200);
  if (ALWAYS_SKIPS.test(text) || skipsByConstant(text)) return false;
  if (CONDITIONAL_SKIP.test(text) || SKIP_BY_VALUE.test(text)) return true;
  const node = tree?.nodes[firstFrom(tree, offset + 1) - 1];
  const owner = enclosingCase(side, cases, offset)?.node ?? null;
  if (!tree || node?.from !== offset) return false;
  const outer = ancestors(node, owner).flatMap((each) => child(each, 'condition') ?? []);
  const isFixed = outer.some((condition) => constantTruth(nodeText(tree, condition)) === true);
  return !isFixed && guardsOf(node, owner).includes('condition');
}
