import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DistinguishingInput, mostReadable } from '../../../src/core/reports/executed.ts';
import { pickComment } from '../../../src/core/reports/index.ts';
import { BEHAVIOUR, diffsOf, waiting } from './sample.ts';

const distinguishing = (input: string, own = '1', other = '2'): DistinguishingInput => ({
  input,
  results: [
    { alias: 'B', result: own },
    { alias: 'C', result: other },
  ],
});
const chosen = (...inputs: readonly string[]) =>
  mostReadable(inputs.map((input) => distinguishing(input)))?.input;

describe('of the inputs that tell candidates apart, people see the one that is easiest to read', () => {
  test.each([
    ['a byte order mark', 'parse("\uFEFFa")', 'parse("a long enough text, which is longer")'],
    ['a control character', 'parse("\u0000")', 'parse("a long text")'],
    ['an escaped control character', 'parse("\\u0000")', 'parse("a long text")'],
    ['an escaped NUL', 'parse("\\0")', 'parse("a long text")'],
    ['an invisible character', 'parse("a\u200Bb")', 'parse("a long text")'],
    ['a probe that is no call', '"a" → "b"', 'parse("a long text")'],
    ['a very long call', `parse("${'a'.repeat(200)}")`, 'parse("a,b")'],
  ])('not %s', (_what, unreadable, readable) => {
    expect(chosen(unreadable, readable)).toBe(readable);
    expect(chosen(readable, unreadable)).toBe(readable);
  });

  test('quotes, line ends and backslashes are ordinary', () => {
    expect(chosen('parse("\\u200b")', 'parse("\\"a\\\\b\\"\\r\\n")')).toBe('parse("\\"a\\\\b\\"\\r\\n")');
  });

  test('a result that cannot be seen is no better than such an input', () => {
    const hidden = distinguishing('f(1)', '"a"', '"a\u200B"');
    const plain = distinguishing('f("a longer one")', '"a"', '"b"');
    expect(mostReadable([hidden, plain])).toBe(plain);
  });

  test('one of the most informative, although a later one is shorter', () => {
    const first = Array.from({ length: 10 }, (_, i) => `parse("abc${i}")`);
    expect(chosen(...first, 'f(1)')).toBe('parse("abc0")');
  });

  test('the unreadable one if there is no other, and none for none', () => {
    expect(chosen('parse("\uFEFF")')).toBe('parse("\uFEFF")');
    expect(chosen()).toBeUndefined();
  });

  test('whatever the inputs are, an unreadable one is shown only if all are, and the choice is always the same', () => {
    const plain = fc.stringMatching(/^[a-z]{1,20}$/).map((text) => distinguishing(`f("${text}")`));
    const unreadable = fc
      .tuple(fc.string({ maxLength: 8 }), fc.constantFrom('\uFEFF', '\u0007', '\u202E', '\u{E0041}'))
      .map(([text, hidden]) => distinguishing(`f("${text}${hidden}")`));
    fc.assert(
      fc.property(
        fc.array(plain, { minLength: 1, maxLength: 5 }),
        fc.array(unreadable, { maxLength: 4 }),
        (readable, others) => {
          const best = mostReadable(readable);
          expect(readable).toContain(best);
          expect(mostReadable([...readable, ...others])).toBe(best);
          expect(readable).toContain(mostReadable([...others, ...readable]));
          expect(best?.input).toHaveLength(Math.min(...readable.map(({ input }) => input.length)));
          if (others.length > 0) expect(others).toContain(mostReadable(others));
        },
      ),
    );
  });
});

test('a person who must choose sees a call, and no probe with a byte order mark', () => {
  const view = waiting();
  const differences = (got: string) => [
    { input: '"\uFEFFa" → "\uFEFF"', got, others: 'x', base: null },
    { input: 'last([1, 2])', got, others: 'x', base: null },
  ];
  const evidence = view.evidence.map((one) =>
    'BC'.includes(one.alias)
      ? { ...one, behaviour: { ...BEHAVIOUR, differences: differences(one.alias === 'B' ? '2' : '1') } }
      : one,
  );
  const [{ body }] = pickComment({ ...view, evidence }, diffsOf(view));
  expect(body).toContain('### For `last([1, 2])`, **B** returns `2`, **C** returns `1`: which do you want?');
});
