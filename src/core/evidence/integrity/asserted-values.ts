import {
  child,
  firstFrom,
  type NestedParts,
  nestedParts,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
} from '../../source/index.ts';
import type { Assertion, ParsedTests } from './assertions.ts';
import { isCallback, isFunction } from './cases.ts';
import type { Side } from './view.ts';

/** Whether the variable that a line belongs to occurs in an assertion, directly or by others made from it. */
export function assertedValues({
  side,
  assertions,
}: ParsedTests): (line: { readonly index: number }) => boolean {
  const { tree } = side;
  if (!tree) return () => false;
  const bindings = nestedParts(tree.nodes.filter(({ type }) => BINDING.test(type)));
  const functions = nestedParts(tree.nodes.filter((node) => isCallback(node) || isFunction(node)));
  let names: ReadonlySet<string> | null = null;
  return ({ index }) => {
    const name = boundName(
      tree,
      { bindings, functions },
      side.starts[index] ?? 0,
      side.starts[index + 1] ?? 0,
    );
    names ??= name === null ? null : assertedNames(side, tree, assertions);
    return name !== null && (names?.has(name) ?? false);
  };
}

const WORD = /[\w$]+/g;

/**
 * Names in assertions, and in the values of variables that are among them. Backwards from the assertions, each word of
 * the text is read once.
 */
function assertedNames(
  { code }: Side,
  tree: SyntaxTree,
  assertions: readonly Assertion[],
): ReadonlySet<string> {
  const bindings = tree.nodes.filter(({ type }) => BINDING.test(type));
  const byName = Map.groupBy(bindings, (node) => targetName(tree, node));
  const words = [...code.matchAll(WORD)].map(({ 0: text, index: from }) => ({ text, from }));
  const read = words.map(() => false);
  const names = new Set<string>();
  const waiting: { readonly from: number; readonly to: number }[] = [];
  const readWords = ({ from, to }: { readonly from: number; readonly to: number }) => {
    for (let i = firstFrom({ nodes: words }, from); i < words.length && (words[i]?.from ?? to) < to; i++) {
      if (read[i]) continue;
      read[i] = true;
      const { text } = words[i] as { text: string };
      if (names.has(text)) continue;
      names.add(text);
      waiting.push(...(byName.get(text) ?? []));
    }
  };
  for (const { at, end } of assertions) readWords({ from: at, to: end });
  for (let next = waiting.pop(); next; next = waiting.pop()) readWords(next);
  return names;
}

const BINDING =
  /^(?:variable_declarator|assignment|assignment_expression|assignment_statement|short_var_declaration|const_spec|var_spec|let_declaration|const_item|static_item|init_declarator)$/;

/** The variable whose value has a line, or a part of it; null for none. */
function boundName(
  tree: SyntaxTree,
  { bindings, functions }: Readonly<Record<'bindings' | 'functions', NestedParts<SyntaxNode>>>,
  from: number,
  to: number,
): string | null {
  const node = bindings.last(to, from);
  if (!node) return null;
  const around = functions.around(from, (one) => one.from < from);
  const isInside = around !== null && around.from >= node.from;
  return isInside || (node.from < from && node.to <= from) ? null : targetName(tree, node);
}

const targetName = (tree: SyntaxTree, node: SyntaxNode): string | null => {
  const target = child(node, 'name', 'left', 'pattern', 'declarator');
  return target ? (/[\w$]+/.exec(nodeText(tree, target).slice(0, 200))?.[0] ?? null) : null;
};
