import { z } from 'zod';

/** The text of a file, or of the part that a hunk shows. */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

/** One node of a syntax tree. Offsets count UTF-16 code units. */
export interface SyntaxNode {
  /** Type in its grammar; keywords and signs have their own text as type. */
  readonly type: string;
  /** Its field in the parent, if the grammar defines one. */
  readonly field: string;
  readonly named: boolean;
  readonly from: number;
  readonly to: number;
  readonly parent: SyntaxNode | null;
  readonly children: readonly SyntaxNode[];
  /** Its index among the parent's children. */
  readonly index: number;
}

/** A parsed text. Where parsing fails, nodes of type `ERROR` contain what could be parsed. */
export interface SyntaxTree {
  readonly grammar: Grammar;
  readonly text: string;
  /** All nodes, a parent before its children. */
  readonly nodes: readonly SyntaxNode[];
  /** Some text fits no rule of the grammar. */
  readonly isBroken: boolean;
}

const GRAMMAR_EXTENSIONS = {
  typescript: ['ts', 'mts', 'cts', 'vue', 'svelte'],
  // The grammar for plain JavaScript fails on `class=`, so all components use the TypeScript grammar.
  tsx: ['js', 'mjs', 'cjs', 'jsx', 'tsx'],
  python: ['py', 'pyi'],
  go: ['go'],
  rust: ['rs'],
  java: ['java'],
  ruby: ['rb', 'rake', 'gemspec'],
  php: ['php'],
  'c-sharp': ['cs'],
  cpp: ['c', 'h', 'cc', 'cpp', 'cxx', 'hh', 'hpp', 'hxx'],
  bash: ['sh', 'bash'],
} as const;
export type Grammar = keyof typeof GRAMMAR_EXTENSIONS;

const BY_EXTENSION: ReadonlyMap<string, Grammar> = new Map(
  Object.entries(GRAMMAR_EXTENSIONS).flatMap(([grammar, extensions]) =>
    extensions.map((extension) => [extension, grammar as Grammar] as const),
  ),
);

/** The grammar for a file; null if its language has none. */
export const grammarOf = (path: string): Grammar | null =>
  BY_EXTENSION.get(/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '') ?? null;

export const isScript = (grammar: Grammar | null): boolean => grammar === 'tsx' || grammar === 'typescript';

/** The parser's input for a text: for a component, its scripts at their original positions. */
export function parsedText({ path, text }: SourceText): string {
  if (!/\.(?:vue|svelte)$/i.test(path)) return text;
  const parts = text.split(/(<script\b[^>]*>[\s\S]*?<\/script>)/i);
  const blank = (part: string) => part.replace(/[^\n]/g, ' ');
  return parts
    .map((part, i) => (i % 2 === 0 ? blank(part) : part.replace(/^<[^>]*>|<\/script>$/gi, blank)))
    .join('');
}

/**
 * A tree as printed by the sandboxed parser; null if the text exceeded the parser's limits. `kinds` are the distinct
 * nodes as [type, field, 1 if named]; `nodes` has four numbers for each node, parents first: index of its kind,
 * depth, distance of its start from the start of the previous node, length.
 */
export const PrintedTree = z
  .object({
    kinds: z.array(z.tuple([z.string(), z.string(), z.union([z.literal(0), z.literal(1)])])),
    nodes: z.array(z.int()),
  })
  .nullable();
export type PrintedTree = z.infer<typeof PrintedTree>;

/** Decodes the printed tree of a text; null if it is not a valid tree of this text. */
function readTree(printed: PrintedTree, grammar: Grammar, text: string): SyntaxTree | null {
  if (printed === null || printed.nodes.length === 0 || printed.nodes.length % 4 !== 0) return null;
  const nodes: (SyntaxNode & { readonly children: SyntaxNode[] })[] = [];
  const open: (SyntaxNode & { readonly children: SyntaxNode[] })[] = [];
  let start = 0;
  for (let i = 0; i < printed.nodes.length; i += 4) {
    const [index = -1, depth = -1, distance = 0, length = -1] = printed.nodes.slice(i, i + 4);
    const kind = printed.kinds[index];
    start += distance;
    const isPlaced = i === 0 ? depth === 0 : depth > 0 && depth <= open.length;
    if (!kind || !isPlaced || start < 0 || length < 0 || start + length > text.length) return null;
    open.length = depth;
    const parent = open.at(-1) ?? null;
    const [type, field, named] = kind;
    const place = { parent, children: [], index: parent?.children.length ?? 0 };
    const node = { type, field, named: named === 1, from: start, to: start + length, ...place };
    parent?.children.push(node);
    open.push(node);
    nodes.push(node);
  }
  return { grammar, text, nodes, isBroken: nodes.some(({ type }) => type === 'ERROR') };
}

/** The trees of some texts: null if a text could not be parsed, or was not. */
export type SyntaxTrees = (source: SourceText) => SyntaxTree | null;

const treeKey = ({ path, text }: SourceText): string => `${grammarOf(path)}\0${text}`;

/** The parser's output, in the order of its input texts. */
export function syntaxTrees(sources: readonly SourceText[], printed: readonly PrintedTree[]): SyntaxTrees {
  const known = new Map<string, SyntaxTree | null>();
  for (const [i, source] of sources.entries()) {
    const grammar = grammarOf(source.path);
    if (grammar) known.set(treeKey(source), readTree(printed[i] ?? null, grammar, source.text));
  }
  return (source) => known.get(treeKey(source)) ?? null;
}

/** A tree of an unparsed text: a single error. */
export function unparsed(text: string): SyntaxTree {
  const root = {
    type: 'ERROR',
    field: '',
    named: true,
    from: 0,
    to: text.length,
    parent: null,
    children: [],
    index: 0,
  };
  return { grammar: 'java', text, nodes: [root], isBroken: true };
}

export const NO_SYNTAX_TREES: SyntaxTrees = () => null;

export const nodeText = ({ text }: SyntaxTree, { from, to }: Pick<SyntaxNode, 'from' | 'to'>): string =>
  text.slice(from, to);

export const child = (node: SyntaxNode, ...fields: readonly string[]): SyntaxNode | null =>
  node.children.find(({ field }) => fields.includes(field)) ?? null;

/** Maximum ancestors of a node that are visited. */
const MAX_TREE_DEPTH = 200;

/** The ancestors of a node, nearest first, excluding `until` and those above it. */
export function ancestors(node: SyntaxNode, until: SyntaxNode | null = null): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let at = node.parent; at && at !== until && found.length < MAX_TREE_DEPTH; at = at.parent)
    found.push(at);
  return found;
}

/** The index of the first node that does not begin before an offset. */
export function firstFrom({ nodes }: SyntaxTree, offset: number): number {
  let low = 0;
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((nodes[middle] as SyntaxNode).from < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Nodes that lie entirely within a part of a text, in order. */
export function* nodesWithin(
  tree: SyntaxTree,
  { from, to }: Pick<SyntaxNode, 'from' | 'to'>,
): Generator<SyntaxNode> {
  for (let i = firstFrom(tree, from); i < tree.nodes.length; i++) {
    const node = tree.nodes[i] as SyntaxNode;
    if (node.from >= to) return;
    if (node.to <= to) yield node;
  }
}

/** An atomic piece of code: a quoted string is one piece. */
interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'sign';
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** The text in two versions of equal length: blanked characters become spaces, newlines are kept. */
export interface BlankedText {
  /** Comments are blank. */
  readonly code: string;
  /** Comments and string contents are blank; the quotes are kept. */
  readonly mask: string;
}

const COMMENT = /comment|^uninterpreted$|^text_interpolation$|^hash_bang_line$/;
const STRING =
  /^(?:string|.*_string|string_literal|.*_string_literal|.*string_expression|raw_string_literal|template_string|regex|regex_literal|char_literal|character_literal|rune_literal|heredoc|heredoc_body|nowdoc|string_array|symbol_array|subshell|delimited_symbol|system_lib_string|concatenated_string)$/;
const NUMBER = /^(?:number|integer|float|.*(?:integer|number|float|int|real)_literal)$/;

export const isComment = ({ type }: SyntaxNode): boolean => COMMENT.test(type);
export const isString = ({ type, named }: SyntaxNode): boolean => named && STRING.test(type);
const isPiece = (node: SyntaxNode): boolean => isString(node) || (NUMBER.test(node.type) && node.named);

/** `#if 0` and what follows up to its other branch or its end. */
function isDead(node: SyntaxNode, tree: SyntaxTree): boolean {
  const { parent } = node;
  if (parent?.type !== 'preproc_if' || /^(?:alternative|condition)$/.test(node.field)) return false;
  const condition = parent.children.find(({ field }) => field === 'condition');
  return (
    condition !== undefined &&
    node !== condition &&
    /^(?:0|false)$/.test(nodeText(tree, condition)) &&
    !/^#/.test(node.type)
  );
}

/** Comments, dead code and pieces, none of which is searched further; in order. */
function* pieces(tree: SyntaxTree, part: Pick<SyntaxNode, 'from' | 'to'>) {
  let done = part.from;
  for (const node of nodesWithin(tree, part)) {
    if (node.from < done || node.from === node.to) continue;
    const comment = isComment(node) || isDead(node, tree);
    if (!comment && !isPiece(node) && node.children.length > 0) continue;
    done = node.to;
    yield { node, comment };
  }
}

/** The tokens of a text, or of a part of it, in order, without comments. */
export function tokensOf(
  tree: SyntaxTree,
  part: Pick<SyntaxNode, 'from' | 'to'> = { from: 0, to: tree.text.length },
): readonly Token[] {
  const found: Token[] = [];
  for (const { node, comment } of pieces(tree, part)) {
    const text = nodeText(tree, node);
    if (comment || text.trim() === '') continue;
    const kind = isString(node)
      ? 'string'
      : NUMBER.test(node.type)
        ? 'number'
        : /^[\w$@\p{L}]/u.test(text)
          ? 'word'
          : 'sign';
    found.push({ kind, text, from: node.from, to: node.to });
  }
  return found;
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

export function blankedText(tree: SyntaxTree): BlankedText {
  const code: string[] = [];
  const mask: string[] = [];
  let done = 0;
  for (const { node, comment } of pieces(tree, { from: 0, to: tree.text.length })) {
    if (!comment && !isString(node)) continue;
    const between = tree.text.slice(done, node.from);
    const inside = nodeText(tree, node);
    code.push(between, comment ? blank(inside) : inside);
    mask.push(between, comment ? blank(inside) : quotesOf(inside));
    done = node.to;
  }
  const rest = tree.text.slice(done);
  return { code: code.join('') + rest, mask: mask.join('') + rest };
}

const quotesOf = (text: string): string => {
  const inside = blank(text.slice(1, -1));
  return text.length < 2 ? text : `${text[0]}${inside}${text.at(-1)}`;
};

/** The text between a string's quotes. */
export const contentOf = (text: string): string =>
  /^[a-zA-Z@$#]*("""|'''|["'`/])([\s\S]*?)\1\w*$/.exec(text)?.[2] ?? text;
