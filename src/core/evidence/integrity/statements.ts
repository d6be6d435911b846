import type { Language } from '../languages.ts';
import { argumentsOf } from './calls.ts';
import { conditionForm } from './conditions.ts';
import type { Form } from './form.ts';
import { callForm, chainForm, matcherIn } from './forms.ts';
import { maskQuotes, squeeze } from './literals.ts';
import { lineAt, lineOf, type Side } from './view.ts';

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
