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
