import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';

/** A node of a syntax tree. Positions are offsets into the text, in UTF-16 units. */
export class Node {
  readonly type: string;
  readonly startIndex: number;
  readonly endIndex: number;
  readonly parent: Node | null;
  /** Named children only. */
  readonly children: readonly Node[] = [];
  /** Whether something below does not parse. */
  hasError = false;
  readonly #source: string;
  readonly #fields = new Map<string, Node>();

  constructor(cursor: Cursor, parent: Node | null, source: string) {
    this.type = cursor.nodeType;
    this.startIndex = cursor.startIndex;
    this.endIndex = cursor.endIndex;
    this.parent = parent;
    this.#source = source;
  }

  get text(): string {
    return this.#source.slice(this.startIndex, this.endIndex);
  }

  field(name: string): Node | null {
    return this.#fields.get(name) ?? null;
  }

  /** Copies the whole subtree out of the parser's memory once, because every access to it is expensive. */
  static read(cursor: Cursor, parent: Node | null, source: string): Node {
    const node = new Node(cursor, parent, source);
    if (node.type === 'ERROR' || cursor.nodeIsMissing) node.hasError = true;
    if (!cursor.gotoFirstChild()) return node;
    do {
      if (cursor.nodeIsMissing || cursor.nodeType === 'ERROR') node.hasError = true;
      if (!cursor.nodeIsNamed) continue;
      const field = cursor.currentFieldName;
      const child = Node.read(cursor, node, source);
      (node.children as Node[]).push(child);
      if (field && !node.#fields.has(field)) node.#fields.set(field, child);
      if (child.hasError) node.hasError = true;
    } while (cursor.gotoNextSibling());
    cursor.gotoParent();
    return node;
  }
}

/** The part of tree-sitter's cursor that we use. */
interface Cursor {
  readonly nodeType: string;
  readonly startIndex: number;
  readonly endIndex: number;
  readonly nodeIsNamed: boolean;
  readonly nodeIsMissing: boolean;
  readonly currentFieldName: string | null;
  gotoFirstChild(): boolean;
  gotoNextSibling(): boolean;
  gotoParent(): boolean;
}

interface Tree {
  walk(): Cursor;
  delete(): void;
}

interface Runtime {
  readonly Parser: {
    init(options: { wasmBinary: Uint8Array }): Promise<void>;
    new (): { setLanguage(language: unknown): void; parse(text: string): Tree | null };
  };
  readonly Language: { load(bytes: Uint8Array): Promise<unknown> };
}

export type Parse = (path: string, text: string) => Promise<Node | null>;

const GRAMMAR_OF_EXTENSION: Readonly<Record<string, string>> = {
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.jsx': 'javascript',
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.tsx': 'tsx',
  '.py': 'python',
};

/** A parser for files in languages with a grammar; null for others and for files that do not parse. */
export async function openParser(folder: string): Promise<Parse> {
  const runtime = createRequire(import.meta.url)(join(folder, 'tree-sitter.js')) as Runtime;
  await runtime.Parser.init({ wasmBinary: await readFile(join(folder, 'tree-sitter.wasm')) });
  const parser = new runtime.Parser();
  const languages = new Map<string, unknown>();
  return async (path, text) => {
    const grammar = GRAMMAR_OF_EXTENSION[extname(path)];
    if (!grammar) return null;
    if (!languages.has(grammar)) {
      const bytes = await readFile(join(folder, `tree-sitter-${grammar}.wasm`));
      languages.set(grammar, await runtime.Language.load(bytes));
    }
    parser.setLanguage(languages.get(grammar));
    const tree = parser.parse(text);
    if (!tree) return null;
    const root = Node.read(tree.walk(), null, text);
    tree.delete();
    return root;
  };
}

/** A node and everything below it, in text order; `enter` decides whether to go into a node. */
export function* walk(node: Node, enter: (node: Node) => boolean = () => true): Generator<Node> {
  yield node;
  if (!enter(node)) return;
  for (const child of node.children) yield* walk(child, enter);
}

export const callArguments = (call: Node): readonly Node[] => {
  const list = call.field('arguments');
  return list?.type === 'arguments' ? list.children.filter((each) => each.type !== 'comment') : [];
};

const FUNCTIONS: ReadonlySet<string> = new Set([
  'arrow_function',
  'function_expression',
  'function',
  'generator_function',
]);
export const isFunction = (node: Node): boolean => FUNCTIONS.has(node.type);

/** `expect(x).not` → expect; `a.b.c` → a; for a call, the root of its callee. */
export function rootIdentifier(node: Node): string {
  const inner = node.field('object') ?? node.field('function');
  return inner ? rootIdentifier(inner) : node.text;
}

/** Text to insert into a source: `open` before and `close` after a span, or `open` instead of it. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly open: string;
  readonly close: string;
  readonly replace?: boolean;
}

interface Insertion {
  readonly at: number;
  readonly text: string;
  /** At the same position, the lower rank comes first. */
  readonly rank: readonly [number, number];
  readonly until: number;
}

/** The source with all edits applied. Spans may be nested; replaced ones contain no other edit. */
export function edited(source: string, edits: readonly Edit[]): string {
  const insertions = edits.flatMap((edit): Insertion[] => {
    const { start, end, open, close } = edit;
    if (edit.replace) return [{ at: start, text: open, rank: [1, -end], until: end }];
    return [
      { at: start, text: open, rank: [1, -end], until: start },
      { at: end, text: close, rank: [0, -start], until: end },
    ];
  });
  insertions.sort((a, b) => a.at - b.at || a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
  let out = '';
  let from = 0;
  for (const { at, text, until } of insertions) {
    out += source.slice(from, at) + text;
    from = Math.max(at, until, from);
  }
  return out + source.slice(from);
}
