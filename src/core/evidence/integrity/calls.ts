import type { Language } from '../languages.ts';
import { callForm, chainForm, conditionForm, type Form, matcherIn } from './forms.ts';
import { maskQuotes, squeeze } from './matchers.ts';
import { lineAt, lineOf, type Side } from './view.ts';

/** One `path(…)` in a text. */
export interface Call {
  /** `expect`, `t.assert.equal`, `assert_eq!`; `->`, `::` and `?.` are written as a dot. */
  readonly path: string;
  /** It goes on from a value: `f().path(…)`. */
  readonly chained: boolean;
  /** Offset where the path begins. */
  readonly at: number;
  /** Offset of the opening bracket. */
  readonly open: number;
  /** Offset behind the closing bracket; where it is missing, the end of the text, at most some lines on. */
  readonly end: number;
}

/** For each opening bracket the offset of the closing one; the length of the text where it is missing. */
export function bracketsOf(mask: string): ReadonlyMap<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (let i = 0; i < mask.length; i++) {
    const char = mask[i];
    if (char === '(' || char === '[' || char === '{') open.push(i);
    else if (char === ')' || char === ']' || char === '}') {
      // A stray closing bracket closes nothing; one of another kind closes what was forgotten inside.
      const recent = Math.max(0, open.length - MOST_FORGOTTEN);
      const at = open.slice(recent).findLastIndex((one) => PAIRS[mask[one] as string] === char);
      if (at >= 0) for (const one of open.splice(recent + at)) pairs.set(one, i);
    }
  }
  for (const one of open) pairs.set(one, mask.length);
  return pairs;
}

const PAIRS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const MOST_FORGOTTEN = 50;

/** All calls, in order of their opening brackets. */
export function callsOf(
  { mask }: Pick<Side, 'mask'>,
  brackets: ReadonlyMap<number, number>,
): readonly Call[] {
  const calls: Call[] = [];
  for (let open = mask.indexOf('('); open >= 0; open = mask.indexOf('(', open + 1)) {
    const head = pathBefore(mask, open);
    if (!head) continue;
    calls.push({ ...head, open, end: endOf(mask, open, brackets) });
  }
  return calls;
}

/** Longest part of a text that an open bracket is taken to reach over. */
const LONGEST_OPEN = 4_000;

/** The offset behind the bracket that closes another one. */
export function endOf(mask: string, open: number, brackets: ReadonlyMap<number, number>): number {
  const close = brackets.get(open) ?? mask.length;
  return close < mask.length ? close + 1 : Math.min(mask.length, open + LONGEST_OPEN);
}

const WORD = /[\w$@#\u0080-\uffff]/;
/** Longest path that is read backwards. */
const LONGEST_PATH = 200;

function pathBefore(mask: string, open: number): Pick<Call, 'path' | 'chained' | 'at'> | null {
  const words: string[] = [];
  const least = Math.max(0, open - LONGEST_PATH);
  let end = skipTypes(mask, skipSpace(mask, open, least, false), least);
  const macro = mask[end - 1] === '!';
  if (macro) end--;
  for (;;) {
    const start = wordStart(mask, end, least);
    if (start === end) break;
    words.unshift(mask.slice(start, end));
    const joint = jointBefore(mask, skipSpace(mask, start, least, true), least);
    if (joint === null) return finish(words, macro, start, false);
    end = joint;
    if (wordStart(mask, end, least) === end) return finish(words, macro, start, true);
  }
  return null;
}

const finish = (words: readonly string[], macro: boolean, at: number, chained: boolean) => ({
  path: words.join('.') + (macro ? '!' : ''),
  chained,
  at,
});

function skipSpace(mask: string, from: number, least: number, lines: boolean): number {
  let at = from;
  while (at > least && (mask[at - 1] === ' ' || mask[at - 1] === '\t' || (lines && mask[at - 1] === '\n')))
    at--;
  return at;
}

/** `f<T>(`: the path ends before the types. */
function skipTypes(mask: string, from: number, least: number): number {
  if (mask[from - 1] !== '>' || mask[from - 2] === '=' || mask[from - 2] === '-') return from;
  let depth = 0;
  for (let at = from - 1; at >= least && mask[at] !== ';' && mask[at] !== '\n'; at--) {
    if (mask[at] === '>') depth++;
    else if (mask[at] === '<' && --depth === 0) return mask.startsWith('::', at - 2) ? at - 2 : at;
  }
  return from;
}

function wordStart(mask: string, end: number, least: number): number {
  let at = end;
  while (at > least && WORD.test(mask[at - 1] as string)) at--;
  return at;
}

/** The offset before `.`, `?.`, `!.`, `->` or `::`, white space skipped; null where there is none. */
function jointBefore(mask: string, at: number, least: number): number | null {
  const two = mask.slice(Math.max(0, at - 2), at);
  const length = ['?.', '!.', '->', '::'].includes(two) ? 2 : two.endsWith('.') && two !== '..' ? 1 : 0;
  return length === 0 ? null : skipSpace(mask, at - length, least, true);
}

/** The arguments between an opening bracket and the end of its call, split at the commas between them. */
export function argumentsOf(
  source: Pick<Side, 'code' | 'mask'>,
  open: number,
  end: number,
): readonly string[] {
  const found: string[] = [];
  let depth = 0;
  let from = open + 1;
  const last = source.mask[end - 1] === ')' ? end - 1 : end;
  for (let i = from; i < last; i++) {
    const char = source.mask[i] as string;
    if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char)) depth--;
    else if (char === ',' && depth === 0) {
      found.push(source.code.slice(from, i));
      from = i + 1;
    }
  }
  const rest = source.code.slice(from, last);
  return rest.trim() === '' ? found : [...found, rest];
}

/** Statements without brackets that assert. */
const STATEMENTS: Partial<Readonly<Record<Language, RegExp>>> = {
  python: /(?:^|[:;])[ \t]*(assert)\b(?![ \t]*[=.])/gm,
  jvm: /^[ \t]*(assert)\b(?![ \t]*[=.(])|\bshould[A-Z]\w*[ \t]+(?=\S)|\bshould[A-Z]\w*[ \t]*$/gm,
  ruby: /^[ \t]*(assert\w*|refute\w*|flunk)\b(?![ \t]*[(=.])|\b(?:must|wont)_\w+\b(?!\()|\b(?:is_expected)\b/gm,
  shell: /^[ \t]*(assert\w*|refute\w*|is|ok|like|\[\[?)[ \t]/gm,
};

/** An assertion that is no call. */
interface Statement {
  readonly at: number;
  readonly end: number;
  readonly text: string;
  readonly awaited: boolean;
  readonly form: Form;
}

/** All assertions of a text that are written without brackets. */
export function statementsOf(
  side: Side,
  language: Language,
  brackets: ReadonlyMap<number, number>,
): readonly Statement[] {
  const pattern = STATEMENTS[language];
  if (!pattern) return [];
  return [...side.mask.matchAll(pattern)].map((match) => {
    const word = match[1];
    const at =
      word === undefined ? statementStart(side, match.index + 1) : match.index + match[0].indexOf(word);
    const end = statementEnd(side, brackets, at);
    const whole = side.code.slice(at, end);
    const [statement = whole] = whole.split(/\s(?:if|unless)\s(?=[^"']*$)/);
    return { at, end, text: squeeze(whole), awaited: false, form: statementForm(language, word, statement) };
  });
}

function statementForm(language: Language, word: string | undefined, statement: string): Form {
  if (word === undefined) return infixForm(statement);
  const rest = statement.slice(word.length);
  const args = argumentsIn(rest);
  if (language === 'python' || language === 'jvm') {
    const [condition = ''] = args;
    const form = conditionForm(condition, false);
    return args.length === 1 && isTuple(condition.trim()) ? { ...form, vacuous: true } : form;
  }
  if (language === 'shell' && word.startsWith('['))
    return conditionForm(rest.replace(/\]\]?\s*$/, '').replace(/\s=\s/, ' == '), false);
  return callForm(word, args);
}

/** `x shouldBe 3`, `x.must_equal 3`, `is_expected.to eq 3`. */
function infixForm(statement: string): Form {
  const infix = /^([\s\S]*?)[\s.]*\b((?:should|must_|wont_|is_expected)\w*)\s*([\s\S]*)$/.exec(statement);
  const [, left = statement, name = '', right = ''] = infix ?? [];
  if (name !== 'is_expected') return chainForm(squeeze(left), [{ name, args: [right] }]);
  const inner = matcherIn(right.replace(/^\.(?:to|not_to|to_not)\s*/, ''));
  return chainForm('subject', [{ name: inner?.name ?? '', args: inner?.args ?? [] }]);
}

const argumentsIn = (text: string): readonly string[] =>
  argumentsOf({ code: `(${text})`, mask: `(${maskQuotes(text)})` }, 0, text.length + 2);

/** `(a == b, "message")`: true, whatever a and b are. */
const isTuple = (text: string): boolean =>
  /^\([\s\S]*\)$/.test(text) && argumentsIn(text.slice(1, -1)).length > 1;

/** Where the value begins that a chained call is made on: the statement's first line. */
export function statementStart(side: Side, at: number): number {
  let line = lineAt(side, at);
  for (let i = 0; i < 30 && line > 0 && /^\s*(?:\.|->|\?\.|\)|\]|\})/.test(lineOf(side, line, 'mask')); i++)
    line--;
  const start = side.starts[line] as number;
  const indent = /^\s*/.exec(side.mask.slice(start, at))?.[0].length ?? 0;
  return start + indent;
}

/** The end of the line, or of the line on which the last bracket closes that was opened on the way. */
function statementEnd(side: Side, brackets: ReadonlyMap<number, number>, at: number): number {
  let end = (side.starts[lineAt(side, at) + 1] ?? side.mask.length) - 1;
  for (let i = at; i < end; i++) {
    const close = '([{'.includes(side.mask[i] as string) ? brackets.get(i) : undefined;
    if (close !== undefined && close > end && close < side.mask.length)
      end = (side.starts[lineAt(side, close) + 1] ?? side.mask.length) - 1;
    if (i === end - 1 && side.mask[i] === '\\')
      end = (side.starts[lineAt(side, end + 1) + 1] ?? side.mask.length) - 1;
  }
  return Math.max(at, end);
}
