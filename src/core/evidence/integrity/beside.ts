import {
  ancestors,
  child,
  contentOf,
  nodesWithin,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
  tokensOf,
  type Use,
} from '../../source/index.ts';

type Part = Pick<SyntaxNode, 'from' | 'to'>;

/** Maximum characters that are read in one direction. */
const MAX_CHARS_BESIDE = 2_000;
/** Lines that are read together where a text does not parse, because a check may span several. */
const MAX_LINES_BESIDE = 4;
const STATEMENT = /statement|declaration|declarator|^(?:assignment|match_arm|for_expression)$/;
const BLOCK =
  /^(?:body_statement|block|block_body|program|then|else|do|do_block|begin|ensure|rescue|module|source_file|compound_statement|statement_block|statement_list|class_body|declaration_list|translation_unit|compilation_unit|switch_section|switch_block_statement_group)$/;
const SWITCH =
  /^(?:switch_statement|switch_expression|expression_switch_statement|match_expression|match_statement|case)$/;
const CASE = /^(?:switch_case|case_statement|expression_case|case_clause|switch_label|when)$/;

/** Texts in quotes in a part of a text. */
export function textsIn(tree: SyntaxTree, part: Part): readonly string[] {
  const { from, to } = { from: part.from, to: Math.min(part.to, part.from + MAX_CHARS_BESIDE) };
  // In a text that does not parse, quotes may be unbalanced.
  const loose = tree.isBroken ? tree.text.slice(from, to).matchAll(/(['"])([^'"\n]*)\1/g) : [];
  return [
    ...stringsIn(tree, { from, to }).map(({ text }) => contentOf(text)),
    ...[...loose].map(([, , text = '']) => text),
  ];
}

const stringsIn = (tree: SyntaxTree, part: Part) =>
  tokensOf(tree, part).filter(({ kind }) => kind === 'string');

/**
 * Texts that a value may be compared with: those in its statement, or in the condition alone. What else a method does
 * says nothing about the value, and neither does what depends on the condition.
 */
export function textsBeside(tree: SyntaxTree, { node, from }: Pick<Use, 'node' | 'from'>): readonly string[] {
  if (tree.isBroken) return textsIn(tree, linesFrom(tree, from));
  const { place, isSwitch } = comparisonOf(node);
  const part = {
    from: Math.max(place.from, from - MAX_CHARS_BESIDE),
    to: Math.min(place.to, from + MAX_CHARS_BESIDE),
  };
  const apart = [...nodesWithin(tree, part)].filter(
    (each) =>
      BLOCK.test(each.type) && each !== place && (each.parent === place ? isBody(each) : hasSeveral(each)),
  );
  return [
    ...stringsIn(tree, part)
      .filter((each) => !apart.some(({ from, to }) => from <= each.from && each.to <= to))
      .filter((each) => !isSwitch || isLabel(tree, each))
      .map(({ text }) => contentOf(text)),
    ...conditionsOn(tree, place).flatMap((each) => textsIn(tree, each)),
  ];
}

function linesFrom({ text }: SyntaxTree, offset: number): Part {
  const from = text.lastIndexOf('\n', offset - 1) + 1;
  let to = from;
  for (let line = 0; line < MAX_LINES_BESIDE && to < text.length; line++) {
    const end = text.indexOf('\n', to);
    to = end < 0 ? text.length : end + 1;
  }
  return { from, to };
}

/** The condition, the statement, or the switch whose labels a value is compared with. */
function comparisonOf(node: SyntaxNode): { readonly place: SyntaxNode; readonly isSwitch: boolean } {
  let at = node;
  for (const parent of ancestors(node)) {
    if (/^(?:value|condition|subject)$/.test(at.field) && SWITCH.test(parent.type))
      return { place: parent, isSwitch: true };
    const isWhole = at.field === 'condition' || STATEMENT.test(at.type);
    if (isWhole || CASE.test(parent.type) || BLOCK.test(parent.type)) break;
    if (at.field === 'body' && STATEMENT.test(parent.type)) break;
    at = parent;
  }
  return { place: at, isSwitch: false };
}

/** A block of a function that is passed on may be all there is of a comparison. */
const isBody = (block: SyntaxNode): boolean =>
  block.parent !== null && (STATEMENT.test(block.parent.type) || hasSeveral(block));
const hasSeveral = ({ children }: SyntaxNode): boolean =>
  children.filter(({ named, type }) => named && !/parameters|comment/.test(type)).length > 1;

/** `case "test":`, `when 'test'`, `"test" =>`. */
function isLabel({ text }: SyntaxTree, { from, to }: Part): boolean {
  const end = text.indexOf('\n', to);
  const [before, after] = [
    text.slice(Math.max(text.lastIndexOf('\n', from) + 1, from - 200), from),
    text.slice(to, end < 0 ? to + 200 : Math.min(end, to + 200)),
  ].map((each) => each.replace(/"[^"]*"|'[^']*'/g, '""'));
  return (
    /(?<!\w)(?:case|when)\b(?:(?!:|->|=>|\bthen\b).)*$/.test(before ?? '') || /^[^{};]*?=>/.test(after ?? '')
  );
}

/** What is returned or done depending on a variable that is given a value here. */
function conditionsOn(tree: SyntaxTree, place: SyntaxNode): readonly SyntaxNode[] {
  const name = child(place, 'name', 'left', 'pattern');
  const block = ancestors(place).find(({ type }) => BLOCK.test(type));
  if (!name || !block) return [];
  // Go and Python give several variables a value at once.
  const names = new Set(namesWithin(tree, name).filter((each) => each !== '_'));
  const after = { from: place.to, to: Math.min(block.to, place.to + MAX_CHARS_BESIDE) };
  return [...nodesWithin(tree, after)].filter(
    (each) =>
      (each.field === 'condition' || each.type === 'return_statement') &&
      namesWithin(tree, each).some((word) => names.has(word)),
  );
}

const namesWithin = (tree: SyntaxTree, node: SyntaxNode): readonly string[] =>
  nodeText(tree, node)
    .split(/[^\w$]+/)
    .filter((word) => word !== '');
