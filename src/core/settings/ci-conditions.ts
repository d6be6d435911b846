import {
  Binary,
  ContextAccess,
  type Expr,
  FunctionCall,
  Grouping,
  IndexAccess,
  Literal,
  Logical,
  Unary,
} from '@actions/expressions/ast';
import { BooleanData, type ExpressionData, Null, StringData } from '@actions/expressions/data/index';
import { wellKnownFunctions } from '@actions/expressions/funcs';
import { Lexer, TokenType } from '@actions/expressions/lexer';
import { Parser } from '@actions/expressions/parser';
import { equals, greaterThan, lessThan, truthy } from '@actions/expressions/result';
import { type CiMatrix, matrixValuesOnLinux } from './ci-matrix.ts';

/** Maximum characters of a condition that are read. */
const MAX_CONDITION_CHARS = 500;
/** Maximum combinations of values, of several keys of a matrix, that an operation is evaluated for. */
const MAX_COMBINATIONS = 200;
/** Not for the tests of a change, on Linux, that succeed. */
const ELSEWHERE = /windows|macos|darwin|schedule|cron|dispatch|release|nightly|secrets\./i;
const LINUX = /linux|ubuntu/i;
/** Keys of a matrix that name an operating system. */
const SYSTEM_KEY = /^(?:os|runner|runs-on|platform|system|image)$|\bos\b/i;
/** docs.github.com/en/actions/reference/workflows-and-actions/contexts */
const CONTEXTS = 'github env vars job jobs steps runner secrets strategy matrix needs inputs'.split(' ');
/** In a run without failures. */
const STATUS = new Map([
  ['success', true],
  ['always', true],
  ['failure', false],
  ['cancelled', false],
]);
const OTHER_FUNCTIONS = [
  ...[...STATUS.keys()].map((name) => ({ name, minArgs: 0, maxArgs: 0 })),
  { name: 'hashFiles', minArgs: 1, maxArgs: 255 },
];

/**
 * Whether a step runs on Linux in a run without failures, for some job of the matrix; null if only GitHub knows.
 * Conditions of which only GitHub knows that they are true, and that name a system, a timer or a secret, are false.
 */
export function runsHere(condition: string | undefined, matrix: CiMatrix): boolean | null {
  const text = (condition ?? '').replace(/^\s*\$\{\{|\}\}\s*$/g, '').trim();
  if (text.length > MAX_CONDITION_CHARS) return false;
  if (text === '') return true;
  const expression = parsedCondition(text);
  if (expression === null) return ELSEWHERE.test(text) ? false : null;
  return isForSome(expression, true, matrix);
}

function parsedCondition(text: string): Expr | null {
  try {
    return new Parser(new Lexer(text).lex().tokens, CONTEXTS, OTHER_FUNCTIONS).parse();
  } catch {
    // Not an expression that GitHub would take.
    return null;
  }
}

/** Whether an expression is `wanted` in some job; null if only GitHub knows. `x` and `!x` may both be true for some. */
function isForSome(expression: Expr, wanted: boolean, matrix: CiMatrix): boolean | null {
  if (expression instanceof Grouping) return isForSome(expression.group, wanted, matrix);
  if (expression instanceof Unary) return isForSome(expression.expr, !wanted, matrix);
  if (expression instanceof Logical) {
    const values = expression.args.map((one) => isForSome(one, wanted, matrix));
    const deciding = (expression.operator.type === TokenType.OR) === wanted;
    return values.includes(deciding) ? deciding : values.includes(null) ? null : !deciding;
  }
  const values = valuesOf(expression, matrix);
  if (values === null) return ELSEWHERE.test(mentionedIn(expression).join(' ')) ? !wanted : null;
  const found = values.filter((one) => truthy(one) === wanted);
  // A flag marks special jobs; the others are as good without it.
  if (wanted && contextPath(expression) !== null && found.length > 0 && found.length < values.length)
    return null;
  return values.length === 0 ? !wanted : found.length > 0;
}

/** Values that an expression has in the jobs; null if only GitHub knows them. */
type Values = readonly ExpressionData[] | null;

function valuesOf(expression: Expr, matrix: CiMatrix): Values {
  if (expression instanceof Literal) {
    const { literal } = expression;
    return [literal instanceof StringData ? dataOf(literal.value) : literal];
  }
  if (expression instanceof Grouping) return valuesOf(expression.group, matrix);
  if (expression instanceof Binary) return comparedValues(expression, matrix);
  if (expression instanceof FunctionCall) return calledValues(expression, matrix);
  return pathValues(contextPath(expression), matrix);
}

function comparedValues({ left, operator, right }: Binary, matrix: CiMatrix): Values {
  const isDifferent = operator.type === TokenType.BANG_EQUAL;
  const sides = [left, right].map((side) => ({ side, values: valuesOf(side, matrix) }));
  const literal = sides.find(({ side }) => side instanceof Literal)?.values?.[0]?.coerceString();
  if (literal !== undefined && sides.some(({ side }) => isSystem(side, matrix)))
    return [new BooleanData(LINUX.test(literal) !== isDifferent)];
  // An event, a branch or a system that is not that of a change.
  if (isDifferent && literal !== undefined && ELSEWHERE.test(literal)) return [new BooleanData(true)];
  const pairs = combined(sides.map(({ values }) => values));
  return pairs?.map((pair) => new BooleanData(compared(pair, operator.type))) ?? null;
}

function compared(
  [left = new Null(), right = new Null()]: readonly ExpressionData[],
  operator: TokenType,
): boolean {
  const isEqual = equals(left, right);
  switch (operator) {
    case TokenType.EQUAL_EQUAL:
      return isEqual;
    case TokenType.BANG_EQUAL:
      return !isEqual;
    case TokenType.GREATER:
      return greaterThan(left, right);
    case TokenType.GREATER_EQUAL:
      return isEqual || greaterThan(left, right);
    case TokenType.LESS:
      return lessThan(left, right);
    default:
      return isEqual || lessThan(left, right);
  }
}

function calledValues({ functionName, args }: FunctionCall, matrix: CiMatrix): Values {
  const name = functionName.lexeme.toLowerCase();
  const status = STATUS.get(name);
  if (status !== undefined) return [new BooleanData(status)];
  const [of, part] = args;
  if (of && part instanceof Literal && isSystem(of, matrix))
    return [new BooleanData(LINUX.test(part.literal.coerceString()))];
  const called = Object.hasOwn(wellKnownFunctions, name) ? wellKnownFunctions[name] : undefined;
  const rows = combined(args.map((one) => valuesOf(one, matrix)));
  if (!called || !rows) return null;
  try {
    return rows.map((row) => called.call(...row));
  } catch {
    // `fromJSON` of what is no JSON.
    return null;
  }
}

/** All combinations of the values of several expressions. */
function combined(all: readonly Values[]): readonly (readonly ExpressionData[])[] | null {
  let rows: readonly (readonly ExpressionData[])[] = [[]];
  for (const values of all) {
    if (values === null || rows.length * values.length > MAX_COMBINATIONS) return null;
    rows = rows.flatMap((row) => values.map((value) => [...row, value]));
  }
  return rows;
}

/** `matrix.os`; null for what is none. */
function contextPath(expression: Expr): string | null {
  if (expression instanceof ContextAccess) return expression.name.lexeme;
  if (!(expression instanceof IndexAccess) || !(expression.index instanceof Literal)) return null;
  const of = contextPath(expression.expr);
  return of === null ? null : `${of}.${expression.index.literal.coerceString()}`;
}

const matrixKey = (path: string | null): string | undefined =>
  /^matrix\.([\w-]+(?:\.[\w-]+)?)$/.exec(path ?? '')?.[1];

/** An operating system, and what no entry of the matrix has, is told by its name. */
function isSystem(expression: Expr, matrix: CiMatrix): boolean {
  const path = contextPath(expression);
  const key = matrixKey(path);
  return (
    path === 'runner.os' ||
    (key !== undefined && (SYSTEM_KEY.test(key) || pathValues(path, matrix)?.length === 0))
  );
}

function pathValues(path: string | null, matrix: CiMatrix): Values {
  // Nothing is cached here.
  if (/^steps\.[\w-]+\.outputs\.cache-hit$/.test(path ?? '')) return [new StringData('')];
  const key = matrixKey(path);
  const values = key === undefined ? null : matrixValuesOnLinux(matrix, key);
  // A matrix or a list that an earlier job prints.
  const isUnknown = Object.keys(matrix).length === 0 || values?.some((value) => value.includes('${{'));
  return isUnknown || values === null ? null : values.map(dataOf);
}

/** Files are read as texts: what YAML has as a boolean or as nothing is one here. */
function dataOf(text: string): ExpressionData {
  if (/^(?:true|false)$/i.test(text)) return new BooleanData(text.toLowerCase() === 'true');
  return /^(?:null|0)$/i.test(text) ? new Null() : new StringData(text);
}

/** Names and literals in an expression, in their order. */
function mentionedIn(expression: Expr): readonly string[] {
  const path = contextPath(expression);
  if (path !== null) return [path];
  if (expression instanceof Literal) return [expression.literal.coerceString()];
  if (expression instanceof Binary) return [expression.left, expression.right].flatMap(mentionedIn);
  if (expression instanceof FunctionCall)
    return [expression.functionName.lexeme, ...expression.args.flatMap(mentionedIn)];
  if (expression instanceof Grouping) return mentionedIn(expression.group);
  return [];
}
