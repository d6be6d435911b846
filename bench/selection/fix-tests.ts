// Rules that make tests of the assertions which a fix adds to the tests of its repository: a stand-in for a model that
// understood the issue, or misread it. They see the tests of the base and of the fix, and nothing else of either.
import { parseAst } from 'vitest/node';

/** A test file that the rules made. */
export interface RuleMadeTest {
  /**
   * `right`: assertions of the fix. `other value`: the same with another expected value. `base is right`: it asserts that
   * the result is not the one of the fix, and claims that this holds on the base.
   */
  readonly kind: 'right' | 'other value' | 'base is right';
  /** What its writer claims about the code of the base. */
  readonly now: 'fails' | 'passes';
  readonly file: string;
}

/** Any part of a syntax tree; positions are in UTF-16 units of the text. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value;
const field = (node: Node, name: string): unknown => (node as Node & Record<string, unknown>)[name];
const nodeIn = (node: Node, name: string): Node | null => {
  const value = field(node, name);
  return isNode(value) ? value : null;
};
const nodesIn = (node: Node, name: string): readonly Node[] => {
  const value = field(node, name);
  return Array.isArray(value) ? value.filter(isNode) : [];
};
const childrenOf = (node: Node): readonly Node[] =>
  Object.values(node).flatMap((value: unknown) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );

/** Opposite assertions of tape, tap, and Node's assert. */
const OPPOSITES: Readonly<Record<string, string>> = {
  equal: 'notEqual',
  strictEqual: 'notStrictEqual',
  deepEqual: 'notDeepEqual',
  deepStrictEqual: 'notDeepStrictEqual',
  same: 'notSame',
  match: 'notMatch',
  ok: 'notOk',
  throws: 'doesNotThrow',
  doesNotThrow: 'throws',
};
/** Names that these repositories give to assertions and to the test object of tape. */
const ASSERTING = /^(?:assert|t|st|s2t|tt)$/;
const GROUPING = /^(?:describe|it|test|t|st)$/;

interface Call {
  readonly node: Node;
  readonly object: string;
  readonly method: string;
  /** The name of the called method; empty for none. */
  readonly last: string;
  readonly args: readonly Node[];
}

/** The call that a statement consists of, by the words of its callee: `st['throws'](…)`, `assert(…)`. */
function callOf(statement: Node, text: string): Call | null {
  const node = statement.type === 'ExpressionStatement' ? nodeIn(statement, 'expression') : null;
  const callee = node?.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  if (!node || !callee) return null;
  const words = text.slice(callee.start, callee.end).match(/[\w$]+/g) ?? [];
  const property = nodeIn(callee, 'property');
  const last = property ? text.slice(property.start, property.end).replace(/\W/g, '') : '';
  return { node, object: words[0] ?? '', method: words[1] ?? '', last, args: nodesIn(node, 'arguments') };
}

const isFunction = ({ type }: Node | undefined = { type: '', start: 0, end: 0 }): boolean =>
  /^(?:Arrow)?FunctionExpression$/.test(type);

function isAssertion(statement: Node, text: string): boolean {
  const call = callOf(statement, text);
  if (!call || call.args.length === 0) return false;
  // A table that a function of the test file checks: test({ sanitizer: …, expect: … }).
  if (call.object === 'test' && call.method === '') return call.args[0]?.type === 'ObjectExpression';
  if (!ASSERTING.test(call.object)) return false;
  return call.method === '' ? call.object === 'assert' : Object.hasOwn(OPPOSITES, call.method);
}

const isGroup = (statement: Node, text: string): boolean => {
  const call = callOf(statement, text);
  return call !== null && GROUPING.test(call.object) && isFunction(call.args.at(-1));
};

const isPlan = (statement: Node, text: string): boolean => callOf(statement, text)?.method === 'plan';

/** Rows of a table that a loop checks: lists in a list. */
const isTable = (node: Node): boolean => {
  const rows = node.type === 'ArrayExpression' ? nodesIn(node, 'elements') : [];
  return rows.length > 1 && rows.every(({ type }) => type === 'ArrayExpression');
};

/** Assertions and rows of tables, with the titles of the groups that they are in. */
function unitsOf(text: string): readonly { readonly node: Node; readonly key: string }[] {
  const found: { node: Node; key: string }[] = [];
  const visit = (node: Node, titles: string): void => {
    if (isAssertion(node, text)) {
      found.push({ node, key: `${titles}\0${text.slice(node.start, node.end).replace(/\s+/g, ' ')}` });
      return;
    }
    if (isTable(node)) {
      for (const row of nodesIn(node, 'elements'))
        found.push({ node: row, key: `row\0${text.slice(row.start, row.end).replace(/\s+/g, ' ')}` });
      return;
    }
    const title = isGroup(node, text) ? (callOf(node, text)?.args[0] ?? node) : null;
    const within = title ? `${titles}\0${text.slice(title.start, title.end)}` : titles;
    for (const child of childrenOf(node)) visit(child, within);
  };
  visit(treeOf(text), '');
  return found;
}

function treeOf(text: string): Node {
  const tree: unknown = parseAst(text, { lang: 'js' });
  if (!isNode(tree)) throw new Error('The test file is no program.');
  return tree;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const edited = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((so, { start, end, text: by }) => `${so.slice(0, start)}${by}${so.slice(end)}`, text);

/** The file with these assertions and rows alone, and what stands around them. */
function withOnly(text: string, kept: readonly Node[], changes: readonly Edit[]): string {
  const isKept = (node: Node) => kept.some(({ start, end }) => start === node.start && end === node.end);
  // What checks the rows of a table is in a loop.
  const keepsLoops = kept.some(({ type }) => type === 'ArrayExpression');
  const edits: Edit[] = [...changes];
  const visit = (node: Node, isWhole: boolean): void => {
    if (isKept(node)) return;
    const rows = isTable(node) ? nodesIn(node, 'elements').filter(isKept) : [];
    if (rows.length > 0) edits.push(...aroundRows(node, rows));
    else for (const child of childrenOf(node)) visitPart(child, node, isWhole);
  };
  const visitPart = (part: Node, parent: Node, isWhole: boolean): void => {
    const isStatement = /(?<!Block)Statement$/.test(part.type);
    if (isWhole || !isStatement) visit(part, isWhole);
    else if (keepsLoops && isLoop(part, text)) visit(part, true);
    else if (isPlan(part, text)) edits.push(...endInsteadOf(part, parent, text));
    else if (checks(part, text) && !kept.some((one) => isWithin(one, part)))
      edits.push({ start: part.start, end: part.end, text: '' });
    else visit(part, false);
  };
  visit(treeOf(text), false);
  return edited(text, edits).replace(/\n(?:[ \t]*\n){2,}/g, '\n\n');
}

/** Whether a part of a file checks something. */
const checks = (node: Node, text: string): boolean =>
  isAssertion(node, text) || isGroup(node, text) || childrenOf(node).some((child) => checks(child, text));

/** Removes what is before, between and after these rows of a table. */
function aroundRows(table: Node, rows: readonly Node[]): readonly Edit[] {
  const starts = [table.start + 1, ...rows.map(({ end }) => end)];
  const ends = [...rows.map(({ start }) => start), table.end - 1];
  return starts.map((start, i) => {
    const isBetween = i > 0 && i < starts.length - 1;
    return { start, end: ends[i] ?? start, text: isBetween ? ', ' : '' };
  });
}

/** Without the other assertions, the number of a plan is wrong. */
function endInsteadOf(plan: Node, parent: Node, text: string): readonly Edit[] {
  const end = parent.type === 'Program' ? parent.end : parent.end - 1;
  return [
    { start: plan.start, end: plan.end, text: '' },
    { start: end, end, text: `${callOf(plan, text)?.object ?? 't'}.end();\n` },
  ];
}

const isWithin = (one: Node, other: Node): boolean => other.start <= one.start && one.end <= other.end;

const isLoop = (statement: Node, text: string): boolean =>
  /^For\w*Statement$/.test(statement.type) || callOf(statement, text)?.last === 'forEach';

/** Another value in place of the first literal of an expectation; null if it has none. */
function otherValue(node: Node, text: string, others: readonly string[]): Edit | null {
  if (node.type === 'Literal') {
    const shown = text.slice(node.start, node.end);
    const value = field(node, 'value');
    const by = others.find((one) => one !== shown) ?? otherLiteral(value, shown);
    return { start: node.start, end: node.end, text: by };
  }
  if (/^(?:Identifier|BinaryExpression|MemberExpression|CallExpression)$/.test(node.type))
    return { start: node.start, end: node.end, text: `'another ' + (${text.slice(node.start, node.end)})` };
  const parts = node.type === 'Property' ? nodesOf(nodeIn(node, 'value')) : childrenOf(node);
  for (const part of parts) {
    const found = otherValue(part, text, []);
    if (found) return found;
  }
  return null;
}
const nodesOf = (node: Node | null): readonly Node[] => (node ? [node] : []);

function otherLiteral(value: unknown, shown: string): string {
  if (typeof value === 'boolean') return String(!value);
  if (typeof value === 'number') return String(value + 1);
  return typeof value === 'string' ? `${shown.slice(0, -1)}x${shown.slice(-1)}` : "'another value'";
}

/** The edit after which an assertion or row wants something else; null if the rules know none. */
function misread(unit: Node, text: string, rows: readonly Node[]): Edit | null {
  if (unit.type === 'ArrayExpression') {
    const expected = nodesIn(unit, 'elements').findLast(({ type }) => type === 'Literal');
    const last = rows.flatMap(
      (row) => nodesIn(row, 'elements').findLast(({ type }) => type === 'Literal') ?? [],
    );
    const kind = (node: Node) => typeof field(node, 'value');
    const others = last
      .filter((node) => expected && kind(node) === kind(expected))
      .map(({ start, end }) => text.slice(start, end));
    return expected ? otherValue(expected, text, others) : null;
  }
  const call = callOf(unit, text);
  if (!call) return null;
  const expected = call.object === 'test' ? call.args[0] : call.args[1];
  if ((call.method === '' && call.object === 'assert') || /throw/i.test(call.method))
    return opposite(unit, text);
  return expected ? otherValue(expected, text, []) : null;
}

/** The edit after which it wants anything but what the fix gives; null if the rules know none. */
function opposite(unit: Node, text: string): Edit | null {
  const call = callOf(unit, text);
  const [first] = call?.args ?? [];
  if (!call || !first || call.object === 'test') return null;
  if (call.method === '')
    return { start: first.start, end: first.end, text: `!(${text.slice(first.start, first.end)})` };
  const callee = nodeIn(call.node, 'callee');
  const by = OPPOSITES[call.method];
  return callee && by ? { start: callee.start, end: callee.end, text: `${call.object}.${by}` } : null;
}

/** Maximum tests of each kind; a writer may submit eight. */
const MOST = { right: 4, 'other value': 2, 'base is right': 2 } as const;

/** The tests that the rules make of one test file as the base and as the fix have it. */
export function testsOfFix(base: string, fixed: string): readonly RuleMadeTest[] {
  const before = new Map<string, number>();
  for (const { key } of unitsOf(base)) before.set(key, (before.get(key) ?? 0) + 1);
  const all = unitsOf(fixed);
  const added = all.filter(({ key }) => {
    const left = before.get(key) ?? 0;
    before.set(key, left - 1);
    return left <= 0;
  });
  const rows = all.flatMap(({ node }) => (node.type === 'ArrayExpression' ? [node] : []));
  const size = Math.ceil(added.length / MOST.right);
  const right = Array.from(
    { length: size === 0 ? 0 : Math.ceil(added.length / size) },
    (_, i): RuleMadeTest => {
      const kept = added.slice(i * size, (i + 1) * size).map(({ node }) => node);
      return { kind: 'right', now: 'fails', file: withOnly(fixed, kept, []) };
    },
  );
  const wrong = (
    kind: 'other value' | 'base is right',
    now: 'fails' | 'passes',
    edit: (unit: Node) => Edit | null,
  ) =>
    added
      .flatMap(({ node }): readonly RuleMadeTest[] => {
        const change = edit(node);
        return change ? [{ kind, now, file: withOnly(fixed, [node], [change]) }] : [];
      })
      .slice(0, MOST[kind]);
  return [
    ...right,
    ...wrong('other value', 'fails', (unit) => misread(unit, fixed, rows)),
    ...wrong('base is right', 'passes', (unit) => opposite(unit, fixed)),
  ];
}
