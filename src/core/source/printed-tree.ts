import { z } from 'zod';
import {
  blank,
  type Grammar,
  grammarOf,
  nodeRole,
  type SourceText,
  type SyntaxNode,
  type SyntaxTree,
  type SyntaxTrees,
} from './tree.ts';

/** The parser's input for a text: for a component, its scripts at their original positions. */
export function parsedText({ path, text }: SourceText): string {
  if (!/\.(?:vue|svelte)$/i.test(path)) return text;
  const parts: string[] = [];
  let done = 0;
  for (const { from, to } of scriptsIn(text)) {
    parts.push(blank(text.slice(done, from)), text.slice(from, to));
    done = to;
  }
  return [...parts, blank(text.slice(done))].join('');
}

/** What is inside the scripts of a component. One pattern for all would search anew from each tag without an end. */
function scriptsIn(text: string): readonly { readonly from: number; readonly to: number }[] {
  const ends = text.matchAll(/<\/script>/gi);
  const found: { from: number; to: number }[] = [];
  let end = ends.next().value;
  let done = 0;
  for (const { index } of text.matchAll(/<script\b/gi)) {
    if (index < done) continue;
    const from = text.indexOf('>', index) + 1;
    if (from === 0) break;
    while (end && end.index < from) end = ends.next().value;
    if (!end) break;
    found.push({ from, to: end.index });
    done = end.index;
  }
  return found;
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

type OpenNode = Omit<SyntaxNode, 'children' | 'fields'> & {
  readonly children: OpenNode[];
  fields: Map<string, SyntaxNode>;
};

/** Fields of all nodes without any. */
const EMPTY_FIELDS = new Map<string, SyntaxNode>();

function addChild(parent: OpenNode, node: OpenNode): void {
  parent.children.push(node);
  if (node.field === '' || parent.fields.has(node.field)) return;
  if (parent.fields === EMPTY_FIELDS) parent.fields = new Map();
  parent.fields.set(node.field, node);
}

/** Decodes the printed tree of a text; null if it is not a valid tree of this text. */
function readTree(printed: PrintedTree, grammar: Grammar, text: string): SyntaxTree | null {
  if (printed === null || printed.nodes.length === 0 || printed.nodes.length % 4 !== 0) return null;
  const nodes: OpenNode[] = [];
  const open: OpenNode[] = [];
  const roles = printed.kinds.map(([type, , named]) => nodeRole(type, named === 1));
  const numbers = printed.nodes;
  let start = 0;
  for (let i = 0; i < numbers.length; i += 4) {
    const [index, depth, length] = [numbers[i] ?? -1, numbers[i + 1] ?? -1, numbers[i + 3] ?? -1];
    const kind = printed.kinds[index];
    start += numbers[i + 2] ?? 0;
    const isPlaced = i === 0 ? depth === 0 : depth > 0 && depth <= open.length;
    if (!kind || !isPlaced || start < 0 || length < 0 || start + length > text.length) return null;
    open.length = depth;
    const parent = open.at(-1) ?? null;
    const [type, field, named] = kind;
    const node: OpenNode = {
      type,
      field,
      named: named === 1,
      from: start,
      to: start + length,
      parent,
      children: [],
      fields: EMPTY_FIELDS,
      index: parent?.children.length ?? 0,
      role: roles[index] ?? 'other',
    };
    if (parent) addChild(parent, node);
    open.push(node);
    nodes.push(node);
  }
  return { grammar, text, nodes, isBroken: nodes.some(({ type }) => type === 'ERROR') };
}

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
