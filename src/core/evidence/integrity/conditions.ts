import { type Form, formOf } from './form.ts';
import { isLiteral, maskQuotes, squeeze } from './literals.ts';
import { STRENGTH, strengthOf } from './matchers.ts';

const COMPARES = /^(?:===?|!==?|<=|>=|(?<![-=<])>(?!>)|<(?!<)|=~|!~|(?<!\w)(?:is ?not|not ?in|is|in)(?!\w))/;
const JOINS = /^(?:&&|\|\||(?<!\w)(?:and|or)(?!\w))/;

/** Longest condition that is taken apart. */
const LONGEST = 2_000;

/** A condition that must hold: `a == b`, `not a`, `a < 3`. `inverted`: that must not hold. */
export function conditionForm(condition: string, inverted: boolean, name = 'assert'): Form {
  const text = squeeze(condition.slice(0, LONGEST));
  const joins = topLevel(text, JOINS);
  const compared = joins.some(({ operator }) => /\|\||or/.test(operator)) ? [] : topLevel(text, COMPARES);
  const [first] = compared;
  if (!first) return truth(text, inverted, name);
  const [left, right] = [text.slice(0, first.at), text.slice(first.at + first.operator.length)];
  return comparison(left.trim(), first.operator, right.trim(), inverted);
}

function truth(text: string, inverted: boolean, name: string): Form {
  const form = formOf({
    name,
    negative: false,
    subject: text,
    expected: inverted ? 'false' : 'true',
    args: [],
  });
  const strength = strengthOf(name) === STRENGTH.yesNo ? STRENGTH.yesNo : STRENGTH.some;
  return { ...form, strength, vacuous: alwaysHolds(text, inverted) };
}

function comparison(left: string, operator: string, right: string, inverted: boolean): Form {
  const [expected, subject] = expectedness(left) > expectedness(right) ? [left, right] : [right, left];
  const negative = /^!|not/.test(operator) !== inverted;
  const bound = /^[<>]/.test(operator);
  const name = bound ? 'less' : /in$|~/.test(operator) ? 'contains' : 'equal';
  const form = formOf({ name, negative, subject, expected, args: [expected] });
  return { ...form, matcher: operator, slack: bound ? boundOf(operator, expected) : form.slack };
}

/** Which of two sides is the one that was written down: 2 is sure, 0 is computed. */
export function expectedness(text: string): number {
  if (isLiteral(text)) return 2;
  if (/^\s*&?(?:\w*[Ee]xpect\w*|want\w*|golden\w*)\s*$/.test(text)) return 2;
  return text.includes('(') ? 0 : 1;
}

/** `x < 3` lets more pass the larger the number, `x > 3` the smaller. */
function boundOf(operator: string, expected: string): number | null {
  const number = Number(expected.replaceAll('_', ''));
  return Number.isFinite(number) ? (operator.includes('<') ? number : -number) : null;
}

/** Operators outside of brackets and quotes; arrows are none. */
function topLevel(
  text: string,
  pattern: RegExp,
): readonly { readonly at: number; readonly operator: string }[] {
  const flat = maskQuotes(text);
  const found: { at: number; operator: string }[] = [];
  let depth = 0;
  for (let i = 0; i < flat.length; i++) {
    const char = flat[i] as string;
    if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char)) depth--;
    if (depth !== 0) continue;
    if (flat.startsWith('=>', i) || flat.startsWith('->', i)) {
      i++;
      continue;
    }
    const word = /\w/.test(char) && /\w/.test(flat[i - 1] ?? '');
    const operator = word ? undefined : pattern.exec(flat.slice(i, i + 8))?.[0];
    if (operator === undefined) continue;
    found.push({ at: i, operator });
    i += operator.length - 1;
  }
  return found;
}

const TRUE = /^(?:true|1|!0|!false|not false|!!1|"[^"]+")$/i;
const FALSE = /^(?:false|0|!1|!true|not true|""|null|none|nil)$/i;

function alwaysHolds(text: string, inverted: boolean): boolean {
  if (inverted) return FALSE.test(text) || /(?:&&|\band) ?false$/i.test(text);
  return (
    TRUE.test(text) ||
    /(?:\|\||\bor) ?\(?(?:true|1|!0|not false)\)?$/i.test(text) ||
    /^(?:true|1) ?(?:\|\||or\b)/i.test(text)
  );
}
