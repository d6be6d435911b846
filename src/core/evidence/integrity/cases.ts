import type { Language } from '../languages.ts';
import { argumentsOf, type Call, endOf } from './calls.ts';
import { CASE_MARKS, type CaseMarks } from './case-marks.ts';
import { lineAt, lineOf, type Side } from './view.ts';

/** One test, or a group of tests, in a text. */
export interface Case {
  readonly name: string;
  readonly suite: boolean;
  /** Offset of the first mark, decorator or word that belongs to it. */
  readonly at: number;
  /** Offset where its head ends and what it does begins. */
  readonly body: number;
  readonly end: number;
}

interface Reading {
  readonly side: Side;
  readonly marks: CaseMarks;
  readonly brackets: ReadonlyMap<number, number>;
  /** The same from closing to opening ones. */
  readonly openers: ReadonlyMap<number, number>;
  readonly language: Language;
}

/** All tests and groups of a text, in order. */
export function casesOf(
  side: Side,
  language: Language,
  calls: readonly Call[],
  brackets: ReadonlyMap<number, number>,
): readonly Case[] {
  const openers = new Map([...brackets].map(([open, close]) => [close, open] as const));
  const reading = { side, marks: CASE_MARKS[language], brackets, openers, language };
  const found = [...called(reading, calls), ...declared(reading)];
  return found.sort((a, b) => a.at - b.at || b.end - a.end);
}

const squeezed = (text: string): string => text.replace(/\s+/g, ' ').trim();

function called({ side, marks, brackets }: Reading, calls: readonly Call[]): readonly Case[] {
  const { calls: words, suites } = marks;
  if (!words) return [];
  return calls.flatMap((call) => {
    const word = call.chained ? undefined : wordOf(call.path, words);
    if (word === undefined) return [];
    const tables = /\.(?:each|for|skipIf|runIf|cases)$/.test(call.path);
    const own = tables ? following(side, brackets, call) : call;
    if (!own) return [];
    const name = nameIn(side, own.open, own.end);
    if (name === null) return [];
    const braces = /^[A-Z][A-Z_]+$/.test(word) ? blockAfter(side, brackets, own.end) : null;
    const end = braces?.end ?? own.end;
    const body = braces?.start ?? bodyOf(side, own.open, own.end);
    return [{ name, suite: suites?.has(word) ?? false, at: call.at, body, end }];
  });
}

/** `test.skip` declares with the word `test`, `Deno.test.only` with `Deno.test`. */
function wordOf(path: string, words: ReadonlySet<string>): string | undefined {
  const parts = path
    .replace(/^\w+(?=\.(?:describe|suite)\b)/, '')
    .split('.')
    .filter(Boolean);
  const two = parts.slice(0, 2).join('.');
  return words.has(two) ? two : parts.length < 7 && words.has(parts[0] ?? '') ? parts[0] : undefined;
}

/** `each(table)(…)`: the call that follows a call. */
function following(side: Side, brackets: ReadonlyMap<number, number>, call: Call): Call | null {
  const next = /^\s*\(/.exec(side.mask.slice(call.end, call.end + 200));
  if (!next) return null;
  const open = call.end + next[0].length - 1;
  return { ...call, open, end: endOf(side.mask, open, brackets) };
}

/** The first argument when it is a text, or when a function follows it. */
function nameIn(side: Side, open: number, end: number): string | null {
  const head = side.code.slice(open + 1, Math.min(end, open + 600));
  const quoted = /^\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`]*)`)/.exec(head);
  if (quoted) return quoted[1] ?? quoted[2] ?? quoted[3] ?? '';
  const [first, second] = argumentsOf(side, open, Math.min(end, open + 4_000));
  if (first === undefined || /^\s*(?:\(|function\b|async\b|[\w$]+\s*=>)/.test(first))
    return first === undefined ? null : '';
  const callback =
    second !== undefined && (/=>|\bfunction\b|\bfunc\b|\{/.test(second) || /^\s*\w+\s*$/.test(second));
  return callback ? squeezed(first).slice(0, 200) : null;
}

/** What a test does begins with its function. */
function bodyOf(side: Side, open: number, end: number): number {
  const match = /=>|\bfunction\b|\bfunc\b|\)\s*(?:async\s*)?\{/.exec(side.mask.slice(open, end));
  return match ? open + match.index + match[0].length : open + 1;
}

function blockAfter(
  { mask }: Side,
  brackets: ReadonlyMap<number, number>,
  from: number,
): { start: number; end: number } | null {
  const brace = mask.slice(from, from + 2_000).search(/[{;]/);
  if (brace < 0 || mask[from + brace] === ';') return null;
  const start = from + brace;
  return { start: start + 1, end: Math.min(mask.length, (brackets.get(start) ?? mask.length) + 1) };
}

const MOST_LINE = 1_000;
/** Lines between a mark and the method that it marks. */
const MOST_MARKS = 15;

function declared(reading: Reading): readonly Case[] {
  const { side, marks } = reading;
  const found: Case[] = [];
  const seen = new Set<number>();
  const add = (name: string, suite: boolean, index: number) => {
    if (seen.has(index)) return;
    seen.add(index);
    found.push(caseAt(reading, name, suite, index));
  };
  const lines = side.starts.length - 1;
  for (let i = 0; i < lines; i++) {
    const line = lineOf(side, i).slice(0, MOST_LINE);
    // A declaration inside of a string is none.
    if (lineOf(side, i, 'mask').trim() === '') continue;
    const name = groupsOf(marks.named?.exec(line));
    if (name !== null) add(name, false, i);
    const group = groupsOf(marks.group?.exec(line));
    if (group !== null) add(group, true, i);
    if (!marks.marked?.test(line)) continue;
    const at = methodLine(reading, i);
    if (at) add(at.name, false, at.index);
  }
  return found;
}

const groupsOf = (match: RegExpExecArray | null | undefined): string | null =>
  match ? (match.slice(1).find((one) => one !== undefined) ?? '') : null;

function methodLine({ side, marks }: Reading, from: number): { name: string; index: number } | null {
  for (let i = from; i < Math.min(side.starts.length - 1, from + MOST_MARKS); i++) {
    const line = lineOf(side, i).slice(0, MOST_LINE);
    // What stands on the line of the mark itself comes after it.
    const rest = i === from ? line.replace(/^\s*(?:[@#*/]*\[?[\w.:\\@]+(?:\([^()]*\))?\]?)/, '') : line;
    if (i > from && /^\s*(?:[@[*]|#\[|\/\*|$)/.test(line)) continue;
    const name = groupsOf(marks.method?.exec(rest));
    if (name !== null) return { name, index: i };
  }
  return null;
}

function caseAt(reading: Reading, name: string, suite: boolean, index: number): Case {
  const { side, brackets, language } = reading;
  const at = side.starts[firstMark(reading, index)] as number;
  const line = side.starts[index] as number;
  if (language === 'python' || language === 'ruby' || language === 'shell')
    return { name, suite, at, body: side.starts[index + 1] as number, end: dedent(side, brackets, index) };
  const block = blockAfter(side, brackets, line);
  const next = side.starts[index + 1] as number;
  return { name, suite, at, body: block?.start ?? next, end: block?.end ?? next };
}

/** Decorators, attributes and annotations stand in the lines above; one may go over several lines. */
function firstMark({ side, openers }: Reading, index: number): number {
  let first = index;
  for (let i = index - 1; i >= 0 && first - i <= MOST_MARKS; i--) {
    const end = (side.starts[i] as number) + lineOf(side, i, 'mask').trimEnd().length;
    const open = openers.get(end - 1);
    if (open !== undefined) i = Math.min(i, lineAt(side, open));
    if (!/^\s*(?:@|#!?\[|\[\w)/.test(lineOf(side, i))) break;
    first = i;
  }
  return first;
}

/** The offset behind the last line that is indented more than this one, its `end` or brace included. */
function dedent(side: Side, brackets: ReadonlyMap<number, number>, index: number): number {
  const depth = (line: string) => line.length - line.trimStart().length;
  const own = depth(lineOf(side, index));
  const open = side.mask.indexOf('(', side.starts[index]);
  const close = open >= 0 && open < (side.starts[index + 1] as number) ? brackets.get(open) : undefined;
  const head = close === undefined || close >= side.mask.length ? index : lineAt(side, close);
  for (let i = head + 1; i + 1 < side.starts.length; i++) {
    const line = lineOf(side, i, 'mask');
    // The end of a text over several lines may stand anywhere.
    if (line.trim() === '' || depth(line) > own || /^\s*["'`]{1,3}[\s),.\]]*$/.test(line)) continue;
    return /^\s*(?:end\b|\})/.test(line) ? (side.starts[i + 1] as number) : (side.starts[i] as number);
  }
  return side.mask.length;
}

/** The innermost of some tests or groups (in order) around an offset; one that begins on the same line counts. */
export function ownerOf(side: Side, cases: readonly Case[], offset: number): Case | null {
  const line = lineAt(side, offset);
  const from = side.starts[line] ?? offset;
  const to = side.starts[line + 1] ?? offset;
  for (let i = lastBefore(cases, to); i >= 0; i--) {
    const one = cases[i] as Case;
    const here = one.at >= from;
    if ((one.at <= offset || here) && offset < one.end) return one;
  }
  return null;
}

/** The index of the last that begins before an offset; they are sorted. */
export function lastBefore(sorted: readonly { readonly at: number }[], offset: number): number {
  let low = -1;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sorted[middle] as { at: number }).at < offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
