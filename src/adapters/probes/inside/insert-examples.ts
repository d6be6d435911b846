import { findCases } from './cases.ts';
import { type Example, examplesOf, type Source } from './issue-examples.ts';
import { isFunction, type Node, type Parse, walk } from './syntax.ts';

/** Inserts the examples of the issue, as separate cases, into the test files that can take them. */
export async function withExamples(
  issue: string,
  sources: readonly Source[],
  parse: Parse,
): Promise<{ readonly sources: readonly Source[]; readonly unused: readonly string[] }> {
  const examples = await examplesOf(issue, sources, parse);
  const texts = new Map(sources.map((source) => [source.path, [] as { at: number; text: string }[]]));
  const unused: string[] = [];
  for (const [nth, example] of examples.entries()) {
    const place = await placeFor(example, sources, parse);
    if (!place) {
      unused.push(example.body.slice(0, 500));
      continue;
    }
    texts
      .get(place.path)
      ?.push({ at: place.at, text: place.render(`${exampleTitle(example)} ${nth + 1}`, example.body) });
  }
  const out: Source[] = [];
  for (const source of sources) {
    const text = inserted(source.text, texts.get(source.path) ?? []);
    const root = text === source.text ? source.root : await parse(source.path, text);
    out.push(root && !root.hasError ? { path: source.path, text, root } : source);
  }
  return { sources: out, unused };
}

/** The title of an example's case, without its number: derive.ts tells by it what the case is. */
export const exampleTitle = ({ isMeant }: Example): string =>
  isMeant ? 'example of the issue' : 'result in the issue';

function inserted(text: string, pieces: readonly { at: number; text: string }[]): string {
  const ordered = pieces.toSorted((a, b) => b.at - a.at);
  return ordered.reduce((all, piece) => all.slice(0, piece.at) + piece.text + all.slice(piece.at), text);
}

interface InsertionPoint {
  readonly path: string;
  readonly at: number;
  readonly render: (title: string, body: string) => string;
}

/** The test file and case whose scope contains most of the names that the example uses. */
async function placeFor(
  example: Example,
  sources: readonly Source[],
  parse: Parse,
): Promise<InsertionPoint | null> {
  const root = await parse('example.ts', example.body);
  if (!root) return null;
  const needed = freeNames(root);
  let best: { place: InsertionPoint; missing: number; covered: number } | null = null;
  for (const source of sources) {
    for (const { kind, node, body } of findCases(source.root).cases) {
      if (kind !== 'case') continue;
      const scope = namesAround(node, body);
      const missing = [...needed].filter((name) => !scope.has(name));
      const covered = needed.size - missing.length;
      if (
        best &&
        (missing.length > best.missing || (missing.length === best.missing && covered <= best.covered))
      )
        continue;
      best = { place: placeAfter(source, node, body, missing), missing: missing.length, covered };
    }
  }
  return best && best.missing === 0 ? best.place : null;
}

function placeAfter(source: Source, node: Node, fn: Node, missing: readonly string[]): InsertionPoint {
  let statement = node;
  while (statement.parent && !/^(program|statement_block)$/.test(statement.parent.type))
    statement = statement.parent;
  const callee = node.field('function')?.text ?? 'test';
  const parameter = parameterOf(fn);
  return {
    path: source.path,
    at: statement.endIndex,
    render: (title, body) => {
      const t = /\bt\.\w+\(/.test(body) ? 't' : parameter;
      const wait = /\bawait\b/.test(body) ? 'async ' : '';
      const ends =
        t !== '' && new RegExp(`\\b${parameter}\\.(end|plan)\\(`).test(fn.text) && !/\.end\(\)/.test(body);
      void missing;
      return `\n${callee}('${title}', ${wait}function (${t}) {\n${body}\n${ends ? `${t}.end();\n` : ''}});\n`;
    },
  };
}

/** The only parameter of a case's function, if it is a plain name. */
function parameterOf(fn: Node): string {
  const single = fn.field('parameter');
  if (single) return single.text;
  const list = fn.field('parameters');
  const first = list ? list.children[0] : undefined;
  const name = first?.type === 'required_parameter' ? first.field('pattern') : first;
  return name?.type === 'identifier' ? name.text : '';
}

const KNOWN: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...[
    'undefined',
    'require',
    'module',
    'exports',
    '__p',
    'arguments',
    '__dirname',
    '__filename',
    'NaN',
    'Infinity',
  ],
]);

/** Names that are used but not declared inside. */
function freeNames(root: Node): ReadonlySet<string> {
  const declared = declaredNames(root);
  const used = new Set<string>();
  for (const node of walk(root)) {
    if (node.type !== 'identifier' && node.type !== 'shorthand_property_identifier') continue;
    if (!declared.has(node.text) && !KNOWN.has(node.text)) used.add(node.text);
  }
  return used;
}

function declaredNames(root: Node): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of walk(root)) {
    const declares =
      /^(variable_declarator|function_declaration|class_declaration|formal_parameters|required_parameter|arrow_function|catch_clause|for_in_statement)$/;
    if (!declares.test(node.type)) continue;
    const named =
      node.field('name') ?? node.field('pattern') ?? node.field('parameter') ?? node.field('left');
    for (const part of node.type === 'formal_parameters' ? [node] : named ? [named] : []) {
      for (const each of walk(part)) {
        if (/^(identifier|shorthand_property_identifier_pattern|type_identifier)$/.test(each.type))
          names.add(each.text);
      }
    }
  }
  return names;
}

/** Names that a case's function can access: imports and declarations of the file and of the blocks around the case. */
function namesAround(node: Node, fn: Node): ReadonlySet<string> {
  const names = new Set<string>(['expect', 'assert'].filter((name) => fileUses(node, name)));
  for (let scope: Node | null = node.parent; scope; scope = scope.parent) {
    if (!/^(program|statement_block)$/.test(scope.type)) continue;
    for (const statement of scope.children) {
      for (const name of declaredBy(statement)) names.add(name);
    }
    const parameters = scope.parent && isFunction(scope.parent) ? parameterOf(scope.parent) : '';
    if (parameters) names.add(parameters);
  }
  const own = parameterOf(fn);
  if (own) names.add('t').add(own);
  return names;
}

function fileUses(node: Node, name: string): boolean {
  let root = node;
  while (root.parent) root = root.parent;
  return new RegExp(`\\b${name}\\b`).test(root.text);
}

function declaredBy(statement: Node): readonly string[] {
  if (statement.type === 'import_statement') {
    return [...walk(statement)].filter((each) => each.type === 'identifier').map((each) => each.text);
  }
  if (/^(variable|lexical)_declaration$/.test(statement.type)) {
    return statement.children.flatMap((declarator) => {
      const name = declarator.field('name');
      return name
        ? [...walk(name)].filter((each) => /identifier/.test(each.type)).map((each) => each.text)
        : [];
    });
  }
  if (/^(function|class)_declaration$/.test(statement.type)) return [statement.field('name')?.text ?? ''];
  return [];
}
