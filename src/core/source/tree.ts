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
  /** The first child of each field, so that looking one up does not read all children. */
  readonly fields: ReadonlyMap<string, SyntaxNode>;
  /** Its index among the parent's children. */
  readonly index: number;
  readonly role: NodeRole;
}

/** What the type of a node says about its text. */
export type NodeRole = 'comment' | 'string' | 'number' | 'other';
export const NO_FIELDS: SyntaxNode['fields'] = new Map();

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

/** A tree of an unparsed text: a single error. */
export function unparsed(text: string): SyntaxTree {
  const root: SyntaxNode = {
    type: 'ERROR',
    field: '',
    named: true,
    from: 0,
    to: text.length,
    parent: null,
    children: [],
    fields: NO_FIELDS,
    index: 0,
    role: 'other',
  };
  return { grammar: 'java', text, nodes: [root], isBroken: true };
}

/** The trees of some texts: null if a text could not be parsed, or was not. */
export type SyntaxTrees = (source: SourceText) => SyntaxTree | null;

export const NO_SYNTAX_TREES: SyntaxTrees = () => null;

export const nodeText = ({ text }: SyntaxTree, { from, to }: Pick<SyntaxNode, 'from' | 'to'>): string =>
  text.slice(from, to);

/** The first child in one of some fields. */
export function child({ fields }: SyntaxNode, ...names: readonly string[]): SyntaxNode | null {
  if (fields.size === 0) return null;
  let found: SyntaxNode | null = null;
  for (const name of names) {
    const one = fields.get(name);
    if (one && (!found || one.index < found.index)) found = one;
  }
  return found;
}

/** Maximum ancestors of a node that are visited. */
const MAX_TREE_DEPTH = 200;

/** The ancestors of a node, nearest first, excluding `until` and those above it. */
export function ancestors(node: SyntaxNode, until: SyntaxNode | null = null): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let at = node.parent; at && at !== until && found.length < MAX_TREE_DEPTH; at = at.parent)
    found.push(at);
  return found;
}

/** The index of the first of some nodes, or of parts in order, that does not begin before an offset. */
export function firstFrom(
  { nodes }: { readonly nodes: readonly { readonly from: number }[] },
  offset: number,
): number {
  let low = 0;
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((nodes[middle]?.from ?? 0) < offset) low = middle + 1;
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

export function nodeRole(type: string, named: boolean): NodeRole {
  if (COMMENT.test(type)) return 'comment';
  if (named && STRING.test(type)) return 'string';
  return NUMBER.test(type) ? 'number' : 'other';
}

export const isComment = ({ role }: SyntaxNode): boolean => role === 'comment';
export const isString = ({ role }: SyntaxNode): boolean => role === 'string';
const isPiece = ({ role, named }: SyntaxNode): boolean => role === 'string' || (role === 'number' && named);

/** `#if 0` and what follows up to its other branch or its end. */
function isDead(node: SyntaxNode, tree: SyntaxTree): boolean {
  const { parent } = node;
  if (parent?.type !== 'preproc_if' || /^(?:alternative|condition)$/.test(node.field)) return false;
  const condition = child(parent, 'condition');
  return (
    condition !== null &&
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

/** All strings of a text, those within others, too, in order; none in comments and dead code. */
export function* stringNodes(tree: SyntaxTree): Generator<SyntaxNode> {
  let done = 0;
  for (const node of tree.nodes) {
    if (node.from < done || node.from === node.to) continue;
    if (isComment(node) || isDead(node, tree)) done = node.to;
    else if (isString(node)) yield node;
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
      : node.role === 'number'
        ? 'number'
        : /^[\w$@\p{L}]/u.test(text)
          ? 'word'
          : 'sign';
    found.push({ kind, text, from: node.from, to: node.to });
  }
  return found;
}

export const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

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
