import { child, contentOf, isString, NO_FIELDS, nodeText, type SyntaxNode, type SyntaxTree } from './tree.ts';

/** One step of a chain: `.name`, `.name(args)`, `['name']`, or `(args)` on the previous step. */
export interface ChainLink {
  /** Empty for a value without a name, and for a call of a call's result. */
  readonly name: string;
  /** Null if it is not a call. */
  readonly args: readonly SyntaxNode[] | null;
  /** Where the step ends. */
  readonly to: number;
  /** A value without a name: the start of a chain, or an index expression. */
  readonly value?: SyntaxNode;
}

/** A chain of names and calls, such as `expect(x).not.toBe(3)`, at its full length. */
export interface Chain {
  readonly node: SyntaxNode;
  readonly from: number;
  readonly to: number;
  readonly links: readonly ChainLink[];
}

/** The node before the name or the arguments. */
const HEADS = [
  'function',
  'macro',
  'object',
  'receiver',
  'operand',
  'scope',
  'path',
  'expression',
  'value',
  'argument',
  'constructor',
];
const NAME_FIELDS = ['property', 'attribute', 'field', 'method', 'name', 'index', 'subscript'];
const ARGUMENT_NODE = /^(?:arguments|argument_list|token_tree|type_arguments_call)$/;
const STEP_NODE =
  /^(?:call|call_expression|new_expression|macro_invocation|method_invocation|invocation_expression|object_creation_expression|function_call_expression|member_call_expression|nullsafe_member_call_expression|scoped_call_expression|member_expression|attribute|selector_expression|field_expression|field_access|member_access_expression|conditional_access_expression|member_binding_expression|nullsafe_member_access_expression|scoped_identifier|qualified_identifier|qualified_name|scope_resolution|class_constant_access_expression|scoped_property_access_expression|subscript_expression|subscript|element_reference|element_access_expression|non_null_expression|generic_function|template_function|await_expression|instantiation_expression|annotation|marker_annotation)$/;
const NAME_NODE =
  /identifier$|^(?:name|variable_name|constant|this|self|super|import|global_variable|type_identifier|package_identifier|command_name|word|instance_variable|meta_property|predefined_type|namespace_name)$/;

const isStep = ({ type, named }: SyntaxNode): boolean => named && STEP_NODE.test(type);

/** The node that a step continues; null at the start. */
function chainHead(node: SyntaxNode): SyntaxNode | null {
  if (/^(?:non_null_expression|await_expression)$/.test(node.type))
    return node.children.find(({ named }) => named) ?? null;
  if (/^(?:marker_)?annotation$/.test(node.type)) return child(node, 'name');
  const head = child(node, ...HEADS) ?? child(node, 'condition');
  if (head) return head;
  // Without fields: the first named child, unless it is the only one.
  const [first, second] = node.children.filter(({ named, type }) => named && !ARGUMENT_NODE.test(type));
  return first && (second || argumentList(node)) && first.field === '' ? first : null;
}

const argumentList = (node: SyntaxNode): SyntaxNode | null =>
  /subscript|element_/.test(node.type)
    ? null
    : (child(node, 'arguments') ??
      node.children.find(({ type, field }) => ARGUMENT_NODE.test(type) && field === '') ??
      null);

/** Several nodes in place of one that the grammar lacks. */
export const TOKENS = { type: 'tokens', field: '', fields: NO_FIELDS, role: 'other' } as const;

/** The arguments between brackets; those of a macro are split at commas. */
function argumentNodes(list: SyntaxNode): readonly SyntaxNode[] {
  if (list.type !== 'token_tree')
    return list.children.filter(({ named, type }) => named && !/comment/.test(type)).map(unwrapped);
  const groups: SyntaxNode[][] = [[]];
  for (const each of list.children.slice(1, -1)) {
    if (each.type === ',') groups.push([]);
    else groups.at(-1)?.push(each);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    const last = group.at(-1);
    if (!first || !last) return [];
    return [group.length === 1 ? first : { ...first, ...TOKENS, to: last.to, children: group }];
  });
}

const unwrapped = (node: SyntaxNode): SyntaxNode =>
  /^(?:argument|attribute_argument)$/.test(node.type) && node.children.length === 1
    ? (node.children[0] as SyntaxNode)
    : node;

/** The name of an index expression. */
export const COMPUTED = '[]';

/** The name of a node; a string in brackets counts as one. */
function nameIn(node: SyntaxNode, tree: SyntaxTree): string | null {
  if (isString(node)) return contentOf(nodeText(tree, node));
  if (/^(?:index|subscript)$/.test(node.field)) return COMPUTED;
  if (/generic|template_method|bracketed_argument|argument/.test(node.type)) {
    const [inner] = node.children.filter(({ named }) => named);
    return inner ? nameIn(inner, tree) : null;
  }
  return NAME_NODE.test(node.type) || !node.named ? nodeText(tree, node) : null;
}

/** One node of a chain: its name, null if another node has it; its arguments; and the node that it continues. */
interface Step {
  readonly name: string | null;
  readonly args: readonly SyntaxNode[] | null;
  readonly head: SyntaxNode | null;
  readonly value?: SyntaxNode;
}

function stepOf(node: SyntaxNode, tree: SyntaxTree): Step {
  if (!isStep(node)) {
    const inner = /^parenthesized/.test(node.type) ? node.children.find(({ named }) => named) : undefined;
    return inner && isStep(inner)
      ? { name: null, args: null, head: inner }
      : unnamedStep(node, nameIn(node, tree) ?? '');
  }
  const list = argumentList(node);
  const args = list ? argumentNodes(list) : isBareCall(node) ? [] : null;
  const head = chainHead(node);
  const name = child(node, ...NAME_FIELDS, ...(/creation/.test(node.type) ? ['type'] : []));
  const own = name && name !== head ? nameIn(name, tree) : lastName(node, head, tree);
  return {
    name: own ?? (head ? null : ''),
    args,
    head,
    ...(name && own === COMPUTED ? { value: name } : {}),
  };
}

const unnamedStep = (node: SyntaxNode, name: string): Step => ({
  name,
  args: null,
  head: null,
  ...(name === '' ? { value: node } : {}),
});

/** Maximum links of one chain that are read. */
const MAX_LINKS = 60;

function linksOf(top: SyntaxNode, tree: SyntaxTree): readonly ChainLink[] {
  const links: ChainLink[] = [];
  // Arguments belong to the last name of the expression that they follow.
  let given: (Pick<ChainLink, 'to'> & { readonly args: readonly SyntaxNode[] }) | null = null;
  const put = (link: ChainLink | null) => {
    if (given && link?.args === null) links.push({ ...link, ...given });
    else links.push(...[given && { name: '', ...given }, link].filter((one) => one !== null));
    given = null;
  };
  for (let at: SyntaxNode | null = top; at && links.length < MAX_LINKS; ) {
    const { to }: SyntaxNode = at;
    const { name, args, head, value }: Step = stepOf(at, tree);
    if (name !== null) put({ name, args, to, ...(value ? { value } : {}) });
    else if (args) {
      if (given) put(null);
      given = { args, to };
    }
    at = head;
  }
  if (given) put(null);
  return links.reverse();
}

/** Ruby's calls may have no argument list, nor may object creation. */
const isBareCall = (node: SyntaxNode): boolean =>
  node.type === 'call'
    ? child(node, 'method') !== null
    : /^(?:new_expression|.*_creation_expression)$/.test(node.type);

/** Steps without a field for their name end with it. */
function lastName(node: SyntaxNode, head: SyntaxNode | null, tree: SyntaxTree): string | null {
  if (argumentList(node) || /await|non_null|annotation|generic|template|instantiation/.test(node.type))
    return null;
  const last = node.children.findLast(({ named }) => named);
  return last && last !== head ? nameIn(last, tree) : null;
}

/** All chains of a text, in order; one inside the arguments of another comes after it. */
export function chainsOf(tree: SyntaxTree): readonly Chain[] {
  return tree.nodes.flatMap((node) => {
    if (!isTop(node)) return [];
    return [{ node, from: node.from, to: node.to, links: linksOf(node, tree) }];
  });
}

function isTop(node: SyntaxNode): boolean {
  if (!isStep(node)) return false;
  let at = node;
  while (at.parent && /^parenthesized/.test(at.parent.type) && at.parent.parent && isStep(at.parent.parent))
    at = at.parent;
  return !(at.parent && isStep(at.parent) && chainHead(at.parent) === at);
}

/** `process.exit`, `expect().toBe`: the names of a chain, with brackets after calls that are continued. */
export const pathOf = (links: readonly ChainLink[]): string =>
  links.map(({ name, args }, i) => (args && i < links.length - 1 ? `${name}()` : name)).join('.');

/** All values that an expression may have; strings have a quote in front. */
export type ValuesOf = (node: SyntaxNode) => readonly string[];

export const isPlain = ({ type }: SyntaxNode): boolean =>
  /^(?:identifier|constant|this|import|shorthand_property_identifier)$/.test(type);

const MAX_TEXT = 300;
export const LIST = /^(?:array|list|tuple|set|expression_list)$/;
export const WRAPPED =
  /^(?:await_expression|await|parenthesized_expression|as_expression|satisfies_expression|non_null_expression|type_assertion)$/;
/** Maximum brackets and templates around each other in a string that is written in parts. */
const MAX_TEXT_DEPTH = 50;
/** A string written in parts, joined; null for anything else. */
export function foldedText(
  node: SyntaxNode,
  tree: SyntaxTree,
  valuesOf: ValuesOf,
  depth = MAX_TEXT_DEPTH,
): string | null {
  if (depth === 0) return null;
  if (
    WRAPPED.test(node.type) ||
    /^(?:index|subscript_argument|interpolation|template_substitution)$/.test(node.type)
  ) {
    const inner = node.children.find(({ named }) => named);
    return inner ? foldedText(inner, tree, valuesOf, depth - 1) : null;
  }
  if (isPlain(node)) {
    const [value, ...more] = valuesOf(node);
    return value?.startsWith('"') && more.length === 0 ? value.slice(1) : null;
  }
  const all = (parts: readonly SyntaxNode[]): string | null => {
    const texts: string[] = [];
    for (const part of parts) {
      const text = foldedText(part, tree, valuesOf, depth - 1);
      if (text === null) return null;
      texts.push(text);
    }
    return texts.join('').slice(0, MAX_TEXT);
  };
  if (node.type === 'concatenated_string') return all(node.children.filter(({ named }) => named));
  if (isString(node)) {
    const holes = node.children.filter(({ type }) => /^(?:interpolation|template_substitution)$/.test(type));
    if (holes.length === 0) return contentOf(nodeText(tree, node)).slice(0, MAX_TEXT);
    return withHoles(node, holes, tree, all);
  }
  const terms = termsOf(node);
  return terms ? all(terms) : joinedText(node, all);
}

/** `a`, `b` and `c` of `a + b + c`; null if it is no sum. */
function termsOf(node: SyntaxNode): readonly SyntaxNode[] | null {
  const terms: SyntaxNode[] = [];
  let at = node;
  while (/^binary_(?:expression|operator)$/.test(at.type)) {
    const [left, right] = [child(at, 'left'), child(at, 'right')];
    if (!left || !right || !at.children.some(({ type }) => type === '+')) return null;
    terms.push(right);
    at = left;
  }
  return at === node ? null : [at, ...terms.reverse()];
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
