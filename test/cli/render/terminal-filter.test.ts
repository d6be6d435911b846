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

test('an endless sequence takes no memory and shows nothing', () => {
  const filter = openTerminalFilter();
  expect(filter(Buffer.from('a\u001b]0;'))).toBe('a');
  for (let n = 0; n < 40; n += 1) expect(filter(Buffer.from('x'.repeat(10_000)))).toBe('');
  expect(filter(Buffer.from('\u0007b'))).toBe('b');
});
