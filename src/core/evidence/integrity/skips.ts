import {
  ancestors,
  type Chain,
  child,
  isComment,
  nodesWithin,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
} from '../../source/index.ts';
import { type ParsedTests, type TestView, testAround } from './assertions.ts';
import {
  annotationNames,
  annotationsOf,
  enclosingCase,
  isCallback,
  isFunction,
  lastBefore,
  type TestCase,
} from './cases.ts';
import type { Suspicion } from './finding.ts';
import { type Guard, guardsOf } from './guards.ts';
import type { MatchedView } from './matching.ts';
import { lineIndexAt, nearestChange } from './view.ts';

/** A place that disables tests: the test that it marks, or all others. */
interface SkipMarker {
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
function skipMarkersIn({ side, cases, chains }: ParsedTests): readonly SkipMarker[] {
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
    ...cases.flatMap((one) => [
      ...inOptions(tree, one),
      ...inAnnotations(tree, annotationsOf(one.node), names),
    ]),
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

/** Options and tags in the head of a test: `{ skip: true }`, `skip: true`, `:focus`, `[.]`. */
function inOptions(tree: SyntaxTree, { node, head, body, suite }: TestCase): readonly SkipMarker[] {
  return [...nodesWithin(tree, { from: head, to: body })].flatMap((each) => {
    const text = nodeText(tree, each).slice(0, 200);
    if (tree.grammar === 'ruby' && each.type === 'simple_symbol' && SKIP_OPTIONS.test(text.slice(1)))
      return [{ offset: each.from, focus: text === ':focus' }];
    if (tree.grammar === 'cpp' && /string/.test(each.type) && /\[!?\.(?:skip|hide)?\]/.test(text) && !suite)
      return [{ offset: each.from, focus: false }];
    if (each.type !== 'pair' || ancestors(each, node).some(isCallback)) return [];
    const [key, value] = each.children.filter(({ named }) => named);
    const name = key ? nodeText(tree, key).replace(/\W/g, '') : '';
    if (!value || !SKIP_OPTIONS.test(name) || nodeText(tree, value) === 'false') return [];
    return [{ offset: each.from, focus: /^(?:only|focus|solo)$/.test(name) }];
  });
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

const changeAt = ({ side }: ParsedTests, { offset }: SkipMarker) =>
  side.changes[lineIndexAt(side, offset)] ?? null;

/** Focused tests, which disable the others; in new files, too. */
export function focusedTests({ after }: TestView): readonly Suspicion[] {
  return skipMarkersIn(after)
    .filter((marker) => marker.focus && changeAt(after, marker) !== null)
    .slice(0, 1)
    .map((marker) => ({
      kind: 'test-focused',
      what: 'a test was focused, so the others do not run',
      at: changeAt(after, marker),
    }));
}

/** Base tests that no longer run, or no longer run to their end. New tests may be skipped. */
export function skippedTests(matched: MatchedView): readonly Suspicion[] {
  const { view } = matched;
  if (view.file.change === 'added') return [];
  return [...newSkipMarkers(matched), ...newlyGuardedTests(view), ...earlyReturns(matched)];
}

function newSkipMarkers(matched: MatchedView): readonly Suspicion[] {
  const { before, after } = matched.view;
  const owner = (parsed: ParsedTests, marker: SkipMarker) =>
    enclosingCase(parsed.side, parsed.cases, marker.offset);
  const old = skipMarkersIn(before).filter(({ focus }) => !focus);
  const isKnown = baseTestFilter(matched);
  const already = new Set(old.map((marker) => owner(before, marker)?.name));
  const given = old.filter((marker) => changeAt(before, marker) !== null).length;
  const added = skipMarkersIn(after).filter((marker) => {
    const one = owner(after, marker);
    return (
      !marker.focus &&
      changeAt(after, marker) !== null &&
      (one === null || (isKnown(one) && !already.has(one.name)))
    );
  });
  // A skip under another name, or elsewhere in the file, is not new.
  if (added.length <= given && added.every((marker) => isRenamed(owner(after, marker), before))) return [];
  return added.slice(0, 1).map((marker) => ({
    kind: 'test-skipped',
    what: 'a test was skipped or marked as to do',
    at: changeAt(after, marker),
  }));
}

const isRenamed = (one: TestCase | null, { cases }: ParsedTests): boolean =>
  one === null || !cases.some(({ name }) => name === one.name);

/** Recognizes base tests by name, by content, or by the tests inside. */
function baseTestFilter({ view: { before, after }, kept }: MatchedView): (one: TestCase) => boolean {
  const names = new Set(before.cases.map(({ name }) => name));
  const steady = kept.map(([, now]) => now).sort((a, b) => a.at - b.at);
  const old = after.tests.filter(({ name }) => names.has(name));
  const some = (sorted: readonly { readonly at: number }[], { at, end }: TestCase) =>
    lastBefore(sorted, end) > lastBefore(sorted, at);
  return (one) => names.has(one.name) || some(steady, one) || (one.suite && some(old, one));
}

const GUARDED_TEST_TEXTS: Readonly<Record<Guard, string>> = {
  condition: 'a test runs only under a condition',
  never: 'a test never runs',
  swallow: 'the failure of a test is swallowed',
  later: 'a test is declared too late to run',
  function: 'a test is inside a function that may never be called',
};

/** Tests that are now inside a new guard. */
function newlyGuardedTests({ inspected, before, after }: TestView): readonly Suspicion[] {
  const was = guardsOfCases(before);
  const found: Suspicion[] = [];
  for (const [name, now] of guardsOfCases(after)) {
    const old = was.get(name);
    const [extra] = old ? surplus(now.guards, old.guards) : [];
    if (!extra) continue;
    found.push({
      kind: 'test-skipped',
      what: GUARDED_TEST_TEXTS[extra],
      at: nearestChange(inspected, after.side, now.at),
    });
  }
  return found.slice(0, 1);
}

function guardsOfCases({
  side: { tree },
  tests,
}: ParsedTests): ReadonlyMap<string, { guards: readonly Guard[]; at: number }> {
  const nodes = new Set(tests.map(({ node }) => node));
  return new Map(
    tests.map(
      ({ name, node, at }) => [name, { guards: tree ? guardsOf(tree, node, null, nodes) : [], at }] as const,
    ),
  );
}

/** Guards that occur more often than before. */
export function surplus(now: readonly Guard[], old: readonly Guard[]): readonly Guard[] {
  const left = [...old];
  return now.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** A `return` without a value. */
const EMPTY_RETURN =
  /^return\b\s*(?:null|undefined|true|None|nil|Ok\(\(\)\)|Promise\.resolve\(\)|done\(\)|t\.(?:end|pass)\(\)|void 0)?\s*;?$/;

/** A new `return` before the assertions of a base test. */
function earlyReturns({ view: { after }, kept }: MatchedView): readonly Suspicion[] {
  const { side } = after;
  const returns = (side.tree?.nodes ?? []).filter(
    (node) =>
      node.named &&
      /^return/.test(node.type) &&
      side.changes[lineIndexAt(side, node.from)] &&
      EMPTY_RETURN.test(side.code.slice(node.from, node.to).trim()),
  );
  const found = returns.find((node) => {
    const home = ancestors(node).find(
      (each) =>
        isCallback(each) ||
        isFunction(each) ||
        (/^(?:do_block|block)$/.test(each.type) && each.field === 'block'),
    );
    const test = testAround(after, node.from);
    return kept.some(
      ([, { at }]) =>
        at > node.from &&
        (home === undefined || at < home.to) &&
        (test === null || at < test.end) &&
        testAround(after, at) === test,
    );
  });
  if (!found) return [];
  const at = side.changes[lineIndexAt(side, found.from)] ?? null;
  return [{ kind: 'test-skipped', what: 'a test returns before its assertions', at }];
}
