import {
  CHAIN_WORDS,
  isLiteral,
  isNegative,
  looseParts,
  maskQuotes,
  STRENGTH,
  squeeze,
  strengthOf,
} from './matchers.ts';

/** The meaning of an assertion, independent of its syntax. */
export interface Form {
  /** Name of the matcher, for messages. */
  readonly matcher: string;
  /** A level of STRENGTH. */
  readonly strength: number;
  readonly negative: boolean;
  /** The value under test, without white space. */
  readonly subject: string;
  /** The expected value, without white space; empty for a matcher without an argument. */
  readonly expected: string;
  /** Tolerance: a larger value lets more results pass. Null when the matcher has none. */
  readonly slack: number | null;
  /** Number of placeholders for any value in the expected value. */
  readonly loose: number;
  /** Cannot fail. */
  readonly vacuous: boolean;
}

interface Wording {
  readonly name: string;
  readonly negative: boolean;
  readonly subject: string;
  readonly expected: string;
  readonly args: readonly string[];
  /** The assertion itself catches the failure. */
  readonly swallowed?: boolean;
}

function formOf({ name, negative, subject, expected, args, swallowed = false }: Wording): Form {
  const strength = strengthIn(name, expected);
  const same = expected !== '' && (subject === expected || (isLiteral(subject) && isLiteral(expected)));
  return {
    matcher: name,
    strength: negative ? Math.min(STRENGTH.other, strength) : strength,
    negative,
    subject,
    expected,
    slack: slackOf(name, expected, args),
    loose: looseParts(expected),
    vacuous: swallowed || strength === STRENGTH.none || same,
  };
}

/** A matcher's argument may make it weaker than its name suggests. */
function strengthIn(name: string, expected: string): number {
  const plain = strengthOf(name);
  if (/throw|raise|reject/i.test(name) && !isNegative(name) && isBroad(expected)) return STRENGTH.yesNo;
  if (/\bapprox\s*\(|\bclose_?to\s*\(/i.test(expected)) return STRENGTH.near;
  if (plain !== STRENGTH.exact) return plain;
  if (/^(?:true|false|null|none|nil|undefined)$/i.test(expected)) return STRENGTH.yesNo;
  // An unknown matcher without an argument checks a property.
  return expected === '' && !/snapshot|fail|panic|unreachable/i.test(name) ? STRENGTH.yesNo : plain;
}

const isBroad = (expected: string): boolean =>
  /^(?:|Error|Exception|BaseException|Throwable|StandardError)(?:\.class)?(?:,|$)/.test(expected);

/** The default tolerances of pytest and numpy (1e-6, 1e-7), rounded up. */
const DEFAULT_SLACK = 1e-6;
const KEYED = /\b(?:delta|rel|abs|rtol|atol|rel_tol|abs_tol|accuracy)\s*[=:]\s*([\d.]+(?:e-?\d+)?)/i;

/** The tolerance, in the notations of common libraries; null for exact matchers. */
function slackOf(name: string, expected: string, args: readonly string[]): number | null {
  const plain = name.replaceAll('_', '').toLowerCase();
  const all = `${expected},${args.slice(1).join(',')}`;
  const keyed = KEYED.exec(all)?.[1];
  if (keyed !== undefined) return Number(keyed);
  const places = /\bplaces\s*=\s*(\d+)/.exec(all)?.[1];
  if (places !== undefined) return 10 ** -Number(places);
  if (/closeto$/.test(plain)) return closeness(plain, expected);
  if (/within$/.test(plain)) return numberIn(/[\d.]+/.exec(expected)?.[0]);
  const last =
    args.length > 1
      ? numberIn(
          args
            .at(-1)
            ?.trim()
            .replace(/[fdm]$/i, ''),
        )
      : null;
  const near = strengthOf(name) === STRENGTH.near || /\bapprox\s*\(/.test(expected);
  if (near) return last === null ? DEFAULT_SLACK : /almost/.test(plain) && last >= 1 ? 10 ** -last : last;
  return /equal/.test(plain) ? last : null;
}

/** Jest and vitest take a number of digits (default 2); chai and hamcrest take the distance. */
function closeness(plain: string, expected: string): number | null {
  const parts = expected.split(',');
  const given = parts.length > 1 ? numberIn(parts.at(-1)) : null;
  return plain === 'tobecloseto' ? 10 ** -(given ?? 2) : given;
}

const numberIn = (text: string | undefined): number | null =>
  text !== undefined && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : null;

/** One link of a chain: `.toBe(3)`; a property has no arguments. */
interface MatcherCall {
  readonly name: string;
  readonly args: readonly string[] | null;
}

/** `expect(x).not.toBe(3)`: the matcher is the last link that is not a chain word. */
export function chainForm(subject: string, links: readonly MatcherCall[]): Form {
  const names = links.map(({ name }) => name);
  const at = links.findLastIndex(
    ({ name, args }) =>
      !CHAIN_WORDS.has(name.replace(/_/g, '').toLowerCase()) &&
      !/^(?:catch|then|finally|because)$/.test(name) &&
      (args !== null || name !== ''),
  );
  const link = links[at];
  const nested = links.findLast(
    ({ name, args }) => /^(?:to|not_?to|to_?not|should|shouldnot)$/i.test(name) && args?.length,
  );
  const inner = link === undefined && nested ? matcherIn(nested.args?.[0] ?? '') : null;
  const name = inner?.name ?? link?.name ?? names.at(-1) ?? '';
  const args = inner?.args ?? link?.args ?? [];
  const negative =
    names.some((one) => /^(?:not|not_?to|to_?not|never|shouldnot)$/i.test(one)) || isNegative(name);
  const before = links.slice(0, Math.max(0, at)).filter(({ args: own }) => own?.length);
  const expected = squeeze(
    [...before.map(({ name: one, args: own }) => `${one}(${own?.join(',')})`), ...args].join(','),
  );
  return formOf({ name, negative, subject, expected, args, swallowed: names.includes('catch') });
}

/** Maximum characters of a matcher that are read. */
const MAX_MATCHER_CHARS = 20_000;

/** `equalTo(3)`, `Is.EqualTo(3)`, `eq 3`. */
function matcherIn(text: string): { name: string; args: readonly string[] } | null {
  const match = /^\s*(?:[\w$]+(?:\.|::|->))*([\w$]+[?!]?)\s*(?:\(([\s\S]*)\)|([\s\S]*))/.exec(
    text.slice(0, MAX_MATCHER_CHARS),
  );
  if (!match) return null;
  const rest = (match[2] ?? match[3] ?? '').trim();
  return { name: match[1] as string, args: rest === '' ? [] : [rest] };
}

/** Helpers in Go take the test itself as first argument. */
const TEST_ARGUMENT = /^\s*(?:t|tb|s\.T\(\)|suite\.T\(\))\s*$/;

/** `assertEquals(a, b, 0.1)`, `assert.ok(x)`, `EXPECT_EQ(a, b)`. */
export function callForm(name: string, given: readonly string[]): Form {
  const args = given.filter((one, i) => !(i === 0 && TEST_ARGUMENT.test(one) && given.length > 1));
  const [first = '', second] = args;
  // A planned number of assertions: `t.plan(2)`, QUnit's `assert.expect(2)`.
  if (/^(?:plan|assertions)$/.test(name) || (name === 'expect' && /^\s*\d+\s*$/.test(first)))
    return {
      ...formOf({ name, negative: false, subject: name, expected: squeeze(first), args }),
      vacuous: false,
    };
  const inner = second !== undefined && /^that$|assert_?that$/i.test(name) ? hamcrest(first, second) : null;
  if (inner) return inner;
  const strength = strengthOf(name);
  const lone = second === undefined || /^assert!?$|^ok$/i.test(name);
  if (lone || strength === STRENGTH.yesNo || strength === STRENGTH.some)
    return conditionForm(first, /false|falsy|refute|^not/i.test(name), name);
  const [expected, subject] = expectedness(first) > expectedness(second) ? [first, second] : [second, first];
  return formOf({
    name,
    negative: isNegative(name),
    subject: squeeze(subject),
    expected: squeeze(expected),
    args: [expected, ...args.slice(2)],
  });
}

/** `assertThat(x, is(equalTo(3)))`. */
function hamcrest(subject: string, matcher: string): Form | null {
  const outer = matcherIn(matcher);
  if (!outer) return null;
  const inside = outer.name === 'is' ? matcherIn(outer.args[0] ?? '') : null;
  const { name, args } = inside && inside.args.length > 0 ? inside : outer;
  const expected = squeeze(args.join(','));
  return formOf({ name, negative: isNegative(outer.name), subject: squeeze(subject), expected, args });
}

const COMPARISON_OPERATOR =
  /^(?:===?|!==?|<=|>=|(?<![-=<])>(?!>)|<(?!<)|=~|!~|(?<!\w)(?:is ?not|not ?in|is|in)(?!\w))/;
const LOGICAL_OPERATOR = /^(?:&&|\|\||(?<!\w)(?:and|or)(?!\w))/;

/** Maximum characters of a condition that is parsed. */
const MAX_CONDITION_CHARS = 2_000;

/** A condition that must be true: `a == b`, `not a`, `a < 3`. `inverted`: it must be false. */
export function conditionForm(condition: string, inverted: boolean, name = 'assert'): Form {
  const text = squeeze(condition.slice(0, MAX_CONDITION_CHARS));
  const joins = topLevelOperators(text, LOGICAL_OPERATOR);
  const compared = joins.some(({ operator }) => /\|\||or/.test(operator))
    ? []
    : topLevelOperators(text, COMPARISON_OPERATOR);
  const [first] = compared;
  if (!first) return truthForm(text, inverted, name);
  const [left, right] = [text.slice(0, first.at), text.slice(first.at + first.operator.length)];
  return comparisonForm(left.trim(), first.operator, right.trim(), inverted);
}

function truthForm(text: string, inverted: boolean, name: string): Form {
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

function comparisonForm(left: string, operator: string, right: string, inverted: boolean): Form {
  const [expected, subject] = expectedness(left) > expectedness(right) ? [left, right] : [right, left];
  const negative = /^!|not/.test(operator) !== inverted;
  const bound = /^[<>]/.test(operator);
  const name = bound ? 'less' : /in$|~/.test(operator) ? 'contains' : 'equal';
  const form = formOf({ name, negative, subject, expected, args: [expected] });
  return { ...form, matcher: operator, slack: bound ? boundOf(operator, expected) : form.slack };
}

/** How likely an operand is the expected value: 2 for certain, 0 for a computed value. */
function expectedness(text: string): number {
  if (isLiteral(text)) return 2;
  if (/^\s*&?(?:\w*[Ee]xpect\w*|want\w*|golden\w*)\s*$/.test(text)) return 2;
  return text.includes('(') ? 0 : 1;
}

/** Whether a larger number lets more values pass (`x < 3`) or fewer (`x > 3`). */
function boundOf(operator: string, expected: string): number | null {
  const number = Number(expected.replaceAll('_', ''));
  return Number.isFinite(number) ? (operator.includes('<') ? number : -number) : null;
}

/** Operators outside brackets and quotes, without arrows. */
function topLevelOperators(
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
