import {
  ancestors,
  child,
  firstFrom,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
  tokensOf,
} from '../../source/index.ts';
import { isCallback, isFunction } from './cases.ts';
import { constantTruth } from './constants.ts';
import type { Side } from './view.ts';

/** Constructs that may prevent code from running or hide its failure. */
export type Guard = 'condition' | 'swallow' | 'never' | 'later' | 'deferred' | 'function';

const CONDITION_NODE =
  /^(?:if|if_statement|if_expression|elif_clause|else_if_clause|elsif|unless|if_modifier|unless_modifier|conditional_expression|ternary_expression|conditional|while|while_statement|while_expression|until|while_modifier|until_modifier)$/;
const BRANCH_NODE =
  /^(?:else|else_clause|catch_clause|except_clause|except_group_clause|rescue|switch_case|switch_default|case_clause|expression_case|default_case|type_case|match_arm|match_conditional_expression|when|switch_section|switch_block_statement_group|switch_rule|case_statement|case_item)$/;
const LOOP_NODE =
  /^(?:for_statement|for_in_statement|foreach_statement|for|for_expression|enhanced_for_statement)$/;
/** Blocks that may have handlers; Ruby's need no `begin`. */
const TRY_NODE =
  /^(?:try_statement|try_expression|try_with_resources_statement|begin|body_statement|do_block)$/;
const OPERATION_NODE = /^(?:binary_expression|boolean_operator|binary|logical_expression)$/;
const HANDLER_NODE = /^(?:catch_clause|except_clause|except_group_clause|rescue)$/;
const DEFERRING_FUNCTIONS = new Set(
  'setTimeout setImmediate setInterval queueMicrotask nextTick requestAnimationFrame requestIdleCallback at_exit register'.split(
    ' ',
  ),
);
const SUPPRESSING_FUNCTIONS = new Set('suppress catch_unwind Try'.split(' '));
const EMPTY_ITERABLE = /^(?:\[\s*\]|\(\s*\)|range\(0\))$/;
/** Statements by which a handler rethrows the failure. */
const RETHROWS = /^(?:throw|raise|rethrow|reject\w*|fail\w*|expect|assert\w*|done|panic|Errorf?|Fatalf?)$/;

/** Guards of a node in the nodes around it, up to `until`; nearest first. */
export type GuardReader = (node: SyntaxNode, until: SyntaxNode | null) => readonly Guard[];

/**
 * Reads the guards of a text. What is around many nodes is read once for all of them. A test's own function is no
 * guard: the runner calls it.
 */
export function guardReader(
  side: Pick<Side, 'tree' | 'mask'>,
  tests: ReadonlySet<SyntaxNode> = new Set(),
): GuardReader {
  const { tree, mask } = side;
  if (!tree) return () => [];
  const known = new Map<SyntaxNode | null, Map<SyntaxNode, readonly Guard[]>>();
  const code: Code = { tree, mask, swallowing: new Map() };
  const mayWait = waitingIn(tree, mask);
  return (node, until) => {
    const own = known.get(until) ?? new Map<SyntaxNode, readonly Guard[]>();
    known.set(until, own);
    const path: SyntaxNode[] = [];
    for (let at: SyntaxNode | null = node; at && at !== until && !own.has(at); at = at.parent) path.push(at);
    for (const inner of path.reverse()) {
      const { parent: outer } = inner;
      const around = (outer && own.get(outer)) ?? [];
      const found = !outer || outer === until || tests.has(outer) ? null : guardBy(code, outer, inner);
      const guard = found === 'later' && outer && mayWait(outer, until) ? 'deferred' : found;
      own.set(inner, guard ? [guard, ...around] : around);
    }
    return own.get(node) ?? [];
  };
}

/** A text, and what was read of its handlers. */
interface Code {
  readonly tree: SyntaxTree;
  readonly mask: string;
  readonly swallowing: Map<SyntaxNode, boolean>;
}

/** How an ancestor affects the nodes inside it, by node type; the first match counts. */
const GUARD_RULES: readonly (readonly [
  RegExp,
  (code: Code, outer: SyntaxNode, inner: SyntaxNode) => Guard | null,
])[] = [
  [CONDITION_NODE, ({ tree }, outer, inner) => conditionOf(tree, outer, inner)],
  [
    BRANCH_NODE,
    (_, outer, inner) => (inner.field === 'value' && !HANDLER_NODE.test(outer.type) ? null : 'condition'),
  ],
  [OPERATION_NODE, ({ tree }, outer, inner) => joinedBy(tree, outer, inner)],
  [LOOP_NODE, ({ tree }, outer) => (loopsOverNothing(tree, outer) ? 'never' : null)],
  [TRY_NODE, (code, outer, inner) => (isTried(inner) && swallows(code, outer) ? 'swallow' : null)],
  [
    /^with_statement$/,
    ({ tree }, outer, inner) => (inner.field === 'body' && suppresses(tree, outer) ? 'swallow' : null),
  ],
  [/^go_statement$/, () => 'later'],
  [
    /./,
    (code, outer, inner) => guardByCallee(code, outer, inner) ?? (isNamedFunction(outer) ? 'function' : null),
  ],
];

function guardBy(code: Code, outer: SyntaxNode, inner: SyntaxNode): Guard | null {
  if (!outer.named || /^(?:condition|initializer)$/.test(inner.field)) return null;
  const rule = GUARD_RULES.find(([types]) => types.test(outer.type));
  return rule?.[1](code, outer, inner) ?? null;
}

/** What makes a test wait, or fail if its assertions did not all run. */
const WAITS_BEFORE = /\.plan\(|\b(?:assertions|hasAssertions)\(/g;
const WAITS_AFTER =
  /\bawait\b|\.Wait\(|<-|\bSleep\(|\b(?:run(?:All|OnlyPending)\w*|advanceTimers\w*|runMicrotasks|tick)\(/g;
/** A call by which a test, or a promise in it, may be ended: `done()`, `t.end()`, `resolve()`. */
const ENDING_CALL = /(?<![\w$.])([\w$]+)(?:\.(?:end|done))?\s*\(/g;

/** Whether one of some places, in order, is in a part of a text. */
function isAnyIn(
  places: readonly { readonly from: number; readonly to: number }[],
  from: number,
  to: number,
) {
  const first = places[firstFrom({ nodes: places }, from)];
  return first !== undefined && first.to <= to;
}

const matchesIn = (matches: Iterable<RegExpExecArray>) =>
  [...matches].map(({ 0: { length }, index: from }) => ({ from, to: from + length }));

/** Whether a test may wait for what it starts in a node. Only execution says whether it does. */
function waitingIn(
  tree: SyntaxTree,
  mask: string,
): (deferred: SyntaxNode, test: SyntaxNode | null) => boolean {
  const before = matchesIn(mask.matchAll(WAITS_BEFORE));
  const after = matchesIn(mask.matchAll(WAITS_AFTER));
  const calls = Map.groupBy(mask.matchAll(ENDING_CALL), ([, name]) => name);
  const endings = new Map<SyntaxNode, ReturnType<typeof matchesIn>>();
  /** Calls of what a function gets as a parameter. */
  const endingsOf = (called: SyntaxNode) => {
    const list = child(called, 'parameters', 'parameter');
    const names = new Set(list ? wordsIn(tree, list.from, list.to) : []);
    const found = endings.get(called) ?? matchesIn([...names].flatMap((name) => calls.get(name) ?? []));
    if (!endings.has(called))
      endings.set(
        called,
        found.sort((a, b) => a.from - b.from),
      );
    return found;
  };
  return (deferred, test) =>
    test !== null &&
    (isAnyIn(before, test.from, deferred.from) ||
      isAnyIn(after, deferred.to, test.to) ||
      ancestors(deferred, test).some(
        (one) => (isCallback(one) || isFunction(one)) && isAnyIn(endingsOf(one), deferred.from, deferred.to),
      ));
}

const isTried = ({ type }: SyntaxNode): boolean =>
  !HANDLER_NODE.test(type) && !/^(?:finally_clause|ensure|else|else_clause)$/.test(type);

function conditionOf(tree: SyntaxTree, outer: SyntaxNode, inner: SyntaxNode): Guard {
  const condition = child(outer, 'condition') ?? outer.children.find(({ named }) => named);
  const text = condition ? nodeText(tree, condition).slice(0, 100) : '';
  const unless = outer.type.startsWith('unless') || outer.type.startsWith('until');
  const isElse = inner.field === 'alternative' || /^else/.test(inner.type);
  const truth = constantTruth(text);
  // An endless loop is left by its body.
  const isLoop = /^(?:while|until)/.test(outer.type);
  if (truth === null || (isLoop && truth !== unless)) return 'condition';
  return (truth !== unless) === isElse ? 'never' : 'condition';
}

/** `a && check()`: the right side depends on the condition on the left. */
function joinedBy(tree: SyntaxTree, outer: SyntaxNode, inner: SyntaxNode): Guard | null {
  const operator = child(outer, 'operator') ?? outer.children.find(({ named }) => !named);
  const left = child(outer, 'left');
  if (!operator || !/^(?:&&|\|\||and|or|\?\?)$/.test(operator.type) || inner === left) return null;
  return left && constantTruth(nodeText(tree, left)) === !/^(?:&&|and)$/.test(operator.type)
    ? 'never'
    : 'condition';
}

function loopsOverNothing(tree: SyntaxTree, loop: SyntaxNode): boolean {
  const over = child(loop, 'right', 'value');
  return over !== null && EMPTY_ITERABLE.test(nodeText(tree, over).slice(0, 100));
}

/** Maximum characters of a handler, and of a called function's name, that are read. */
const MAX_HANDLER_CHARS = 20_000;
const MAX_CALLEE_CHARS = 200;

const wordsIn = (tree: SyntaxTree, from: number, to: number): readonly string[] =>
  tokensOf(tree, { from, to }).flatMap(({ kind, text }) => (kind === 'word' ? [text] : []));

/** Whether a handler catches a failure inside without rethrowing it. */
function swallows({ tree, swallowing }: Code, block: SyntaxNode): boolean {
  const known = swallowing.get(block) ?? swallowsIn(tree, block);
  swallowing.set(block, known);
  return known;
}

function swallowsIn(tree: SyntaxTree, block: SyntaxNode): boolean {
  const handler = block.children.find(({ type }) => HANDLER_NODE.test(type));
  if (!handler) return false;
  const { from, to } = handler;
  return !wordsIn(tree, from, Math.min(to, from + MAX_HANDLER_CHARS)).some((word) => RETHROWS.test(word));
}

const suppresses = (tree: SyntaxTree, { from, to, children }: SyntaxNode): boolean =>
  wordsIn(tree, from, children.find(({ field }) => field === 'body')?.from ?? to).some((word) =>
    SUPPRESSING_FUNCTIONS.has(word),
  );

/** A function passed to another one that runs it later or catches its errors. */
function guardByCallee({ mask }: Code, outer: SyntaxNode, inner: SyntaxNode): Guard | null {
  if (!/^(?:arguments|argument_list)$/.test(inner.type) && !/^(?:block|do_block)$/.test(inner.type))
    return null;
  const before = mask.slice(Math.max(outer.from, inner.from - MAX_CALLEE_CHARS), inner.from);
  const callee: readonly string[] = before.match(/[A-Za-z_$@][\w$]*/g) ?? [];
  const last = callee.at(-1) ?? '';
  if (SUPPRESSING_FUNCTIONS.has(last)) return 'swallow';
  return DEFERRING_FUNCTIONS.has(last) && (last !== 'register' || callee.includes('atexit')) ? 'later' : null;
}

/** A function that must be called by name. */
const isNamedFunction = (node: SyntaxNode): boolean =>
  isFunction(node) ||
  (isCallback(node) &&
    /^(?:variable_declarator|assignment|assignment_expression)$/.test(node.parent?.type ?? ''));
