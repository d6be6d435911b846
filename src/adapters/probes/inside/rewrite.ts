import { bindingsOf } from './bindings.ts';
import { findCases, inputLiterals, type Literal, type ProbeCase, similarValues } from './cases.ts';
import { JOURNAL } from './journal.ts';
import { type Edit, edited, isFunction, type Node, walk } from './syntax.ts';

/** A case of a derived file, and how its literals are changed: `[literal, choice of mutate.cjs]`. */
export interface DerivedCase {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly changes: readonly (readonly [number, number])[];
}

export interface Derived {
  readonly text: string;
  readonly cases: readonly DerivedCase[];
}

export interface RewriteOptions {
  /** Short name of the file in keys of observations. */
  readonly file: string;
  /** Path of observe.cjs when the tests run. */
  readonly helper: string;
  readonly pool: readonly unknown[];
  /** The package's own name, under which its tests may import it. */
  readonly own: string | null;
  /** Maximum number of changed literals for the whole file. */
  readonly mostChanges: number;
  /** Sources of cases that are derived elsewhere. */
  readonly known: ReadonlySet<string>;
}

const MAX_PER_CASE = 40;
const MIN_PER_CASE = 4;

/** The derived form of a test file; null if it contains no case that can be run several times. */
export function rewrite(root: Node, source: string, options: RewriteOptions): Derived | null {
  const { cases: all, groups } = findCases(root);
  const cases = all.filter(({ node }) => !options.known.has(sourceOf(node)));
  if (cases.length === 0) return null;
  const bindings = bindingsOf(root, options.own);
  const edits: Edit[] = [...bindings.edits];
  const derived: DerivedCase[] = [];
  const maxPerCase = Math.max(
    MIN_PER_CASE,
    Math.min(MAX_PER_CASE, Math.floor(options.mostChanges / cases.length)),
  );
  let left = options.mostChanges;
  let literals = 0;
  for (const [at, each] of cases.entries()) {
    const inputs = inputLiterals(each.body);
    const changes = choose(inputs, literals, Math.min(maxPerCase, left), options);
    left -= changes.length;
    for (const [nth, { node }] of inputs.entries())
      edits.push(around(node, `__p.lit(${literals + nth}, `, ')'));
    literals += inputs.length;
    edits.push(...caseEdits(each, String(at)));
    derived.push({
      id: String(at),
      title: each.title?.text.slice(0, 200) ?? '',
      source: sourceOf(each.node),
      changes,
    });
  }
  for (const fn of groups) if (hasParameter(fn)) edits.push(around(fn, '__p.group(', ')'));
  const takesT = [...groups, ...cases.map(({ body }) => body)].some((body) =>
    /\b\w+\.(end|plan)\(/.test(body.text),
  );
  edits.push(lastCase(registrarOf(cases, groups), takesT, source));
  edits.push(prologue(root, source, derived, bindings.statements, bindings.esm, options));
  return { text: edited(source, edits), cases: derived };
}

/** The source of a case as shown to people. */
const sourceOf = (node: Node): string => node.text.slice(0, 4_000);

const around = (node: Node, open: string, close: string): Edit => ({
  start: node.startIndex,
  end: node.endIndex,
  open,
  close,
});

function caseEdits({ kind, node, body, title }: ProbeCase, id: string): readonly Edit[] {
  if (kind === 'statement') {
    const waits = [...walk(node)].some((each) => each.type === 'await_expression');
    return [
      around(node, waits ? `await __p.topAsync(${id}, async () => { ` : `__p.top(${id}, () => { `, ' });'),
    ];
  }
  const named = title && title !== body && !/^(object|array)$/.test(title.type);
  return [
    around(node, `__p.each(${id}, (__v) => `, ')'),
    ...(named && title ? [around(title, '__v.title(', ')')] : []),
    around(body, '__v.run(', ')'),
  ];
}

/** A case after all others, in which the helper calls what no test called. */
function lastCase(register: string | null, takesT: boolean, source: string): Edit {
  const body = takesT ? 'function (t) { __p.explore(); t.end(); }' : 'function () { __p.explore(); }';
  const open = register
    ? `\n__p.each('explore', (__v) => ${register}(__v.title('explore'), __v.run(${body})));\n`
    : `\n__p.top('explore', () => __p.explore());\n`;
  return { start: source.length, end: source.length, open, close: '' };
}

/** How the end of a file can register a case: a name such as `test`, or a method of something at the top level. */
function registrarOf(cases: readonly ProbeCase[], groups: readonly Node[]): string | null {
  const calls = [
    ...groups.flatMap((fn) => fn.parent?.parent ?? []),
    ...cases.flatMap(({ kind, node }) => (kind === 'case' ? [node] : [])),
  ];
  const usable = calls.find((call) => {
    const callee = call.field('function');
    return (
      callee?.type === 'identifier' ||
      (callee?.type === 'member_expression' &&
        !insideFunction(call) &&
        callee.field('property')?.text === 'test')
    );
  });
  return usable?.field('function')?.text ?? null;
}

function insideFunction(node: Node): boolean {
  for (let at = node.parent; at; at = at.parent) if (isFunction(at)) return true;
  return false;
}

const hasParameter = (fn: Node): boolean => {
  const parameters = fn.field('parameters') ?? fn.field('parameter');
  return parameters !== null && (parameters.type === 'identifier' || parameters.children.length > 0);
};

/** Alternates between the literals, so that each is changed once before one is changed twice; likely values first. */
function choose(inputs: readonly Literal[], first: number, most: number, options: RewriteOptions) {
  const choices = inputs.map(({ value }, nth) =>
    similarValues(value, options.pool, `${options.file}.${first + nth}`),
  );
  const longest = Math.max(0, ...choices.map((each) => each.length));
  const changes: (readonly [number, number])[] = [];
  for (let turn = 0; turn < longest; turn += 1) {
    for (const [nth, each] of choices.entries()) {
      if (changes.length >= most) return changes;
      if (turn < each.length) changes.push([first + nth, turn]);
    }
  }
  return changes;
}

function prologue(
  root: Node,
  source: string,
  cases: readonly DerivedCase[],
  statements: readonly string[],
  esm: boolean,
  { file, helper, pool }: RewriteOptions,
): Edit {
  const plan = Object.fromEntries(cases.map(({ id, changes }) => [id, { changes }]));
  const text = JSON.stringify(helper);
  const load = esm
    ? `import { createRequire as __from } from 'node:module'; const __p = __from(${text})(${text})`
    : `const __p = require(${text})`;
  const together = !HOOKS.test(source);
  const open = `${load}.open(${JSON.stringify({ file, pool, cases: plan, together, journal: JOURNAL })}); ${statements.join(' ')}\n`;
  const start = firstStatement(root, source);
  return { start, end: start, open, close: '' };
}

/** Hooks that run between cases, so that each case needs its own registration. */
const HOOKS = /\b(beforeEach|afterEach|before_each|after_each|setup|teardown)\b/;

/** After a hash bang and directives. */
function firstStatement(root: Node, source: string): number {
  for (const child of root.children) {
    if (/^(comment|hash_bang_line)$/.test(child.type)) continue;
    if (child.type === 'expression_statement' && child.children[0]?.type === 'string') continue;
    return child.startIndex;
  }
  return source.length;
}

/** Input literals of all cases: short strings and numbers, for use elsewhere. */
export function poolOf(root: Node): readonly unknown[] {
  const { cases } = findCases(root);
  return cases.flatMap(({ body }) => inputLiterals(body).flatMap(({ value }) => scalars(value, 3)));
}

function scalars(value: unknown, depth: number): readonly unknown[] {
  if (typeof value === 'string') return value.length <= 200 ? [value] : [];
  if (typeof value === 'number') return [value];
  if (depth === 0 || typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((each) => scalars(each, depth - 1));
}
