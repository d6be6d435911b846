import { describe, expect, test } from 'vitest';
import {
  code,
  fencedDiff,
  htmlCode,
  inertSentence,
  link,
  plainLine,
  prose,
} from '../../../src/core/reports/index.ts';

describe("others' prose", () => {
  test.each([
    ['@org/team please', '@&#8203;org/team please'],
    ['&#64;user', '&amp;\\#&#8203;64;user'],
    ['&amp;commat;user', '&amp;amp;commat;user'],
    ['fixes #1', 'fixes \\#&#8203;1'],
    ['closes acme/lists#12', 'closes acme/lists\\#&#8203;12'],
    ['see GH-3', 'see GH-&#8203;3'],
    ['in deadbeef1', 'in deadbe&#8203;ef1'],
    ['https://evil.test/?q=1', 'https:&#8203;//evil.test/?q=1'],
    ['www.evil.test', 'www&#8203;.evil.test'],
    ['![x](http://y)', '!\\[x\\](http:&#8203;//y)'],
    ['<img src=x onerror=1>', '&lt;img src=x onerror=1&gt;'],
    ['<!-- runoff:status:r1 -->', '&lt;!-- runoff:status:r1 --&gt;'],
    ['/merge', '\\/merge'],
    ['- item', '\\- item'],
    ['1. item', '1\\. item'],
    ['# title', '\\# title'],
    ['a | b \\| c', 'a &#124; b &#92;&#124; c'],
    ['**bold** `code` ~~gone~~', '\\*\\*bold\\*\\* &#96;code&#96; \\~\\~gone\\~\\~'],
    ['costs $5', 'costs <span>$</span>5'],
    ['two\nlines\t and  blanks', 'two lines and blanks'],
    [' \n ', '(empty)'],
  ])('%j', (text, shown) => {
    expect(prose(text)).toBe(shown);
  });

  test('ordinary words are left alone', () => {
    const text = 'Correct the index in last(), so that "it works"; see list.ts (line 3).';
    expect(prose(text)).toBe(text);
  });

  test('is cut before it is escaped, so that no escape is split', () => {
    expect(prose('<<<<<<', 4)).toBe('&lt;&lt;&lt;…');
  });
});

describe('inline code', () => {
  test('puts plain names in backticks', () => {
    expect(code('test/a.test.ts > last > works')).toBe('`test/a.test.ts > last > works`');
  });
  test('uses HTML for text that backticks cannot contain', () => {
    expect(code('a`b')).toBe('<code>a&#96;b</code>');
    expect(code('a|b\\')).toBe('<code>a&#124;b&#92;</code>');
    expect(code('@org/team #1')).toBe('<code>&#64;&#8203;org/team &#35;1</code>');
  });
  test('cannot close a summary', () => {
    expect(htmlCode('</summary></details>')).toBe('<code>&#60;/summary&#62;&#60;/details&#62;</code>');
  });
  test('shows an empty text as empty', () => {
    expect(code('\u0000')).toBe('`(empty)`');
  });
});

test("Runoff's own sentences may mark code, and the text around it is still escaped", () => {
  expect(inertSentence('Run `npm test` for @ada, not `@bob`.')).toBe(
    'Run `npm test` for @&#8203;ada, not <code>&#64;&#8203;bob</code>.',
  );
  expect(inertSentence('`a``b`')).toBe('`a` `b`');
  expect(inertSentence('an open ` tick')).toBe('an open &#96; tick');
});

describe('a fenced diff', () => {
  test('gets a fence longer than any run of backticks inside', () => {
    expect(fencedDiff('+a\n+````\n', 1_000)?.block).toBe('`````diff\n+a\n+````\n`````');
  });
  test('is cut at a line and says how much is shown', () => {
    const part = fencedDiff('+one\n+two\n+three\n', 22);
    expect(part).toEqual({ block: '```diff\n+one\n+two\n```', shownLines: 2, totalLines: 3, whole: false });
  });
  test('has a very long line cut, and is marked as incomplete', () => {
    const part = fencedDiff(`+${'x'.repeat(5_000)}`, 10_000);
    expect(part?.whole).toBe(false);
    expect(part?.block.length).toBeLessThan(2_100);
  });
  test('is missing without room', () => {
    expect(fencedDiff('+a long line', 15)).toBeNull();
  });
});

test('only web addresses become links, and cannot leave them', () => {
  expect(link('compare', 'https://github.test/a/b/compare/x...y')).toBe(
    '[compare](https://github.test/a/b/compare/x...y)',
  );
  expect(link('x', 'https://github.test/a)[b](c')).toBe('[x](https://github.test/a%29%5Bb%5D%28c)');
  expect(link('x', 'javascript:alert(1)')).toBe('x (`javascript:alert(1)`)');
});

test('titles and commit subjects contain no mention, reference, address or CI keyword', () => {
  expect(plainLine('fixes #1, GH-2 @ada https://x.test [skip ci] skip-checks: true', 200)).toBe(
    'fixes # 1, GH 2 @ ada https:// x.test (skip ci) skip checks: true',
  );
});
