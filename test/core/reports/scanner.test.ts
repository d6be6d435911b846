import { expect, test } from 'vitest';
import { scan } from './scanner.ts';

test('a block ends only at a fence of its own kind that is long enough and bare', () => {
  const text = ['a', '````diff', '```', '~~~~', '```` x', '    ````', '   `````  ', 'b'].join('\n');
  expect(scan(text)).toEqual({
    blocks: [{ info: 'diff', lines: ['```', '~~~~', '```` x', '    ````'] }],
    outside: ['a', 'b'],
    unclosed: false,
  });
});

test('a fence that nothing closes swallows the rest', () => {
  expect(scan('~~~\nx\n```')).toEqual({ blocks: [], outside: [], unclosed: true });
});

test('no fence opens inside HTML before the next empty line', () => {
  expect(scan('<details>\n```\nx\n\n```\ny\n```').blocks).toEqual([{ info: '', lines: ['y'] }]);
});
