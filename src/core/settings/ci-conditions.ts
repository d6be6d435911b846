import { type CiMatrix, matrixValuesOnLinux } from './ci-matrix.ts';

/** Maximum characters of a condition that are read, and its nesting. */
const MAX_CONDITION_CHARS = 500;
const MAX_CONDITION_DEPTH = 8;
/** Not for the tests of a change, on Linux, that succeed. */
const ELSEWHERE =
  /windows|macos|darwin|failure\(|cancelled\(|schedule|cron|dispatch|release|nightly|secrets\./i;
/** Keys of a matrix that name an operating system. */
const SYSTEM_KEY = /^(?:os|runner|runs-on|platform|system|image)$|\bos\b/i;

/**
 * Whether a step runs on Linux in a run without failures, for some job of the matrix; null if only GitHub knows.
 * Conditions of which only GitHub knows that they are true, and that name a system, a timer or a secret, are false.
 */
export function runsHere(condition: string | undefined, matrix: CiMatrix): boolean | null {
  const text = (condition ?? '').replace(/^\s*\$\{\{|\}\}\s*$/g, '').trim();
  if (text.length > MAX_CONDITION_CHARS) return false;
  return text === '' ? true : conditionValue(text, matrix, 0);
}

/** `negated`: jobs of a matrix differ, so `matrix.slow` and `!matrix.slow` may both be true for some. */
function conditionValue(condition: string, matrix: CiMatrix, depth: number, negated = false): boolean | null {
  const text = condition.trim();
  if (depth > MAX_CONDITION_DEPTH) return null;
  const values = (parts: readonly string[]) =>
    parts.map((part) => conditionValue(part, matrix, depth + 1, negated));
  const some = splitAt(text, '||');
  if (some.length > 1) return oneOf(values(some), !negated);
  const all = splitAt(text, '&&');
  if (all.length > 1) return oneOf(values(all), negated);
  const [, opposite, group] = /^(?:!(?!=)\s*(.*)|\((.*)\))$/s.exec(text) ?? [];
  const inner = opposite ?? group;
  if (inner !== undefined)
    return conditionValue(inner, matrix, depth + 1, negated !== (opposite !== undefined));
  return simpleValue(text, matrix, negated) ?? (ELSEWHERE.test(text) ? negated : null);
}

/** The value that decides if some part has it; null if one is unknown. */
const oneOf = (values: readonly (boolean | null)[], deciding: boolean): boolean | null =>
  values.includes(deciding) ? deciding : values.includes(null) ? null : !deciding;

/** Parts of an expression between an operator outside of quotes and brackets. */
function splitAt(text: string, operator: '||' | '&&'): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const [token] of text.matchAll(/'[^']*'|\|\||&&|[\s\S]/g)) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === operator && depth === 0) parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts;
}

const isTruthy = (value: string): boolean => !/^(?:|false|0|null)$/i.test(value);

/** Without operators that join conditions; null if unknown. */
function simpleValue(text: string, matrix: CiMatrix, negated: boolean): boolean | null {
  if (/^(?:success|always)\(\)$/.test(text)) return !negated;
  if (/^github\.event_name\s*!=\s*'(?:schedule|workflow_dispatch|release)'$/.test(text)) return !negated;
  const [, call = '', of = '', part = ''] =
    /^(startsWith|endsWith|contains)\(\s*([\w.-]+)\s*,\s*'([^']*)'\s*\)$/i.exec(text) ?? [];
  const called = CALLS[call.toLowerCase()];
  if (called) return holds(of, matrix, { name: part, test: (value) => called(value, part), negated });
  const [, left = '', sign = '', right = ''] =
    /^([\w.-]+|'[^']*')\s*(==|!=|<=|>=|<|>)\s*('[^']*'|true|false|[\d.]+)$/.exec(text) ?? [];
  if (sign === '') {
    const values = valuesOf(text, matrix);
    const found = values?.filter((value) => isTruthy(value) !== negated);
    // A flag marks special jobs; the others are as good without it.
    if (!negated && found?.length !== 0 && found?.length !== values?.length) return null;
    return values && (values.length === 0 ? negated : found?.length !== 0);
  }
  const name = right.replace(/^'(.*)'$/, '$1');
  const opposite = negated !== (sign === '!=');
  const test = (value: string): boolean => compared(value, sign === '!=' ? '==' : sign, name);
  return holds(left, matrix, { name, test, negated: opposite });
}

const CALLS: Readonly<Record<string, (value: string, part: string) => boolean>> = {
  startswith: (value, part) => value.startsWith(part),
  endswith: (value, part) => value.endsWith(part),
  contains: (value, part) => value.includes(part),
};

function compared(value: string, sign: string, literal: string): boolean {
  const isEqual = value.toLowerCase() === literal.toLowerCase();
  const [one, other] = [Number.parseFloat(value), Number.parseFloat(literal)];
  if (isEqual) return sign.endsWith('=');
  return sign.startsWith('<') ? one < other : sign.startsWith('>') ? one > other : false;
}

interface Comparison {
  /** What the value is compared with. */
  readonly name: string;
  readonly test: (value: string) => boolean;
  readonly negated: boolean;
}

/** Whether it holds for some value. A system, and what no entry of the matrix has, is told by its name. */
function holds(of: string, matrix: CiMatrix, { name, test, negated }: Comparison): boolean | null {
  const key = /^matrix\.(.*)$/.exec(of)?.[1];
  const values = of === 'runner.os' || SYSTEM_KEY.test(key ?? '') ? [] : valuesOf(of, matrix);
  if (values === null) return null;
  if (values.length > 0) return values.some((value) => test(value) !== negated);
  return /linux|ubuntu/i.test(name) !== negated;
}

/** Values of a context; null for one that only GitHub knows. */
function valuesOf(path: string, matrix: CiMatrix): readonly string[] | null {
  const literal = /^(?:'([^']*)'|(true|false))$/.exec(path);
  if (literal) return [literal[1] ?? literal[2] ?? ''];
  // Nothing is cached here.
  if (/^steps\.[\w-]+\.outputs\.cache-hit$/.test(path)) return [''];
  const key = /^matrix\.([\w-]+(?:\.[\w-]+)?)$/.exec(path)?.[1];
  const values = key === undefined ? null : matrixValuesOnLinux(matrix, key);
  // A matrix or a list that an earlier job prints.
  const isUnknown = Object.keys(matrix).length === 0 || values?.some((value) => value.includes('${{'));
  return isUnknown ? null : values;
}
