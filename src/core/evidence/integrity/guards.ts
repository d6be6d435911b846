import { ancestors, child, type SyntaxNode, type SyntaxTree, textOf, tokensOf } from '../../source/index.ts';
import { isCallback, isFunction } from './cases.ts';

/** What keeps code from running, or its failure from being seen. */
export type Guard = 'condition' | 'swallow' | 'never' | 'later' | 'function';

const IF =
  /^(?:if|if_statement|if_expression|elif_clause|else_if_clause|elsif|unless|if_modifier|unless_modifier|conditional_expression|ternary_expression|conditional|while|while_statement|while_expression|until|while_modifier|until_modifier)$/;
const BRANCH =
  /^(?:else|else_clause|catch_clause|except_clause|except_group_clause|rescue|switch_case|switch_default|case_clause|expression_case|default_case|type_case|match_arm|match_conditional_expression|when|switch_section|switch_block_statement_group|switch_rule|case_statement|case_item)$/;
const FOR =
  /^(?:for_statement|for_in_statement|foreach_statement|for|for_expression|enhanced_for_statement)$/;
/** Blocks that may have handlers; those of Ruby need no `begin`. */
const TRIES = /^(?:try_statement|try_expression|try_with_resources_statement|begin|body_statement|do_block)$/;
const OPERATION = /^(?:binary_expression|boolean_operator|binary|logical_expression)$/;
const HANDLER = /^(?:catch_clause|except_clause|except_group_clause|rescue)$/;
const LATER = new Set(
  'setTimeout setImmediate setInterval queueMicrotask nextTick requestAnimationFrame requestIdleCallback at_exit register'.split(
    ' ',
  ),
);
const SUPPRESSES = new Set('suppress catch_unwind Try'.split(' '));
const NO = /^\(?(?:false|0|False|!1|!true|not True|nil|None)\)?$/;
const YES = /^\(?(?:true|1|True)\)?$/;
const EMPTY = /^(?:\[\s*\]|\(\s*\)|range\(0\))$/;
/** A handler that says one of these passes the failure on. */
const PASSES_ON = /^(?:throw|raise|rethrow|reject\w*|fail\w*|expect|assert\w*|done|panic|Errorf?|Fatalf?)$/;

/** What the nodes around a node, up to `until`, do to it; functions that are tests are called by their runner. */
export function guardsOf(
  tree: SyntaxTree,
  node: SyntaxNode,
  until: SyntaxNode | null,
  tests: ReadonlySet<SyntaxNode> = new Set(),
): readonly Guard[] {
  let inner = node;
  return ancestors(node, until).flatMap((outer) => {
    const guard = tests.has(outer) ? null : guardBy(tree, outer, inner);
    inner = outer;
    return guard ? [guard] : [];
  });
}

/** What a node of some type does to one inside of it; the first that fits counts. */
const RULES: readonly (readonly [
  RegExp,
  (tree: SyntaxTree, outer: SyntaxNode, inner: SyntaxNode) => Guard | null,
])[] = [
  [IF, conditionOf],
  [BRANCH, (_, outer, inner) => (inner.field === 'value' && !HANDLER.test(outer.type) ? null : 'condition')],
  [OPERATION, joinedBy],
  [FOR, (tree, outer) => (isEmpty(tree, outer) ? 'never' : null)],
  [TRIES, (tree, outer, inner) => (isTried(inner) && swallows(tree, outer) ? 'swallow' : null)],
  [
    /^with_statement$/,
    (tree, outer, inner) => (inner.field === 'body' && suppresses(tree, outer) ? 'swallow' : null),
  ],
  [/^go_statement$/, () => 'later'],
  [/./, (tree, outer, inner) => called(tree, outer, inner) ?? (isNamedFunction(outer) ? 'function' : null)],
];

function guardBy(tree: SyntaxTree, outer: SyntaxNode, inner: SyntaxNode): Guard | null {
  if (!outer.named || /^(?:condition|initializer)$/.test(inner.field)) return null;
  const rule = RULES.find(([types]) => types.test(outer.type));
  return rule?.[1](tree, outer, inner) ?? null;
}

const isTried = ({ type }: SyntaxNode): boolean =>
  !HANDLER.test(type) && !/^(?:finally_clause|ensure|else|else_clause)$/.test(type);

function conditionOf(tree: SyntaxTree, outer: SyntaxNode, inner: SyntaxNode): Guard {
  const condition = child(outer, 'condition') ?? outer.children.find(({ named }) => named);
  const text = condition ? textOf(tree, condition).slice(0, 100) : '';
  const unless = outer.type.startsWith('unless') || outer.type.startsWith('until');
  const isElse = inner.field === 'alternative' || /^else/.test(inner.type);
  return (unless ? YES : NO).test(text) && !isElse ? 'never' : 'condition';
}

/** `a && check()`: the right side runs only under the condition of the left one. */
function joinedBy(tree: SyntaxTree, outer: SyntaxNode, inner: SyntaxNode): Guard | null {
  const operator = child(outer, 'operator') ?? outer.children.find(({ named }) => !named);
  const left = child(outer, 'left');
  if (!operator || !/^(?:&&|\|\||and|or|\?\?)$/.test(operator.type) || inner === left) return null;
  return left && operator.type === '&&' && NO.test(textOf(tree, left)) ? 'never' : 'condition';
}

function isEmpty(tree: SyntaxTree, loop: SyntaxNode): boolean {
  const over = child(loop, 'right', 'value');
  return over !== null && EMPTY.test(textOf(tree, over).slice(0, 100));
}

/** Longest handler, and longest name of a function that is called, that is read. */
const LONGEST_HANDLER = 20_000;
const LONGEST_NAME = 200;

const wordsIn = (tree: SyntaxTree, from: number, to: number): readonly string[] =>
  tokensOf(tree, { from, to }).flatMap(({ kind, text }) => (kind === 'word' ? [text] : []));

/** Is a failure inside caught by what follows, and not passed on? */
function swallows(tree: SyntaxTree, block: SyntaxNode): boolean {
  const handler = block.children.find(({ type }) => HANDLER.test(type));
  if (!handler) return false;
  const { from, to } = handler;
  return !wordsIn(tree, from, Math.min(to, from + LONGEST_HANDLER)).some((word) => PASSES_ON.test(word));
}

const suppresses = (tree: SyntaxTree, { from, to, children }: SyntaxNode): boolean =>
  wordsIn(tree, from, children.find(({ field }) => field === 'body')?.from ?? to).some((word) =>
    SUPPRESSES.has(word),
  );

/** A function that is given to something which runs it later, or catches what it throws. */
function called(tree: SyntaxTree, outer: SyntaxNode, inner: SyntaxNode): Guard | null {
  if (!/^(?:arguments|argument_list)$/.test(inner.type) && !/^(?:block|do_block)$/.test(inner.type))
    return null;
  const callee = wordsIn(tree, Math.max(outer.from, inner.from - LONGEST_NAME), inner.from);
  const last = callee.at(-1) ?? '';
  if (SUPPRESSES.has(last)) return 'swallow';
  return LATER.has(last) && (last !== 'register' || callee.includes('atexit')) ? 'later' : null;
}

/** A function that somebody must call by its name. */
const isNamedFunction = (node: SyntaxNode): boolean =>
  isFunction(node) ||
  (isCallback(node) &&
    /^(?:variable_declarator|assignment|assignment_expression)$/.test(node.parent?.type ?? ''));
