import { child, nodeText, type SyntaxNode, type SyntaxTree } from './tree.ts';

export const FUNCTION =
  /^(?:arrow_function|function_expression|function_declaration|generator_function|generator_function_declaration|function|method_definition|function_definition|lambda)$/;

/** The functions of a text by their names. */
export function functionsByName(tree: SyntaxTree): ReadonlyMap<string, readonly SyntaxNode[]> {
  const named = tree.nodes.flatMap((node): [string, SyntaxNode][] => {
    const name = child(node, 'name', 'left', 'key');
    const own = FUNCTION.test(node.type) ? node : child(node, 'value', 'right');
    return name && own && FUNCTION.test(own.type) ? [[nodeText(tree, name), own]] : [];
  });
  const groups = Map.groupBy(named, ([name]) => name);
  return new Map([...groups].map(([name, all]) => [name, all.map(([, node]) => node)]));
}

/** A function, perhaps in brackets. */
export const functionsIn = (node: SyntaxNode): readonly SyntaxNode[] =>
  FUNCTION.test(node.type)
    ? [node]
    : /^parenthesized/.test(node.type)
      ? node.children.flatMap(functionsIn)
      : [];

export function parametersOf(called: SyntaxNode): readonly SyntaxNode[] {
  const single = child(called, 'parameter');
  if (single) return [single];
  return (child(called, 'parameters')?.children ?? []).filter(
    ({ named, type }) => named && !/comment/.test(type),
  );
}

export const isName = ({ type }: SyntaxNode): boolean => /^(?:identifier|constant|this)$/.test(type);

/** Whether a function or loop gives a value this name, as a parameter or for each item. */
export function introducesName(tree: SyntaxTree, node: SyntaxNode, name: string): boolean {
  const isLoop = /^(?:for_in_statement|for_in_clause|for_statement)$/.test(node.type);
  // `for (test of all)` without a keyword assigns to a variable that exists.
  const isOwn = tree.grammar === 'python' || child(node, 'kind') !== null;
  const left = isLoop && isOwn ? child(node, 'left') : null;
  const targets = FUNCTION.test(node.type) ? parametersOf(node) : left ? [left] : [];
  return targets.some((target) => patternHas(tree, target, name));
}

/** Whether a pattern gives a value this name; defaults and types do not. */
function patternHas(tree: SyntaxTree, target: SyntaxNode, name: string): boolean {
  if (isName(target) || target.type === 'shorthand_property_identifier_pattern')
    return nodeText(tree, target) === name;
  const inner =
    target.type === 'pair_pattern' ? child(target, 'value') : child(target, 'pattern', 'name', 'left');
  if (inner) return patternHas(tree, inner, name);
  return (
    /^(?:object_pattern|array_pattern|rest_pattern|typed_parameter|tuple_pattern|pattern_list)$/.test(
      target.type,
    ) &&
    target.children
      .slice(0, target.type === 'typed_parameter' ? 1 : undefined)
      .some((each) => patternHas(tree, each, name))
  );
}
