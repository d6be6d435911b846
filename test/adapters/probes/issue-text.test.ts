import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withBackticks } from '../../../src/adapters/probes/inside/code-blocks.ts';
import { issueConstants } from '../../../src/adapters/probes/inside/issue-examples.ts';
import { readSentence, SENTENCE, withResults } from '../../../src/adapters/probes/inside/issue-results.ts';

const readIn = (prose: string) =>
  [...withBackticks(prose).matchAll(SENTENCE)].map((match) => {
    const found = readSentence(match);
    return found && [found.call, found.value, found.isMeant];
  });

describe('examples in sentences without backticks', () => {
  test.each([
    ["slug('a b') returns 'a b' but should return 'a-b'.", "slug('a b')", "'a-b'", true],
    ['**parse("1h")** should be **3600000**', 'parse("1h")', '3600000', true],
    ["`slug('a b')` returns 'a b' instead of 'a-b'", "slug('a b')", "'a-b'", false],
    ['range(1, 3) must return [1, 2, 3], not [1, 2]', 'range(1, 3)', '[1, 2, 3]', true],
    ["split('a,b', sep=',') returns ['a,b']", "split('a,b', sep=',')", "['a,b']", false],
    ['(new List([2, 1]).first() returns 2, expected 1)', 'new List([2, 1]).first()', '1', true],
    ['parse({ a: { b: -1.5 } }) should throw a TypeError.', 'parse({ a: { b: -1.5 } })', 'TypeError', true],
    ["<code>isEmpty('')</code> returns false but should return true", "isEmpty('')", 'true', true],
    ["It doesn't work: slug('it\\'s') should give 'its'", "slug('it\\'s')", "'its'", true],
  ])('%s', (prose, call, value, isMeant) => {
    expect(readIn(prose)).toEqual([[call, value, isMeant]]);
  });

  test.each([
    ['a call of what the sentence does not define', 'render(page) should return 2'],
    ['a number of things', "find('a') returns 2 items"],
    ['a call inside code', "expect(slug('a b')).toEqual('a-b'), as it returns 'a b'"],
    ['an address', "https://example.org/slug('a') returns 'b'"],
    ['a row of a table', "| slug('a') | should be | 'b' |"],
    ['a value of something else', 'range(1, 3) must return a list of length 3, and clamp(5) be below 3'],
    ['several values', 'add(1) should give one of 2, 3'],
    ['another call', "slug('a b') should return the same as slug('a-b')"],
    ['a function in general', "toString() should return the name, 'a', of it"],
  ])('are not read from %s', (_, prose) => {
    expect(readIn(prose)).toEqual([]);
  });

  test('a line with code in backticks keeps it, and a hostile one ends', () => {
    const given = "`a 'b' c` is 'd' or ``e 'f'``\n    indented('a') returns 'b'";
    expect(withBackticks(given)).toBe(given.replace(" 'd' ", " `'d'` "));
    for (const part of ["f('", 'f(1,', '"', 'a.', 'a(', '[{', '1_', 'a=', 'f(true:', 'true:', 'null=']) {
      const line = part.repeat(1_000 / part.length);
      expect(withBackticks(line).replaceAll('`', '')).toBe(line);
    }
  });

  test('nothing else of a text is changed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(withBackticks(text).replaceAll('`', '')).toBe(
          text.replace(/<\/?code>/gi, '').replaceAll('`', ''),
        );
      }),
    );
  });
});

test('a result may stand in a comment below its call', () => {
  const code =
    "parse('a\\n1')\n// => [['a']]\nconst b = two();\n// returns 2\n// => 5\nrun() // twice\n// => 6\n";
  expect(withResults(code, 'told').split('\n')).toEqual([
    "__p.same(parse('a\\n1'), [['a']]);",
    'const b = two();',
    '__p.same(b, 2);',
    '// => 5',
    'run() // twice',
    '// => 6',
    '',
  ]);
});

test('a comment is not joined to what may not be its call', () => {
  for (const code of [
    'g({\n  a: 1,\n});\n// should be 3',
    'return f(1);\n// => 2',
    "// should return 'x'\nf(1);\n// should return 'y'\nf(2);",
    'init();\n// output of the next call',
  ])
    expect(withResults(code, 'meant') + withResults(code, 'told')).toBe(code + code);
});

test('inputs of an issue are texts as its code means them', () => {
  const issue = "`parse('a,b\\n1')` fails for \"x\\ty\", `'q'` and 12, not in `C:\\new`.";
  expect(issueConstants(issue)).toEqual(expect.arrayContaining(['a,b\n1', 'x\ty', 'q', 12, 'C:\\new']));
  expect(issueConstants(issue)).not.toContain("parse('a,b\\n1')");
});
