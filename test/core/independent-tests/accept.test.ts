import { describe, expect, test } from 'vitest';
import {
  type AcceptanceContext,
  acceptTests,
  declarationsOf,
  importedFiles,
  isQuoted,
  type WrittenTest,
  WrittenTests,
} from '../../../src/core/independent-tests/index.ts';

const QUOTE = 'a comma inside a quoted field belongs to the field';
const written = (fields: Partial<WrittenTest> = {}): WrittenTest => ({
  title: 'comma in quotes',
  quote: QUOTE,
  why: '',
  now: 'fails',
  file: "import { splitLine } from '../src/csv.js';\n",
  ...fields,
});
const ground = (fields: Partial<AcceptanceContext> = {}): AcceptanceContext => ({
  origin: 'writer',
  paths: ['test/independent-1.test.js', 'test/independent-2.test.js'],
  requirements: ['Quotes break the import', `I think:\n- ${QUOTE},\n- add \`joinLine\` to csv.js`],
  baseFiles: ['src/csv.js', 'test/csv.test.js'],
  example: "import { splitLine } from '../src/csv.js';\n",
  imported: { 'src/csv.js': 'export function splitLine(line) {}\n' },
  ...fields,
});
const why = (fields: Partial<WrittenTest>, on: Partial<AcceptanceContext> = {}) =>
  acceptTests([written(fields)], ground(on)).rejected[0]?.because ?? null;

test('a written test gets its assigned path, also when an earlier one is left out', () => {
  const { tests, rejected } = acceptTests(
    [written({ quote: 'nobody said this' }), written({ now: 'passes' })],
    ground(),
  );
  expect(rejected).toEqual([
    { title: 'comma in quotes', because: expect.stringContaining('do not occur in the task') },
  ]);
  // Where it stands was told before: its imports are relative to that.
  expect(tests).toEqual([
    {
      id: 'writer-2',
      origin: 'writer',
      path: 'test/independent-2.test.js',
      text: written().file,
      onBase: 'passes',
      votes: 'file',
      title: 'comma in quotes',
      quote: QUOTE,
    },
  ]);
});

test('a duplicate test is left out', () => {
  const twice = acceptTests([written(), written({ file: `\n${written().file}  \n` })], ground());
  expect(twice.tests).toHaveLength(1);
  expect(twice.rejected[0]?.because).toContain('identical to another');
});

test('tests beyond the assigned paths are left out', () => {
  const { tests, rejected } = acceptTests([written()], ground({ paths: [] }));
  expect([tests, rejected.length]).toEqual([[], 1]);
});

test('a file that is empty, too big or not text is left out', () => {
  expect(why({ file: ' \n' })).toContain('is empty');
  expect(why({ file: 'a\0b' })).toContain('NUL');
  expect(why({ file: 'a\ud800b' })).toContain('Unicode');
  expect(why({ file: 'é'.repeat(15_000) })).toContain('bytes');
});

describe('a test must quote the task', () => {
  const texts = ['Use `splitLine`; a *comma* inside\n  a quoted   field', 'Other text.'];
  test.each([
    ['a comma inside a quoted field', true],
    ['“A comma inside … quoted field.”', true],
    ['use splitLine; a comma ... quoted field', true],
    ['a comma … other text', false],
    ['a semicolon inside a quoted field', false],
    ['a', false],
    ['…', false],
    ['', false],
  ])('%s: %s', (quote, found) => {
    expect(isQuoted(quote, texts)).toBe(found);
  });
});

describe('a test must not choose names for new code', () => {
  const js = (names: string, from = '../src/csv.js') => ({ file: `import ${names} from '${from}';` });
  test.each<readonly [string, Partial<WrittenTest>, string | null]>([
    ['what the code has', js('{ splitLine }'), null],
    ['what the code has, under another name', js('{ splitLine as split }'), null],
    ['what the task names', js('{ joinLine }'), null],
    ['what nobody named', js('{ parseQuoted, splitLine }'), 'parseQuoted'],
    [
      'what nobody named, by require',
      { file: "const { parseQuoted: p } = require('../src/csv');" },
      'parseQuoted',
    ],
    ['what nobody named, of a new file', js('{ parseQuoted }', '../src/quotes.js'), 'parseQuoted'],
    ['what the task names, of a new file', js('{ joinLine }', '../src/join.js'), null],
    ['a default', js('csv'), null],
    ['a package', js('{ test }', 'node:test'), null],
    ['outside the repository', js('{ x }', '../../../etc/x.js'), 'x'],
  ])('%s', (_, fields, named) => {
    if (named === null) expect(why(fields)).toBeNull();
    else expect(why(fields)).toContain(`nor in the code: ${named}.`);
  });

  test('except re-exported names, which cannot be checked', () => {
    const imported = { 'src/csv.js': "export * from './lines.js';" };
    expect(why({ file: "import { anything } from '../src/csv.js';" }, { imported })).toBeNull();
  });

  test('also in Python', () => {
    const python = ground({
      paths: ['tests/test_independent_1.py'],
      baseFiles: ['src/shop/__init__.py', 'src/shop/cart.py', 'src/shop/tax/rates.py', 'tests/test_cart.py'],
      imported: { 'src/shop/cart.py': 'def total(x): pass\n', 'src/shop/__init__.py': '' },
    });
    const says = (file: string) => acceptTests([written({ file })], python).rejected[0]?.because ?? null;
    expect(says('from shop.cart import total\nfrom shop import cart, tax\nimport os\n')).toBeNull();
    expect(says('from shop.cart import (\n  total as t,\n  discount,\n)\n')).toContain(
      'nor in the code: discount.',
    );
    expect(says('from decimal import Decimal\n')).toBeNull();
  });

  test('as checked in the files that it imports', () => {
    const tests = [written(), written({ file: "import { a } from './csv.test';import b from 'csv';" })];
    const { paths, baseFiles } = ground();
    expect(importedFiles(tests, paths, baseFiles)).toEqual(['src/csv.js', 'test/csv.test.js']);
    const ts = { places: ['test/a.test.ts'], files: ['src/csv.ts', 'src/x/index.ts'] };
    const file = "import { a } from '../src/csv.js'; import { b } from '../src/x'";
    expect(importedFiles([written({ file })], ts.places, ts.files)).toEqual(ts.files);
  });
});

test('an answer that is too long is rejected', () => {
  const answer = (tests: readonly unknown[], note = '') => WrittenTests.safeParse({ tests, note }).success;
  expect(answer([written()])).toBe(true);
  expect(answer(Array.from({ length: 9 }, () => written()))).toBe(false);
  expect(answer([written({ file: 'x'.repeat(20_001) })])).toBe(false);
  expect(answer([written({ title: 'x'.repeat(201) })])).toBe(false);
  expect(answer([{ ...written(), now: 'maybe' }])).toBe(false);
  // A path has no place in it.
  expect(
    WrittenTests.parse({ tests: [{ ...written(), path: '../../x' }], note: '' }).tests[0],
  ).not.toHaveProperty('path');
});

test.each([
  [
    'a.ts',
    'import x from "y";\nexport const A = 1;\nconst b = 2;\n  export function inner() {}\nexport { b };\n',
    ['export const A = 1;', 'export { b };'],
  ],
  [
    'a.py',
    'import os\ndef f(a):\n    def inner(): pass\nclass C:\n    def m(self): pass\n',
    ['def f(a):', 'def inner(): pass', 'class C:', 'def m(self): pass'],
  ],
  [
    'a.go',
    'func Open() error {\nfunc (s *S) Close() {\nfunc inner() {\ntype S struct {',
    ['func Open() error {', 'func (s *S) Close() {', 'type S struct {'],
  ],
  ['a.txt', 'def f(): pass', []],
])('what %s declares', (path, text, lines) => {
  expect(declarationsOf(path, text)).toEqual(lines);
});

describe('the entry of a package, as many CommonJS packages have it', () => {
  const file = "const { splitLine } = require('..');\n";
  const entry = { baseFiles: ['index.js', 'lib/csv.js', 'test/csv.test.js'], example: '' };
  const says = (text: string, example = '') =>
    why({ file }, { ...entry, example, imported: { 'index.js': text } });

  test('is found from a folder of tests', () => {
    expect(importedFiles([written({ file })], ['test/one.test.js'], entry.baseFiles)).toEqual(['index.js']);
    expect(says('exports.splitLine = () => [];\n')).toBeNull();
    expect(says('exports.joinLine = () => [];\n')).toContain('splitLine');
  });

  test('may export what another file exports', () => {
    expect(says("'use strict';\n\nmodule.exports = require('./lib/csv');\n")).toBeNull();
    expect(says("Object.assign(csv, require('./lib/csv'));\nmodule.exports = csv;\n")).toBeNull();
    expect(says("const csv = require('./lib/csv');\nmodule.exports = csv\n")).toBeNull();
    expect(says('module.exports = createCsv();\n')).toBeNull();
    expect(says('module.exports = { joinLine };\n')).toContain('splitLine');
  });

  test.each([
    'function csv() {}\nmodule.exports = csv;\n',
    'module.exports = class Csv {};\n',
    'module.exports = function csv() {};\ncsv.joinLine = () => [];\n',
    "const path = require('node:path');\nmodule.exports = csv;\n",
  ])('has no other names than its own text if that lists all: %j', (text) => {
    expect(says(text)).toContain('splitLine');
  });

  test('has the names that the example imports from it', () => {
    expect(says('exports.joinLine = () => [];\n', "const { splitLine } = require('../');\n")).toBeNull();
  });
});
