import {
  ancestors,
  child,
  contentOf,
  firstFrom,
  introducesName,
  nodeText,
  type SyntaxNode,
  type SyntaxTree,
  stringNodes,
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

export const RUNNER_NAME =
  /pytest|unittest|(?<![a-z])nose(?:tests|2)?(?![a-z])|(?<![a-z])(?:jest|mocha|jasmine)|vitest|junit|rspec|minitest|phpunit|xunit|nunit|testhost|vstest|surefire|nextest|testing\.tRunner|RUST_TEST|^--test-threads/i;
const TEST_WORD = /(?<![a-z])(?:tests?|specs?)(?![a-z])/i;

/** What stands beside the values of one text. */
export interface Beside {
  /**
   * Texts that name tests and with which a value may be compared: those in its statement, or in the condition alone.
   * What else a method does says nothing about the value, and neither does what depends on the condition.
   */
  readonly testNames: (use: Pick<Use, 'node' | 'from'>) => readonly string[];
  /** Texts in quotes in a node. */
  readonly texts: (node: SyntaxNode) => readonly string[];
  /** Whether a function or loop gives a value this name. */
  readonly introduces: (outer: SyntaxNode, name: string) => boolean;
}

interface QuotedText extends Part {
  readonly text: string;
  /** Null for one that was found by its quotes alone. */
  readonly node: SyntaxNode | null;
}

/**
 * Finds all names of tests of a text once: each value then looks at those around it, and not at all that stands there.
 */
export function besideIn(tree: SyntaxTree): Beside {
  // In a text that does not parse, quotes may be unbalanced.
  const loose = tree.isBroken ? [...tree.text.matchAll(/(['"])([^'"\n]*)\1/g)] : [];
  const all: readonly QuotedText[] = [
    ...[...stringNodes(tree)].map((node) => {
      const { from, to } = node;
      return { from, to, text: contentOf(nodeText(tree, node)), node };
    }),
    ...loose.map(({ 0: whole, 2: text = '', index: from }) => ({
      from,
      to: from + whole.length,
      text,
      node: null,
    })),
  ].sort((a, b) => a.from - b.from || b.to - a.to);
  const names = all.filter(({ text }) => RUNNER_NAME.test(text) || TEST_WORD.test(text));
  const within = (texts: readonly QuotedText[], part: Part) => outermost(texts, part, tree.isBroken);
  const namesIn = once((node: SyntaxNode) => within(names, firstChars(node)).map(({ text }) => text));
  const dependent = once((place: SyntaxNode) => conditionsOn(tree, place, names).flatMap(namesIn));
  const isLabelled = once((one: QuotedText) => isLabel(tree, one));
  const introducing = once((name: string) => once((outer: SyntaxNode) => introducesName(tree, outer, name)));
  return {
    introduces: (outer, name) => introducing(name)(outer),
    texts: once((node: SyntaxNode) => within(all, firstChars(node)).map(({ text }) => text)),
    testNames: ({ node, from }) => {
      if (names.length === 0) return [];
      if (tree.isBroken) return within(names, firstChars(linesFrom(tree, from))).map(({ text }) => text);
      const { place, isSwitch } = comparisonOf(node);
      const part = {
        from: Math.max(place.from, from - MAX_CHARS_BESIDE),
        to: Math.min(place.to, from + MAX_CHARS_BESIDE),
      };
      return [
        ...within(names, part)
          .filter((each) => !isApart(each, place, part) && (!isSwitch || isLabelled(each)))
          .map(({ text }) => text),
        ...dependent(place),
      ];
    },
  };
}

/** A function whose answer for each argument is computed once. */
function once<K, V>(answer: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    const found = known.has(key) ? (known.get(key) as V) : answer(key);
    known.set(key, found);
    return found;
  };
}

const firstChars = ({ from, to }: Part): Part => ({ from, to: Math.min(to, from + MAX_CHARS_BESIDE) });

/** The texts in a part; those within others are left out unless quotes are unreliable. */
function outermost(
  sorted: readonly QuotedText[],
  { from, to }: Part,
  withInner: boolean,
): readonly QuotedText[] {
  const found: QuotedText[] = [];
  let done = from;
  for (let i = firstFrom({ nodes: sorted }, from); i < sorted.length; i++) {
    const one = sorted[i] as QuotedText;
    if (one.from >= to) break;
    if (one.to > to || (one.from < done && !withInner)) continue;
    found.push(one);
    done = one.to;
  }
  return found;
}

/** Whether a text is in a block of its own, and so in no comparison with the value whose statement is `place`. */
function isApart({ node }: QuotedText, place: SyntaxNode, part: Part): boolean {
  for (let at = node?.parent ?? null; at && at !== place; at = at.parent) {
    if (!BLOCK.test(at.type)) continue;
    // What is around this block is not within the part either.
    if (at.from < part.from || at.to > part.to) return false;
    if (at.parent === place ? isBody(at) : hasSeveral(at)) return true;
  }
  return false;
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
  for (let parent = node.parent; parent; parent = parent.parent) {
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

/** What is returned or done depending on a variable that is given a value here, and names tests. */
function conditionsOn(
  tree: SyntaxTree,
  place: SyntaxNode,
  texts: readonly QuotedText[],
): readonly SyntaxNode[] {
  const name = child(place, 'name', 'left', 'pattern');
  const block = ancestors(place).find(({ type }) => BLOCK.test(type));
  if (!name || !block) return [];
  // Go and Python give several variables a value at once.
  const names = new Set(namesWithin(tree, name).filter((each) => each !== '_'));
  const after = { from: place.to, to: Math.min(block.to, place.to + MAX_CHARS_BESIDE) };
  const found = new Set<SyntaxNode>();
  for (const { node } of outermost(texts, after, false))
    for (let at = node; at && at.from >= after.from && at.to <= after.to; at = at.parent)
      if (at.field === 'condition' || at.type === 'return_statement') found.add(at);
  return [...found].filter((each) => namesWithin(tree, each).some((word) => names.has(word)));
}

const namesWithin = (tree: SyntaxTree, node: SyntaxNode): readonly string[] =>
  nodeText(tree, node)
    .split(/[^\w$]+/)
    .filter((word) => word !== '');
