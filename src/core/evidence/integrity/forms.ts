import { conditionForm, expectedness } from './conditions.ts';
import { type Form, formOf } from './form.ts';
import { squeeze } from './literals.ts';
import { isNegative, LINKS, STRENGTH, strengthOf } from './matchers.ts';

/** One link of a chain: `.toBe(3)`; a property has no arguments. */
export interface Link {
  readonly name: string;
  readonly args: readonly string[] | null;
}

/** `expect(x).not.toBe(3)`: the last link that is no mere word is the matcher. */
export function chainForm(subject: string, links: readonly Link[]): Form {
  const names = links.map(({ name }) => name);
  const at = links.findLastIndex(
    ({ name, args }) =>
      !LINKS.has(name.replace(/_/g, '').toLowerCase()) &&
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

/** Longest matcher that is read. */
const MOST = 20_000;

/** `equalTo(3)`, `Is.EqualTo(3)`, `eq 3`. */
export function matcherIn(text: string): { name: string; args: readonly string[] } | null {
  const match = /^\s*(?:[\w$]+(?:\.|::|->))*([\w$]+[?!]?)\s*(?:\(([\s\S]*)\)|([\s\S]*))/.exec(
    text.slice(0, MOST),
  );
  if (!match) return null;
  const rest = (match[2] ?? match[3] ?? '').trim();
  return { name: match[1] as string, args: rest === '' ? [] : [rest] };
}

/** Go's helpers are given the test itself first. */
const HANDLE = /^\s*(?:t|tb|s\.T\(\)|suite\.T\(\))\s*$/;

/** `assertEquals(a, b, 0.1)`, `assert.ok(x)`, `EXPECT_EQ(a, b)`. */
export function callForm(name: string, given: readonly string[]): Form {
  const args = given.filter((one, i) => !(i === 0 && HANDLE.test(one) && given.length > 1));
  const [first = '', second] = args;
  if (/^(?:plan|assertions)$/.test(name))
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
