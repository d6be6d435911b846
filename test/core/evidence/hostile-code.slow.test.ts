import { expect, test } from 'vitest';
import { parsedText } from '../../../src/core/source/index.ts';
import { patchBetween } from '../git.ts';
import { tamperingIn } from '../syntax.ts';

// Each text is so long that reading it once for each of its parts would exceed the time limit of a test many times
// over.
const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('');

const found = async (
  path: string,
  after: string,
  before: string | null = null,
  base: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> => {
  const tree = { ...base, ...(before === null ? {} : { [path]: before }) };
  const patch = patchBetween(tree, { ...tree, [path]: after });
  const findings = await tamperingIn(patch, tree, { baseFiles: Object.keys(tree) });
  return findings.map(({ severity, what }) => `${severity}: ${what}`);
};

const EXITS = ['gate: production code ends the process (`process.exit`)'];

test('many functions of one name, called many times, hide no end of the process', async () => {
  const text = `${lines(8_000, () => 'function f(a){}')}${lines(8_000, () => 'f(b);')}`;
  expect(await found('src/a.js', `${text}process.exit(0);\n`)).toEqual(EXITS);
});

test('one name that means something else in each of many functions is looked up', async () => {
  const text = lines(3_000, (at) => `const f${at} = (x = process) => { x.y; x.z; };`);
  expect(await found('src/a.js', `${text}((x) => x.exit(0))(process);\n`)).toEqual(EXITS);
});

test('the arguments of the program many times on a long line are compared with the names of tests around them', async () => {
  const text = `f(${'process.argv, '.repeat(3_000)}1);\n`;
  expect(await found('src/a.js', text.repeat(4))).toEqual([]);
  expect(await found('src/a.js', `${text.repeat(4)}if (process.argv[1].endsWith('jest')) g();\n`)).toEqual([
    'gate: production code checks how it was started or called to detect tests',
  ]);
});

test('a long sum, deep brackets and loaders of several names within each other are read to their end', async () => {
  const sum = `const a = ${"'a' + ".repeat(900)}'b';\n`;
  const brackets = `const b = ${'('.repeat(900)}'a'${')'.repeat(900)};\n`;
  const loaders = [
    'require',
    'module.require',
    'vi.importActual',
    'jest.requireActual',
    '__import__',
    'import_module',
  ];
  const nested = `let r;\n${lines(6, (at) => `r = ${loaders[at]};`)}const c = ${'r('.repeat(14)}x${')'.repeat(14)};\n`;
  expect(await found('src/a.js', `${sum}${brackets}${nested}process.exit(0);\n`)).toEqual(EXITS);
});

test('an import of Rust is followed at any length and depth', async () => {
  const many = `use std::{${lines(3_000, (at) => `a${at}::{b${at}, c${at}},`)}process::exit as leave};\n`;
  const deep = `use ${'a::{'.repeat(400)}b${'}'.repeat(400)};\n`;
  expect(await found('src/a.rs', `${deep}${many}fn f() { leave(0); }\n`)).toEqual([
    'gate: production code ends the process (`std.process.exit`)',
  ]);
});

test('a test with many timers is compared with what it was', async () => {
  const body = (check: (at: number) => string) => `test('a', () => {\n${lines(1_500, check)}});\n`;
  const before = body((at) => `expect(f(${at})).toBe(${at});`);
  const after = body((at) => `setTimeout(() => { expect(f(${at})).toBe(${at}); });`);
  expect(await found('test/a.test.js', after, before)).toEqual([
    'gate: an assertion runs only after the test has ended',
  ]);
});

test('signs and words without end in the helpers of tests cost what they are long', async () => {
  const after = `${lines(75, () => `${','.repeat(49_000)}x`)}${lines(5, () => 'a '.repeat(10_000))}`;
  expect(await found('test/helper.js', `one();\n${after}`, 'one();\n')).toContain(
    'question: code that tests depend on was changed',
  );
});

test('code beyond the limit is a question to a person, whether it stands in one file or in many', async () => {
  const unread = 'question: production code is too long or too deeply nested to be read as a whole';
  const part = lines(1_000, (at) => `const a${at} = process.argv[${at}] + 'a${at}';`);
  expect(await found('src/a.js', part.repeat(8))).toEqual([unread]);
  const copies = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`src/a${at}.js`, part]));
  const findings = await tamperingIn(patchBetween({}, copies), {});
  expect(findings.map(({ path, severity }) => `${path} ${severity}`)).toEqual(
    ['src/a5.js', 'src/a6.js', 'src/a7.js', 'src/a8.js'].map((path) => `${path} question`),
  );
  expect(
    await found(
      'src/a.kt',
      lines(4_000, (at) => `val a${at} = System.getProperty("a${at}")`),
    ),
  ).toEqual([unread]);
  expect(await found('src/data.json', `[${lines(20_000, () => '"a long text",')}1]\n`)).toEqual([]);
});

test('of very many rules that ignore files, those that are not compared are a question', async () => {
  const tests = Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`test/a${at}.test.js`, `f(${at});\n`]),
  );
  const rules = lines(19_000, (at) => `a${at}/**/b*`);
  expect(await found('.gitignore', rules, null, tests)).toEqual([
    'question: git is configured to ignore more files than were compared with the tests',
  ]);
  expect(await found('.gitignore', `${lines(9, (at) => `a${at}`)}test/\n`, null, tests)).toEqual([
    'gate: git is configured to ignore tests',
  ]);
});

test('the scripts of a component are found beside many tags that do not end', () => {
  const script = '<script lang="ts">\nlet a;\n</script>';
  const text = `${script}\n${'<script '.repeat(250_000)}`;
  const parsed = parsedText({ path: 'a.vue', text });
  expect(parsed).toHaveLength(text.length);
  expect(parsed.trim()).toBe('let a;');
});
