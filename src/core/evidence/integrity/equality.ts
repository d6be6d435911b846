import { child, nodeText, type SyntaxNode, type SyntaxTree, tokensOf } from '../../source/index.ts';
import { isCallback, isFunction } from './cases.ts';
import type { CodeRule } from './exit-rules.ts';

const EQUALITY =
  /^(?:__eq__|__ne__|equals|Equals|eq|==|operator\s*==|\[Symbol\.hasInstance\]|__instancecheck__)$/;
/** Maximum characters of a body that are read. */
const MAX_BODY = 400;

const rule = (what: string, isQuestion: boolean): CodeRule => ({
  kind: 'assertions-patched',
  what,
  onlyInProduction: true,
  isQuestion,
  fits: () => true,
});
const EQUAL_TO_ALL = rule('makes objects equal to everything', false);
const EQUAL_BY_TYPE = rule('makes objects equal to everything of a type', true);

/** Detects a comparison that is always true. */
export function equalityRule(tree: SyntaxTree, node: SyntaxNode): CodeRule | null {
  const found = comparison(tree, node);
  if (!found) return null;
  const { name, own } = found;
  const body = child(own, 'body');
  if (!body) return null;
  const part = { from: body.from, to: Math.min(body.to, body.from + MAX_BODY) };
  const words = tokensOf(tree, part).flatMap((one) => (one.kind === 'word' ? [one.text] : []));
  const said = words.join(' ').replace(/^return /, '');
  if (/^[fF]alse$/.test(said)) return name === '__ne__' ? EQUAL_TO_ALL : null;
  if (/^[tT]rue$/.test(said)) return name === '__ne__' ? null : EQUAL_TO_ALL;
  const other = otherOf(tree, own);
  if (other === null || body.to - body.from > MAX_BODY) return null;
  const raises = words.some((word) => /^(?:raise|throw|super|NotImplemented|arguments)$/.test(word));
  if (!words.includes(other)) return raises || said === '' ? null : EQUAL_TO_ALL;
  const text = tree.text.slice(part.from, part.to);
  const types = new RegExp(
    `\\bisinstance\\s*\\(\\s*${other}\\s*,\\s*(\\w+)\\s*\\)|\\b${other}\\s+instanceof\\s+(\\w+)`,
    'g',
  );
  const all = [...text.matchAll(types)];
  const uses = words.filter((word) => word === other).length;
  if (all.some(([, one, two]) => /^(?:object|Object)$/.test(one ?? two ?? ''))) return EQUAL_TO_ALL;
  const returnsType = all.some(
    ({ index }) => /(?:return|=>|:)\s*$/.test(text.slice(0, index)) || index === 0,
  );
  return all.length === uses && returnsType ? EQUAL_BY_TYPE : null;
}

/** A declared or assigned comparison function. */
function comparison(
  tree: SyntaxTree,
  node: SyntaxNode,
): { readonly name: string; readonly own: SyntaxNode } | null {
  const target = child(node, 'name', 'declarator', 'key', 'left');
  const own = isFunction(node) ? node : child(node, 'right', 'value');
  if (!target || !own || !(isFunction(own) || isCallback(own))) return null;
  const name =
    nodeText(tree, target)
      .slice(-60)
      .split(/\.(?!hasInstance)/)
      .at(-1) ?? '';
  return EQUALITY.test(name) ? { name, own } : null;
}

/** The operand to compare with: the last parameter; null if it is destructured or unnamed. */
function otherOf(tree: SyntaxTree, own: SyntaxNode): string | null {
  if (tree.grammar !== 'python' && tree.grammar !== 'tsx' && tree.grammar !== 'typescript') return null;
  const list = child(own, 'parameters', 'parameter');
  const all = (list?.children ?? []).filter(({ named }) => named);
  const last = all.at(-1);
  const name =
    last &&
    (child(last, 'pattern', 'name') ?? last.children.find(({ type }) => type === 'identifier') ?? last);
  if (!name) return tree.grammar === 'python' ? null : '';
  return name.type === 'identifier' ? nodeText(tree, name) : null;
}
