import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clipped, displayWidth, padded, painter, wrap } from '../../../src/cli/render/index.ts';

test('columns are counted as a terminal draws them', () => {
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
