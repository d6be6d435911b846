import { child, contentOf, isString, nodeText, type SyntaxNode, type SyntaxTree } from './tree.ts';

/** All values that an expression may have; strings have a quote in front. */
export type ValuesOf = (node: SyntaxNode) => readonly string[];

export const isPlain = ({ type }: SyntaxNode): boolean =>
  /^(?:identifier|constant|this|import|shorthand_property_identifier)$/.test(type);

const MAX_TEXT = 300;
export const LIST = /^(?:array|list|tuple|set|expression_list)$/;
export const WRAPPED =
  /^(?:await_expression|await|parenthesized_expression|as_expression|satisfies_expression|non_null_expression|type_assertion)$/;
/** A string written in parts, joined; null for anything else. */
export function foldedText(node: SyntaxNode, tree: SyntaxTree, valuesOf: ValuesOf): string | null {
  if (
    WRAPPED.test(node.type) ||
    /^(?:index|subscript_argument|interpolation|template_substitution)$/.test(node.type)
  ) {
    const inner = node.children.find(({ named }) => named);
    return inner ? foldedText(inner, tree, valuesOf) : null;
  }
  if (isPlain(node)) {
    const [value, ...more] = valuesOf(node);
    return value?.startsWith('"') && more.length === 0 ? value.slice(1) : null;
  }
  const all = (parts: readonly SyntaxNode[]): string | null => {
    const texts = parts.map((part) => foldedText(part, tree, valuesOf));
    return texts.includes(null) ? null : texts.join('').slice(0, MAX_TEXT);
  };
  if (node.type === 'concatenated_string') return all(node.children.filter(({ named }) => named));
  if (isString(node)) {
    const holes = node.children.filter(({ type }) => /^(?:interpolation|template_substitution)$/.test(type));
    if (holes.length === 0) return contentOf(nodeText(tree, node)).slice(0, MAX_TEXT);
    return withHoles(node, holes, tree, all);
  }
  const [left, right] = [child(node, 'left'), child(node, 'right')];
  if (/^binary_(?:expression|operator)$/.test(node.type) && left && right)
    return node.children.some(({ type }) => type === '+') ? all([left, right]) : null;
  return joinedText(node, all);
}

function withHoles(
  node: SyntaxNode,
  holes: readonly SyntaxNode[],
  tree: SyntaxTree,
  all: (parts: readonly SyntaxNode[]) => string | null,
): string | null {
  const own = nodeText(tree, node);
  const start = /^[a-zA-Z]*["'`]+/.exec(own)?.[0].length ?? 1;
  const parts: (string | null)[] = [];
  let done = node.from + start;
  for (const hole of holes) {
    parts.push(tree.text.slice(done, hole.from), all([hole]));
    done = hole.to;
  }
  parts.push(tree.text.slice(done, node.to).replace(/["'`]+$/, ''));
  return parts.includes(null) ? null : parts.join('').slice(0, MAX_TEXT);
}

/** `['as', 'sert'].join('')` and `'as'.concat('sert')`. */
function joinedText(node: SyntaxNode, all: (parts: readonly SyntaxNode[]) => string | null): string | null {
  const [called, list] = [child(node, 'function'), child(node, 'arguments')];
  const of = called ? child(called, 'object') : null;
  const name = called ? child(called, 'property', 'attribute') : null;
  if (!called || !list || !of || !name) return null;
  const given = list.children.filter(({ named }) => named);
  const isJoin = name.to - name.from === 'join'.length;
  if (LIST.test(of.type) && isJoin) {
    const separator = given[0] ? all([given[0]]) : ',';
    const items = of.children.filter(({ named }) => named).map((item) => all([item]));
    return separator === null || items.includes(null) ? null : items.join(separator);
  }
  // Python's order: `''.join(['as', 'sert'])`.
  if (isString(of) && isJoin && given[0] && LIST.test(given[0].type)) {
    const items = given[0].children.filter(({ named }) => named).map((item) => all([item]));
    const separator = all([of]);
    return separator === null || items.includes(null) ? null : items.join(separator);
  }
  return isString(of) && name.to - name.from === 'concat'.length ? all([of, ...given]) : null;
}
