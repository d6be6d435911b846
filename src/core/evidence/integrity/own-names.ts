import {
  ancestors,
  child,
  type Grammar,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
} from '../../source/index.ts';

const GRAMMARS: ReadonlySet<Grammar> = new Set<Grammar>(['tsx', 'typescript', 'python']);
const DECLARES =
  /^(?:(?:generator_)?function_declaration|class_declaration|function_definition|class_definition)$/;
const ASSIGNS = /^(?:variable_declarator|assignment)$/;
/** Values that the text itself makes. What a call returns, or another name stands for, may be a library. */
const OWN_VALUE =
  /^(?:arrow_function|function|function_expression|generator_function|class|object|array|number|string|template_string|true|false|null|dictionary|list|lambda|integer)$/;
const SCOPE = /^(?:program|module|statement_block|block)$/;

/**
 * Whether a name probably means, at an offset, what the text declares around it, as a parser's own function `expect`, and
 * not the library or built-in of that name. `bound`: names that stand for something else, such as a library, anywhere.
 */
export function ownNames(
  tree: SyntaxTree,
  bound: ReadonlySet<string>,
): (name: string | undefined, at: number) => boolean {
  const scopes = new Map<string, SyntaxNode[]>();
  for (const node of GRAMMARS.has(tree.grammar) ? tree.nodes : []) {
    const name = declaredName(tree, node);
    const scope = name === null ? undefined : ancestors(node).find(({ type }) => SCOPE.test(type));
    if (name === null || !scope || bound.has(name)) continue;
    scopes.set(name, [...(scopes.get(name) ?? []), scope]);
  }
  return (name, at) =>
    name !== undefined && (scopes.get(name) ?? []).some(({ from, to }) => from <= at && at < to);
}

function declaredName(tree: SyntaxTree, node: SyntaxNode): string | null {
  const isDeclaration = DECLARES.test(node.type);
  if (!isDeclaration && !ASSIGNS.test(node.type)) return null;
  const name = child(node, 'name', 'left');
  const value = isDeclaration ? null : child(node, 'value', 'right');
  const isOwn = isDeclaration || (value !== null && value !== undefined && OWN_VALUE.test(value.type));
  return name && isOwn && /identifier$/.test(name.type) ? nodeText(tree, name) : null;
}
