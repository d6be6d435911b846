import { fencesOf, indentedCodeIn, withBackticks } from './code-blocks.ts';
import { exampleTitle } from './insert-examples.ts';
import type { Example, Source } from './issue-examples.ts';
import { readSentence, SENTENCE, sessionOf } from './issue-results.ts';
import { JOURNAL } from './journal.ts';
import type { Derived, DerivedCase, RewriteOptions } from './rewrite.ts';
import { type Node, type Parse, walk } from './syntax.ts';

const MAX_SOURCE = 4_000;
const MAX_EXAMPLES = 16;
const MAX_FENCES = 50;

interface PythonCase {
  /** The name that observe.py uses: with the names of the classes around it. */
  readonly name: string;
  readonly node: Node;
}

/** Test functions of a file, and test methods of its classes, as pytest finds them. */
function testFunctionsOf(root: Node, prefix = ''): readonly PythonCase[] {
  return root.children.flatMap((child): readonly PythonCase[] => {
    const node = child.type === 'decorated_definition' ? child.field('definition') : child;
    const name = node?.field('name')?.text;
    if (!node || !name) return [];
    if (node.type === 'function_definition')
      return /^test/.test(name) ? [{ name: prefix + name, node: child }] : [];
    const body = node.type === 'class_definition' ? node.field('body') : null;
    return body ? testFunctionsOf(body, `${prefix}${name}.`) : [];
  });
}

/**
 * The derived form of a test file in Python: a module that passes its source to observe.py, which changes the syntax
 * tree with Python's own parser. Null if the file contains no test.
 */
export function rewritePython(root: Node, source: string, options: RewriteOptions): Derived | null {
  const known = testFunctionsOf(root).filter(
    ({ node }) => !options.known.has(node.text.slice(0, MAX_SOURCE)),
  );
  if (known.length === 0) return null;
  const cases = known.map(({ name, node }, at): DerivedCase => {
    return { id: String(at), title: name, source: node.text.slice(0, MAX_SOURCE), changes: [] };
  });
  const ids = Object.fromEntries(cases.map(({ id, title }) => [title, id]));
  const { file, mostChanges: changes, pool } = options;
  const plan = JSON.stringify({ file, pool, source, cases: ids, changes, journal: JOURNAL });
  const helper = JSON.stringify(options.helper.replace(/\.cjs$/, '.py'));
  const text = [
    'import importlib.util as _load_util',
    `_load_spec = _load_util.spec_from_file_location("observe", ${helper})`,
    '_load_module = _load_util.module_from_spec(_load_spec)',
    '_load_spec.loader.exec_module(_load_module)',
    `_load_module.load(globals(), __file__, ${JSON.stringify(plan)})`,
    '',
  ].join('\n');
  return { text, cases };
}

/** Adds the examples of the issue, as separate tests, after the tests of a file that knows what they call. */
export async function withPythonExamples(
  issue: string,
  sources: readonly Source[],
  parse: Parse,
): Promise<{ readonly sources: readonly Source[]; readonly unused: readonly string[] }> {
  const texts = new Map(sources.map(({ path, text }) => [path, text]));
  const unused: string[] = [];
  for (const [nth, example] of (await examplesOf(issue, parse)).entries()) {
    const { body: code } = example;
    const called = await calledIn(code, parse);
    // Its lines are indented, which would change a string over several lines.
    const taker = /"""|'''/.test(code)
      ? undefined
      : sources.find(({ root }) => [...called].every((name) => namesOf(root).has(name)));
    if (!taker) {
      unused.push(code.slice(0, 500));
      continue;
    }
    const body = code.split('\n').map((line) => `    ${line}`);
    const name = `test_${exampleTitle(example).replaceAll(' ', '_')}_${nth + 1}`;
    const test = `\n\ndef ${name}():\n${body.join('\n')}\n`;
    texts.set(taker.path, `${texts.get(taker.path)}${test}`);
  }
  const out: Source[] = [];
  for (const source of sources) {
    const text = texts.get(source.path) ?? source.text;
    const root = text === source.text ? source.root : await parse(source.path, text);
    out.push(root && !root.hasError ? { path: source.path, text, root } : source);
  }
  return { sources: out, unused };
}

const ASSERTION = /^\s*assert\b/m;
const PYTHON_FENCES = /^(|py|python|python3|pycon|doctest)$/i;

async function examplesOf(issue: string, parse: Parse): Promise<readonly Example[]> {
  const found = new Map<string, Example>();
  const add = (body: string, isMeant: boolean) =>
    found.set(body, { body, isMeant: isMeant || found.get(body)?.isMeant === true });
  const { fences, prose } = fencesOf(issue);
  const fenced = fences.filter(({ language }) => PYTHON_FENCES.test(language)).map(({ code }) => code);
  for (const code of [...fenced.slice(0, MAX_FENCES), ...indentedCodeIn(prose).slice(0, MAX_FENCES)]) {
    const calls = sessionOf(code, (call) => call).trimEnd();
    const isMeant = ASSERTION.test(calls);
    const text = isMeant
      ? calls
      : sessionOf(code, (call, value) => `assert (${call}) == (${value})`).trimEnd();
    const root = await parse('example.py', text);
    if (root && !root.hasError && ASSERTION.test(text)) add(bodiesOf(root, text), isMeant);
  }
  for (const sentence of withBackticks(prose).matchAll(SENTENCE)) {
    const { call, value, isMeant } = readSentence(sentence) ?? { call: '', value: '', isMeant: false };
    const text = `assert (${call}) == (${value})`;
    const root = /^(['"[({\d-]|True|False|None)/.test(value) ? await parse('example.py', text) : null;
    if (root && !root.hasError) add(text, isMeant);
  }
  return [...found.values()].slice(0, MAX_EXAMPLES);
}

/** The code itself, or the body of its only test function. */
function bodiesOf(root: Node, text: string): string {
  const [only, ...others] = testFunctionsOf(root);
  const body = only && others.length === 0 && !only.name.includes('.') ? only.node.field('body') : null;
  if (!body || (only?.node.field('parameters')?.children.length ?? 0) > 0) return text;
  const indent = text.slice(text.lastIndexOf('\n', body.startIndex) + 1, body.startIndex);
  return body.text.replaceAll(`\n${indent}`, '\n');
}

const BUILTIN =
  /^(abs|all|any|bool|bytes|dict|enumerate|filter|float|frozenset|int|isinstance|len|list|map|max|min|print|range|repr|reversed|round|set|sorted|str|sum|tuple|type|zip)$/;

/** First names of what an example calls, except for what it defines or imports itself. */
async function calledIn(example: string, parse: Parse): Promise<ReadonlySet<string>> {
  const root = await parse('example.py', example);
  if (!root) return new Set();
  const own = namesOf(root);
  const names = [...walk(root)].flatMap((node) => {
    const callee = node.type === 'call' ? node.field('function') : null;
    const first = /^[A-Za-z_]\w*/.exec(callee?.text ?? '')?.[0];
    return first && !BUILTIN.test(first) && !own.has(first) ? [first] : [];
  });
  return new Set(names);
}

/** Names that the top level of a file imports, defines or assigns. */
const namesOf = (root: Node): ReadonlySet<string> => new Set(root.children.flatMap(namesBy));

function namesBy(child: Node): readonly string[] {
  const node = child.type === 'decorated_definition' ? (child.field('definition') ?? child) : child;
  switch (node.type) {
    case 'function_definition':
    case 'class_definition':
      return [node.field('name')?.text ?? ''];
    case 'import_statement':
    case 'import_from_statement':
      return identifiersIn(node, node.field('module_name'));
    default:
      return identifiersIn(node.children[0]?.field('left') ?? null, null);
  }
}

const identifiersIn = (node: Node | null, but: Node | null): readonly string[] =>
  node === null
    ? []
    : [...walk(node, (inner) => inner !== but)].flatMap(({ type, text }) =>
        type === 'identifier' ? [text] : [],
      );
