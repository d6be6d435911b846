import { createRequire } from 'node:module';
import { callArguments, isFunction, type Node, rootIdentifier, walk } from './syntax.ts';

/** A test case of a file, or a statement with an assertion outside of any case. */
export interface ProbeCase {
  readonly kind: 'case' | 'statement';
  readonly node: Node;
  /** Its function, or the statement itself. */
  readonly body: Node;
  readonly title: Node | null;
}

interface Cases {
  readonly cases: readonly ProbeCase[];
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
  return callArguments(node).findLast(isFunction) ?? null;
}

const ASSERTING: ReadonlySet<string> = new Set(['assert', 'expect', 'should']);

/** Whether a call asserts: `assert…`, `expect(…)…`, or a method of a `t` of tape, tap or ava. */
export function asserts(call: Node): boolean {
  const callee = call.field('function');
  if (!callee) return false;
  const root = rootIdentifier(callee);
  return (
    ASSERTING.has(root) ||
    (/^(t|st|tap)$/.test(root) && callee.type === 'member_expression') ||
    /^__p\.(same|throws)$/.test(callee.text)
  );
}

export function findCases(root: Node): Cases {
  const cases: ProbeCase[] = [];
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
    else cases.push({ kind: 'case', node, body: fn, title: callArguments(node)[0] ?? null });
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

/** A literal that is an input of a case: changing it tests the code with another input. */
export interface Literal {
  readonly node: Node;
  readonly value: unknown;
}

const SIMPLE: ReadonlySet<string> = new Set(['string', 'number', 'true', 'false', 'template_string']);
const COMPOSITE: ReadonlySet<string> = new Set(['array', 'object']);
/** Calls whose arguments are not inputs. */
const APART =
  /^(require|import|describe|suite|context|setTimeout|setInterval|plan|timeout|slow|retries|comment|mock|spyOn|each)$/;
const MAX_LITERAL_TEXT = 2000;

/** Input literals in `body`, outer ones first. Expected values are not included. */
export function inputLiterals(body: Node): readonly Literal[] {
  const expected = expectedParts(body);
  const found: Literal[] = [];
  const visit = (node: Node): void => {
    if (expected.has(node) || isApart(node)) return;
    if ((SIMPLE.has(node.type) || COMPOSITE.has(node.type) || isSigned(node)) && consistsOfLiterals(node)) {
      const literal = isInput(node) ? literalOf(node) : null;
      if (literal) found.push(literal);
      return;
    }
    for (const child of node.children) visit(child);
  };
  visit(body);
  return found;
}

const isSigned = (node: Node): boolean =>
  node.type === 'unary_expression' && /^-\s*[\d.]/.test(node.text) && node.children[0]?.type === 'number';

/** Whether it consists of literals only. */
function consistsOfLiterals(node: Node): boolean {
  for (const each of walk(node)) {
    if (each.type === 'string' || each.type === 'comment') continue;
    if (!PLAIN.has(each.type)) return false;
  }
  return true;
}
const PLAIN: ReadonlySet<string> = new Set([
  ...[
    'string',
    'string_fragment',
    'escape_sequence',
    'number',
    'true',
    'false',
    'null',
    'undefined',
    'template_string',
  ],
  ...['array', 'object', 'pair', 'property_identifier', 'unary_expression', 'computed_property_name'],
]);

function literalOf(node: Node): Literal | null {
  if (node.text.length > MAX_LITERAL_TEXT) return null;
  try {
    // The text contains only literals, so evaluating it is safe and gives the exact value.
    return { node, value: new Function(`'use strict'; return (${node.text}\n);`)() };
  } catch {
    return null;
  }
}

/** False for keys, indexes, directives, types, markup, and parts of loops and comparisons. */
function isInput(node: Node): boolean {
  const { parent } = node;
  if (!parent) return false;
  switch (parent.type) {
    case 'pair':
      return parent.field('key') !== node;
    case 'subscript_expression':
      return parent.field('index') !== node;
    case 'binary_expression':
      return !/^(string|template_string|true|false)$/.test(node.type);
    case 'expression_statement':
    case 'import_statement':
    case 'literal_type':
    case 'jsx_attribute':
    case 'switch_case':
    case 'assignment_pattern':
    case 'object_assignment_pattern':
      return false;
    default:
      return true;
  }
}

function isApart(node: Node): boolean {
  if (node.type === 'for_statement' || node.type === 'type_annotation' || node.type === 'import_statement') {
    return node.type !== 'for_statement';
  }
  const { parent } = node;
  if (parent?.type === 'for_statement' && parent.field('body') !== node) return true;
  if (node.type !== 'call_expression') return false;
  const callee = node.field('function');
  const name = callee?.field('property')?.text ?? callee?.text ?? '';
  return APART.test(name);
}

/**
 * Ids of nodes with expected values: later arguments of assertions, arguments of matchers, and what is only used for
 * these.
 */
function expectedParts(body: Node): ReadonlySet<Node> {
  const parts: Node[] = [];
  for (const node of walk(body)) {
    if (node.type !== 'call_expression' || !asserts(node)) continue;
    const callee = node.field('function');
    const matcher = callee?.type === 'member_expression' && holdsCall(callee);
    parts.push(...callArguments(node).slice(matcher ? 0 : 1));
  }
  const ids = new Set<Node>(parts);
  const names = new Set(
    parts.flatMap((part) =>
      [...walk(part)].filter((node) => node.type === 'identifier').map((node) => node.text),
    ),
  );
  const inside = (node: Node): boolean =>
    parts.some((part) => part.startIndex <= node.startIndex && node.endIndex <= part.endIndex);
  for (const node of walk(body)) {
    if (node.type !== 'variable_declarator') continue;
    const name = node.field('name');
    const value = node.field('value');
    if (!name || !value || !names.has(name.text)) continue;
    const uses = [...walk(body)].filter(
      (each) => each.type === 'identifier' && each.text === name.text && each !== name,
    );
    if (uses.length > 0 && uses.every(inside)) ids.add(value);
  }
  return ids;
}

const holdsCall = (callee: Node): boolean => {
  const object = callee.field('object');
  if (!object) return false;
  return object.type === 'call_expression' || holdsCall(object);
};

/** A value to try instead of another: see mutate.cjs, which also runs in the tests' own process. */
interface SimilarValue {
  readonly value: unknown;
  readonly how: string;
  readonly light: boolean;
}

export const { hashOf, similarValues } = createRequire(import.meta.url)('./mutate.cjs') as {
  hashOf(text: string): number;
  similarValues(value: unknown, pool: readonly unknown[], seed: string): readonly SimilarValue[];
};

const MAX_OF_A_KIND = 60;
const MAX_LENGTH = 40;
const NUMBERS = /(?<![\w.$])\d+(?:\.\d+)?(?![\w.])/g;
const STRINGS = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/g;

/**
 * Constants in the texts of several authors, each integer with its neighbours: the behaviour of code often changes
 * there. If there are too many, each author has a share. `all` is sorted, so that no order has an effect.
 */
export function sharedConstants(texts: readonly string[]): {
  readonly all: readonly unknown[];
  readonly byAuthor: readonly (readonly unknown[])[];
} {
  const numbers = withinShares(texts.map((text) => sortedNumbers(numbersIn(text))));
  const strings = withinShares(texts.map((text) => [...new Set(stringsIn(text))].sort()));
  return {
    all: [...sortedNumbers(numbers.flat()), ...[...new Set(strings.flat())].sort()],
    byAuthor: texts.map((_, nth) => [...(numbers[nth] ?? []), ...(strings[nth] ?? [])]),
  };
}

const sortedNumbers = (numbers: readonly number[]) => [...new Set(numbers)].sort((a, b) => a - b);

function withinShares<T>(all: readonly (readonly T[])[]): readonly (readonly T[])[] {
  const isMany = new Set(all.flat()).size > MAX_OF_A_KIND;
  const share = Math.floor(MAX_OF_A_KIND / Math.max(1, all.length));
  return isMany ? all.map((own) => own.slice(0, share)) : all;
}

function numbersIn(text: string): readonly number[] {
  const numbers = [...text.matchAll(NUMBERS)].map(([number]) => Number(number)).filter(Number.isSafeInteger);
  return numbers.flatMap((number) => [number - 1, number, number + 1]);
}

const stringsIn = (text: string): readonly string[] =>
  [...text.matchAll(STRINGS)]
    .map(([, single, double]) => single ?? double ?? '')
    .filter(
      (string) =>
        string !== '' && string.length <= MAX_LENGTH && !string.includes('\\') && !/^[.@\w-]*\//.test(string),
    );
