import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTerminalFilter } from '../../../src/cli/index.ts';

const through = (...pieces: readonly string[]): string => {
  const filter = openTerminalFilter();
  return pieces.map((piece) => filter(Buffer.from(piece))).join('');
};

test('colours, cursor movement and other scripts pass', () => {
  const text = '\u001b[31mred\u001b[0m \u001b[2K\u001b[10;5Hü 漢 🙂\r\n\u001b[?25l\u001b[?2004h\u0007';
  expect(through(text)).toBe(text);
  expect(through(...text)).toBe(text);
});

test.each([
  ['a title', '\u001b]0;rm -rf\u0007'],
  ['the clipboard', '\u001b]52;c;cm0=\u001b\\'],
  ['a question about the terminal’s settings', '\u001bP$qm\u001b\\'],
  ['a question about the cursor', '\u001b[6n'],
  ['a question about the title', '\u001b[21t'],
  ['a question about the terminal', '\u001b[>0c\u001b[c\u001bZ\u0005'],
  ['the same as single characters', '\u009d0;title\u009c'.replace('0;title', '')],
])('%s does not reach the terminal, however it is cut', (_, sequence) => {
  expect(through(`a${sequence}b`)).toBe('ab');
  expect(through('a', ...sequence, 'b')).toBe('ab');
});

test.each([
  [
    'a clipboard between the halves of another sequence',
    '\u001b\u001b[c]52;c;cm0=\u0007',
    ']52;c;cm0=\u0007',
  ],
  ['a question between the halves of another one', '\u001b[\u001b[cc', 'c'],
  ['a question with a line break inside', '\u001b[\n6n', '\n6n'],
  ['mouse reports', '\u001b[?1000;1006h', ''],
  ['a keyboard protocol', '\u001b[?u\u001b[>1u\u001b[&u', ''],
])('%s cannot be put together from what is left', (_, sequence, left) => {
  expect(through(sequence)).toBe(left);
  expect(through(...sequence)).toBe(left);
});

const ANSWERED = new RegExp(`${'\u001b'}(?:[\\]PX^_Z]|\\[[0-?]*[ -/]*[cn])`);

test('what has passed passes again unchanged, and nothing in it is answered', () => {
  const piece = fc.constantFrom(
    '\u001b',
    '[',
    ']',
    '?',
    '6',
    'n',
    'c',
    'm',
    '5',
    '2',
    ';',
    '\u0007',
    '\\',
    'P',
    ' ',
    '$',
    '\u009b',
    'x',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const once = through(pieces.join(''));
      expect(through(...pieces)).toBe(once);
      expect(through(once)).toBe(once);
      expect(once).not.toMatch(ANSWERED);
    }),
    { numRuns: 2_000 },
  );
});

test('an endless sequence takes no memory and shows nothing', () => {
  const filter = openTerminalFilter();
  expect(filter(Buffer.from('a\u001b]0;'))).toBe('a');
  for (let n = 0; n < 40; n += 1) expect(filter(Buffer.from('x'.repeat(10_000)))).toBe('');
  expect(filter(Buffer.from('\u0007b'))).toBe('b');
});
