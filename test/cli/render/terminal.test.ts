import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  clipped,
  displayWidth,
  jsonLine,
  padded,
  painter,
  terminalText,
  wrap,
} from '../../../src/cli/render/index.ts';

test('columns are counted as a terminal displays them', () => {
  expect(displayWidth('abc')).toBe(3);
  expect(displayWidth('漢字')).toBe(4);
  expect(displayWidth('e\u0301')).toBe(1);
  expect(displayWidth('😀!')).toBe(3);
  expect(displayWidth('× − – …')).toBe(7);
});

describe('a cell', () => {
  test('is cut at a character, never in the middle of a wide one', () => {
    expect(clipped('漢字漢字', 5)).toBe('漢字…');
    expect(clipped('漢字漢字', 4)).toBe('漢…');
    expect(clipped('abc', 0)).toBe('');
  });

  test('has exactly its width, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        expect(displayWidth(clipped(text, width))).toBeLessThanOrEqual(width);
        expect(displayWidth(padded(text, width))).toBe(width);
        expect(displayWidth(padded(text, width, 'right'))).toBe(width);
      }),
    );
  });
});

test('words are wrapped; one that is too long is cut', () => {
  expect(wrap('one two three', 8)).toEqual(['one two', 'three']);
  expect(wrap('a verylongword b', 6)).toEqual(['a', 'veryl…', 'b']);
  expect(wrap('', 8)).toEqual([]);
});

test('without colour no escape is written', () => {
  expect(painter(false)('bad', 'x')).toBe('x');
  expect(painter(true)('bad', 'x')).toBe('\u001b[31mx\u001b[0m');
});

describe('a text on its way to the screen', () => {
  test("contains no control sequences except Runoff's own", () => {
    const own = `${painter(true)('bad', 'failed')}\n`;
    expect(terminalText(own)).toBe(own);
    expect(
      terminalText('\u001b[3A\u001b[Ja\u001b]0;x\u0007b\u202ec\u009b2Jd\u001b[2Je\u001b[3A\u001b[Jf\u200b\n'),
    ).toBe(
      '<U+001B>[3A<U+001B>[Ja<U+001B>]0;x<U+0007>b<U+202E>c<U+009B>2Jd<U+001B>[2Je<U+001B>[3A<U+001B>[Jf<U+200B>\n',
    );
  });

  test('is the same after a second pass', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const said = terminalText(`x${text}`);
        expect(
          ['0', '1', '2', '31', '32'].reduce((kept, n) => kept.replaceAll(`\u001b[${n}m`, ''), said),
        ).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
        expect(terminalText(said)).toBe(said);
      }),
    );
  });
});

test('JSON for a terminal is fully visible, with the same values', () => {
  const value = { id: 'a\u202eb\u200b\u009b', text: '\u001b[2J' };
  expect(jsonLine(value)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(JSON.parse(jsonLine(value))).toEqual(value);
});
