import { expect, test } from 'vitest';
import {
  brokenLinks,
  filesUnderTest,
  LINK_LIMITS,
  linkedDocuments,
} from '../../../src/core/evidence/index.ts';

const everything = () => true;
const added = (path: string, after: string) => ({ path, before: null, after });

test('a document is parsed once, however many links lead to its headings', () => {
  const target = '## One\n\n'.repeat(LINK_LIMITS.documentChars / 8 - 1);
  const links = Array.from({ length: 900 }, (_, at) => `[x](b.md#none-${at})`).join('\n\n');
  // Parsed for each link, it would exceed the limit on all characters.
  const { broken, leftOut } = brokenLinks([added('a.md', links)], everything, () => target);
  expect(broken).toHaveLength(900);
  expect(leftOut).toEqual([]);
});

test('what is beyond the limits is left out, and named', () => {
  const long = 'word '.repeat(LINK_LIMITS.documentChars / 5 + 1);
  expect(
    brokenLinks(
      [added('long.md', `${long}[x](none.md)`)],
      () => false,
      () => null,
    ),
  ).toEqual({
    broken: [],
    leftOut: ['long.md'],
  });
  const toLong = [added('a.md', '[x](long.md#none) [y](none.md#x)')];
  expect(brokenLinks(toLong, everything, (path) => (path === 'long.md' ? long : '# Y\n'))).toMatchObject({
    broken: [{ target: 'none.md#x' }],
    leftOut: ['long.md'],
  });
  const most = LINK_LIMITS.links;
  const many = Array.from({ length: most + 5 }, (_, at) => `[x](n${at}.md)`).join(' ');
  const found = brokenLinks(
    [added('a.md', many)],
    () => false,
    () => null,
  );
  expect(found.broken).toHaveLength(most);
  expect(found.leftOut).toEqual(['5 links']);
  const target = `${'a/'.repeat(LINK_LIMITS.targetChars)}b.md`;
  expect(
    brokenLinks(
      [added('a.md', `[x](${target})`)],
      () => false,
      () => null,
    ),
  ).toEqual({
    broken: [],
    leftOut: ['1 link'],
  });
  expect(linkedDocuments([added('a.md', `[x](${target})`)])).toEqual([]);
  const each = LINK_LIMITS.documentChars;
  const documents = Array.from({ length: 5 }, (_, at) => added(`${at}.md`, `${at}`.padEnd(each)));
  expect(brokenLinks(documents, everything, () => null).leftOut).toEqual(['3.md', '4.md']);
});

test('headings count as displayed, and brackets in them cost nothing', () => {
  const own = '# The [first](x.js) `step` of ![a](b.png) *two* {#own}\n\n';
  const links = '[1](#the-first-step-of-a-two) [2](#own) [3](#none)';
  const { broken } = brokenLinks([added('a.md', own + links)], everything, () => null);
  expect(broken.map(({ target }) => target)).toEqual(['#none']);
  const brackets = `# ${'['.repeat(LINK_LIMITS.documentChars - 100)}\n\n[3](#none)`;
  expect(brokenLinks([added('a.md', brackets)], everything, () => null).broken).toHaveLength(1);
});

test('the imports of a test are collected once for all files', () => {
  let reads = 0;
  const hostile = {
    path: 'test/a.test.js',
    get text() {
      reads += 1;
      return "'../src/x' ".repeat(20_000);
    },
  };
  const production = Array.from({ length: 2_000 }, (_, at) => `src/n${at}.js`);
  expect(filesUnderTest([...production, 'src/x.js'], '', [hostile])).toEqual(['src/x.js']);
  expect(reads).toBe(1);
});

test('blank lines and long names before an import of Python cost nothing', () => {
  // A search that begins anew at each blank line would take hours.
  const text = `${'\n'.repeat(500_000)}${' '.repeat(100_000)}from pkg import other, dates\n${'import a'.padEnd(200_000, '.a')}\n`;
  const found = filesUnderTest(['pkg/dates.py', 'pkg/times.py', 'a/a.py'], '', [{ path: 'test_a.py', text }]);
  expect(found).toEqual(['pkg/dates.py', 'a/a.py']);
});
