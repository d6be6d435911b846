import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cut, tailOf, visible, visibleCode, visibleLine } from '../../../src/core/reports/index.ts';

const HIDDEN_CODE_POINTS = [...Array(0x110000).keys()].filter((point) =>
  /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Cs}]/u.test(String.fromCodePoint(point)),
);
const bytes = (text: string): number => new TextEncoder().encode(text).length;

describe('invisible characters are named:', () => {
  test('every format character, tag, filler and lone surrogate of Unicode, in output and in code', () => {
    expect(HIDDEN_CODE_POINTS.length).toBeGreaterThan(6_000);
    const silent = HIDDEN_CODE_POINTS.filter((point) => {
      const name = `a<U+${point.toString(16).toUpperCase().padStart(4, '0')}>b`;
      const text = `a${String.fromCodePoint(point)}b`;
      return visible(text) !== name || visibleCode(text) !== name || visibleLine(text, 50) !== name;
    });
    expect(silent).toEqual([]);
  });

  test('those used in known attacks', () => {
    expect(visible('a\u200bb\u202ec\u{e0041}d\u2060e\u180ef\ufe0fg\u3164h')).toBe(
      'a<U+200B>b<U+202E>c<U+E0041>d<U+2060>e<U+180E>f<U+FE0F>g<U+3164>h',
    );
  });

  test('but letters of every script and emoji are unchanged', () => {
    const text = 'Größe, 大小、크기, размер, حجم, 😀';
    expect(visible(text)).toBe(text);
  });
});

describe('output of programs', () => {
  test('loses colours, titles, links and control characters, but no text', () => {
    expect(
      visible('\u001b[1;31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u001b\\ a\u0008b\u009b2Jc'),
    ).toBe('red link abc');
  });

  test('has plain spaces in place of thin and non-breaking ones, which code keeps visible', () => {
    const text = '\u2009ERR_PNPM_FETCH_404\u2009 GET a\u00a0b';
    expect(visible(text)).toBe(' ERR_PNPM_FETCH_404  GET a b');
    expect(visibleCode(text)).toBe('<U+2009>ERR_PNPM_FETCH_404<U+2009> GET a<U+00A0>b');
  });

  test('keeps the lines after an unterminated escape', () => {
    expect(visible('\u001b]0;title\nsecond line')).toBe('0;title\nsecond line');
  });

  test('has its last non-empty lines as tail', () => {
    expect(tailOf('one\n\n\u001b[31mtwo\u001b[0m  \r\nthree\n\n', 2)).toBe('two\nthree');
    expect(tailOf('', 5)).toBe('');
    expect(tailOf(`${'x'.repeat(2_000)}\nend`, 5)).toBe(`${'x'.repeat(499)}…\nend`);
  });
});

test('code in a fake escape sequence of a diff stays visible', () => {
  expect(visibleCode('/*\u001b]*/ steal() /*\u0007*/\r\n-a\rb')).toBe(
    '/*<U+001B>]*/ steal() /*<U+0007>*/\n-a<U+000D>b',
  );
});

test('a cut stays within both bounds, never splits a character, and says that something is gone', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.nat(50),
      fc.option(fc.nat(80), { nil: undefined }),
      (text, codePoints, limit) => {
        const whole = text.toWellFormed();
        const short = cut(whole, { codePoints, ...(limit === undefined ? {} : { bytes: limit }) });
        expect([...short].length).toBeLessThanOrEqual(codePoints);
        if (limit !== undefined) expect(bytes(short)).toBeLessThanOrEqual(limit);
        expect(short.isWellFormed()).toBe(true);
        if (short === whole) return;
        const kept = short.endsWith('…') ? short.slice(0, -1) : short;
        expect(whole.startsWith(kept)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
  expect(cut('naïve😀😀', { codePoints: 6 })).toBe('naïve…');
  expect(cut('😀😀😀', { codePoints: 9, bytes: 11 })).toBe('😀😀…');
});
