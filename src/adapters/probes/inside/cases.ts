import { argumentsOf, isFunction, type Node, rootOf, walk } from './syntax.ts';

/** A test case of a file, or a statement with an assertion outside of any case. */
export interface Case {
  readonly kind: 'case' | 'statement';
  readonly node: Node;
  /** Its function, or the statement itself. */
  readonly body: Node;
  readonly title: Node | null;
}

interface Cases {
  readonly cases: readonly Case[];
  /** Functions of tests that contain other tests. */
  readonly groups: readonly Node[];
}

const CASE_WORDS: ReadonlySet<string> = new Set(['test', 'it', 'specify', 'fit']);
const CASE_WAYS: ReadonlySet<string> = new Set([
  'test',
  'it',
  'only',
  'serial',
  'concurrent',
  'sequential',
  'each',
]);

/** Callees that register a case: `test`, `it.only`, `t.test`, `test.each(rows)`. */
function registers(callee: Node): boolean {
  if (callee.type === 'identifier') return CASE_WORDS.has(callee.text);
  if (callee.type === 'call_expression' || callee.type === 'tagged_template') {
    const inner = callee.field('function');
    return (
      inner?.type === 'member_expression' && inner.field('property')?.text === 'each' && registers(inner)
    );
  }
  if (callee.type !== 'member_expression') return false;
  const property = callee.field('property')?.text ?? '';
  const object = callee.field('object');
  if (property === 'test' || property === 'it') return object?.type === 'identifier';
  return CASE_WAYS.has(property) && object !== null && registers(object);
}

function caseFunction(node: Node): Node | null {
  if (node.type !== 'call_expression') return null;
  const callee = node.field('function');
  if (!callee || !registers(callee)) return null;
  return argumentsOf(node).findLast(isFunction) ?? null;
}

const ASSERTING: ReadonlySet<string> = new Set(['assert', 'expect', 'should']);

/** Whether a call asserts: `assert…`, `expect(…)…`, or a method of a `t` of tape, tap or ava. */
export function asserts(call: Node): boolean {
  const callee = call.field('function');
  if (!callee) return false;
  const root = rootOf(callee);
  return (
    ASSERTING.has(root) ||
    (/^(t|st|tap)$/.test(root) && callee.type === 'member_expression') ||
    /^__p\.(same|throws)$/.test(callee.text)
  );
}

export function findCases(root: Node): Cases {
  const cases: Case[] = [];
  const groups: Node[] = [];
  const visit = (node: Node): void => {
    const fn = caseFunction(node);
    if (!fn) {
      for (const child of node.children) visit(child);
      return;
    }
    const before = cases.length;
    for (const child of fn.children) visit(child);
    if (cases.length > before) groups.push(fn);
    else cases.push({ kind: 'case', node, body: fn, title: argumentsOf(node)[0] ?? null });
  };
  for (const statement of root.children) {
    const before = cases.length;
    visit(statement);
    if (cases.length === before && isPlainTest(statement)) {
      cases.push({ kind: 'statement', node: statement, body: statement, title: null });
    }
  }
  return { cases, groups };
}

const STATEMENTS: ReadonlySet<string> = new Set([
  'expression_statement',
  'for_statement',
  'for_in_statement',
  'if_statement',
  'statement_block',
  'try_statement',
]);

function isPlainTest(statement: Node): boolean {
  if (!STATEMENTS.has(statement.type)) return false;
  for (const node of walk(statement)) if (node.type === 'call_expression' && asserts(node)) return true;
  return false;
}
