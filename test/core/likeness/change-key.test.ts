import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeKey } from '../../../src/core/likeness/index.ts';
import { anyText, change, created, patch } from './sample.ts';

const fix = change('src/sum.ts', [
  ' export function sum(a: number, b: number) {',
  '-  return a - b;',
  '+  return total([a, b], "plus");',
  ' }',
]);

const sum = (...added: readonly string[]): string =>
  change('src/sum.ts', [
    ' export function sum(a: number, b: number) {',
    '-  return a - b;',
    ...added.map((text) => `+${text}`),
    ' }',
  ]);

test.each([
  [
    'comments',
    sum('  // adds, not subtracts', '  return total([a, b], "plus"); /* now */', '  /* end', '   * end */'),
  ],
  ['blanks', sum('', '\treturn  total( [a,b], "plus" );', '   ')],
  ['quotes and semicolons', sum("  return total([a, b], 'plus')")],
  ['line breaks and trailing commas', sum('  return total(', '    [a, b,],', "    'plus',", '  );')],
  [
    'a line that is taken out and put back',
    change('src/sum.ts', [
      '-export function sum(a: number, b: number) {',
      '-  return a - b;',
      '+export function sum(a: number, b: number) {',
      '+  return total([a, b], "plus");',
      ' }',
    ]),
  ],
  [
    'other context',
    change('src/sum.ts', ['-  return a - b;', '+  return total([a, b], "plus");'], { at: 2 }),
  ],
  ['tests', patch(fix, created('test/sum.test.ts', ['expect(sum(1, 2)).toBe(3);']))],
  ['docs', patch(change('docs/sum.md', ['+Adds.']), fix)],
  ['a lock file', patch(fix, change('package-lock.json', ['+{}']))],
  ['a scratch file', patch(fix, created('reproduce.js', ['sum(1, 2)']))],
  ['a plain diff', fix.replace(/^diff --git .*\n/, '')],
  ['line ends', fix.replaceAll('\n', '\r\n')],
])('a patch that differs in %s is in the same class', (_, other) => {
  expect(changeKey(other)).toBe(changeKey(fix));
});

test.each([
  ['another word', sum('  return total([b, a], "plus");')],
  ['another string', sum('  return total([a, b], "minus");')],
  ['another file', fix.replaceAll('sum.ts', 'product.ts')],
  ['another place', fix.replace('@@ -1,3 +1,3 @@', '@@ -7,3 +7,3 @@')],
  ['a dependency', patch(fix, change('package.json', ['+  "total": "1.0.0",']))],
  ['a second file', patch(fix, created('src/total.ts', ['export const total = 1;']))],
  ['nothing', ''],
])('a patch that differs in %s is in another class', (_, other) => {
  expect(changeKey(other)).not.toBe(changeKey(fix));
});

test('a created file that the source refers to is production, wherever it is', () => {
  const helped = (body: string) =>
    patch(change('lib/sum.js', ["+import { total } from '../total.js';"]), created('total.js', [body]));
  expect(changeKey(helped('export const total = 1;'))).not.toBe(changeKey(helped('export const total = 2;')));
});

test('a moved line is a change', () => {
  const moved = change('src/run.ts', ['-  open();', '   read();', '+  open();', '   close();']);
  expect(changeKey(moved)).not.toBe('');
});

test('it does not matter which of two equal lines is marked as new', () => {
  const first = change('src/list.ts', [' start();', '+  push(x);', '   push(x);', ' end();']);
  const second = change('src/list.ts', [' start();', '   push(x);', '+  push(x);', ' end();']);
  expect(changeKey(first)).toBe(changeKey(second));
});

test('in Python indentation is part of the change, elsewhere it is not', () => {
  const loop = (extension: string, first: string, second: string) =>
    change(`src/loop.${extension}`, [' for x in xs:', '     seen(x)', `+${first}`, `+${second}`, ' done()']);
  const inside = ['    a(x)', '    b(x)'] as const;
  const after = ['    a(x)', 'b(x)'] as const;
  expect(changeKey(loop('py', ...inside))).not.toBe(changeKey(loop('py', ...after)));
  expect(changeKey(loop('ts', ...inside))).toBe(changeKey(loop('ts', ...after)));
});

test('how many lines are wrapped in a condition is part of the change in Python', () => {
  const one = change('a.py', ['-a()', '+if x:', '+    a()', ' b()']);
  const two = change('a.py', ['-a()', '-b()', '+if x:', '+    a()', '+    b()']);
  expect(changeKey(one)).not.toBe(changeKey(two));
});

test('text in a docstring that began above the hunk is a comment', () => {
  const documented = change(
    'src/a.py',
    [' text', '+more text', '     """', '-    return 1', '+    return 2'],
    { at: 9 },
  );
  const plain = change('src/a.py', [' text', '     """', '-    return 1', '+    return 2'], { at: 9 });
  expect(changeKey(documented)).toBe(changeKey(plain));
});

test('renaming, creating and deleting count', () => {
  const keys = [
    change('src/new.ts', [], { renamed: 'src/old.ts' }),
    created('src/new.ts', []),
    'diff --git a/src/new.ts b/src/new.ts\ndeleted file mode 100644\n',
    '',
  ].map(changeKey);
  expect(new Set(keys).size).toBe(4);
});

test('patches that change nothing in production are one class, with the empty key', () => {
  for (const text of [
    '',
    'hello',
    change('README.md', ['+hello']),
    change('src/a.ts', ['+// hello']),
    created('test/a.test.ts', ['run()']),
  ]) {
    expect(changeKey(text)).toBe('');
  }
});

test('comments and blank lines never change the class', () => {
  const signs = fc.constantFrom(' ', '+', '-');
  const code = fc.constantFrom('a();', 'b(x, "y");', '}', 'if (c) {', 'const d = [1, 2];');
  const lines = fc.array(fc.tuple(signs, code), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(lines, fc.array(fc.nat()), (hunk, places) => {
      const signed = hunk.map(([sign, text]) => sign + text);
      const noisy = places.reduce(
        (all, place) => all.toSpliced(place % (all.length + 1), 0, place % 2 ? '+// a(); b();' : '+'),
        signed,
      );
      expect(changeKey(change('src/a.ts', noisy))).toBe(changeKey(change('src/a.ts', signed)));
    }),
  );
});

test.each([
  [
    'an address in the text of an element',
    'src/page.tsx',
    '<a>see https://one.example</a>',
    '<a>see https://two.example</a>',
  ],
  ['the number of arguments in a shell', 'run.sh', '[ $# -gt 0 ]', '[ $# -gt 1 ]'],
  ['a build tag', 'pkg/a.go', '//go:build linux', '//go:build darwin'],
  ['an embedded file', 'pkg/a.go', '//go:embed a.txt', '//go:embed b.txt'],
  ['a raw string of Go', 'a.go', 'regexp.MustCompile(`^//a+$`)', 'regexp.MustCompile(`^//b+$`)'],
  ['a string of PHP', 'a.php', "$u = 'https://one.example';", "$u = 'https://two.example';"],
  ['a string of Dart', 'a.dart', "f('a //one');", "f('a //two');"],
  ['a string of Gradle', 'a.gradle', "url 'a //one'", "url 'a //two'"],
  ['a template in a template', 'a.ts', `f(\`\${a ? \`//one\` : 1}\`);`, `f(\`\${a ? \`//two\` : 1}\`);`],
  ['an escaped backtick', 'a.ts', 'f(`\\`//one`);', 'f(`\\`//two`);'],
  ['a verbatim string of C#', 'a.cs', 'F(@"\\", "//one");', 'F(@"\\", "//two");'],
  ['a raw string of Rust', 'a.rs', 'f(r#"" //one"#);', 'f(r#"" //two"#);'],
  ['an empty template', 'a.ts', 'f(``);', 'f();'],
  ['a variable in a shell', 'a.sh', `rm '$HOME/a'`, `rm "$HOME/a"`],
  ['interpolation of Ruby', 'a.rb', `puts 'a#{b}'`, `puts "a#{b}"`],
  ['a tuple', 'a.py', 'v = (1,)', 'v = (1)'],
  ['a returned value', 'a.js', 'return x;', 'return\nx;'],
  ['a factor on its own line', 'a.js', 'f(a\n  * rate);', 'f(a\n  * 2 * rate);'],
  ['a text without quotes', 'a.sh', 'cat <<EOF\n# one\nEOF', 'cat <<EOF\n# two\nEOF'],
  ['an empty line of a template', 'a.ts', 'f(`a\nb`);', 'f(`a\n\nb`);'],
  ['a shebang line', 'bin/run.rb', '#!/usr/bin/env ruby', '#!/usr/bin/env ruby -w'],
])('%s is no comment', (_, path, one, other) => {
  const added = (text: string) => text.split('\n').map((line) => `+${line}`);
  const keyOf = (text: string) => changeKey(change(path, added(text)));
  expect(keyOf(one)).not.toBe('');
  expect(keyOf(one)).not.toBe(keyOf(other));
});

test.each([
  ['a trailing comma of a call', 'a.py', 'f(1,)', 'f(1)'],
  ['a trailing comma of a longer tuple', 'a.py', 'v = (1, 2,)', 'v = (1, 2)'],
  ['quotes around plain text', 'a.rb', `puts 'a b'`, 'puts "a b"'],
  ['a comment behind a raw string', 'a.go', 'f(`a`) // one', 'f(`a`)'],
  ['a comment behind an address', 'a.php', "f('https://one.example'); // one", "f('https://one.example');"],
])('%s makes no difference', (_, path, one, other) => {
  const keyOf = (line: string) => changeKey(change(path, [' head', '-old', `+${line}`, ' tail']));
  expect(keyOf(one)).toBe(keyOf(other));
});

test.each([
  ['before an element', '{/* one */}\n<b>{f(x)}</b>'],
  ['behind an element', '<b>{f(x)}</b> {/* one */}'],
  ['in an element', '<b>\n{/* one\n  two */}\n{f(x)}\n{\n// three\n}\n</b>'],
  ['among attributes', '<b // one\n>{f(x) /* two */}</b>'],
])('a comment %s makes no difference', (_, text) => {
  const keyOf = (added: string) =>
    changeKey(change('src/page.tsx', [' <p>', ...added.split('\n').map((line) => `+${line}`), ' </p>']));
  expect(keyOf(text)).toBe(keyOf('<b>{f(x)}</b>'));
});

test.each([
  ['an argument', 'f(a, {/* one */});', 'f(a);'],
  ['an argument on its own line', 'f(\n  {/* one */}\n);', 'f();'],
  ['a value', '<b a={{/* one */}} />', '<b a={b} />'],
  ['a function', 'f(() => {/* one */});', 'f(() => b);'],
  ['a function with a type', 'f(): Promise<void> {/* one */}', 'f(): Promise<void>;'],
])('an empty object or function is no comment: %s', (_, one, other) => {
  const keyOf = (added: string) =>
    changeKey(
      change(
        'src/page.tsx',
        added.split('\n').map((line) => `+${line}`),
      ),
    );
  expect(keyOf(one)).not.toBe(keyOf(other));
});

/** Literals of each language, around any text that they can hold. */
const LITERALS: readonly (readonly [path: string, open: string, close: string])[] = [
  ['a.go', '`', '`'],
  ['a.go', '"', '"'],
  ['a.ts', '`', '`'],
  ['a.ts', "'", "'"],
  ['a.ts', `\`\${a ? \``, '` : b}`'],
  ['a.tsx', '"', '"'],
  ['a.py', 'f"', '"'],
  ['a.py', '"""', '"""'],
  ['a.php', "'", "'"],
  ['a.dart', "'", "'"],
  ['a.gradle', "'", "'"],
  ['a.kt', '"', '"'],
  ['a.kt', '"""', '"""'],
  ['a.java', '"""', '"""'],
  ['a.rs', '"', '"'],
  ['a.rs', 'r#"', '"#'],
  ['a.cpp', 'R"x(', ')x"'],
  ['a.cs', '@"', '"'],
  ['a.swift', '#"', '"#'],
  ['a.rb', "'", "'"],
  ['a.sh', "'", "'"],
  ['a.sql', "'", "'"],
  ['a.lua', '[[', ']]'],
  ['a.yml', "'", "'"],
  ['a.toml', '"', '"'],
];

test.each(LITERALS)(
  'in %s, what stands between %s and %s always counts, and what follows it',
  (path, open, close) => {
    const inner = fc
      .array(fc.constantFrom('//', '#', '/*', '*/', '--', ';', '<!--', ' ', 'a', '(', '{', '}', '%'), {
        maxLength: 6,
      })
      .map((parts) => parts.join(''));
    const keyOf = (text: string, after: string) =>
      changeKey(change(path, [' head', '-old()', `+x = f(${open}${text}${close}, ${after})`, ' tail()']));
    fc.assert(
      fc.property(inner, inner, (one, other) => {
        fc.pre(one !== other);
        expect(keyOf(one, 'y')).not.toBe(keyOf(other, 'y'));
        expect(keyOf(one, 'y')).not.toBe(keyOf(one, 'z'));
      }),
    );
  },
);

test('no text causes an error', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(typeof changeKey(text)).toBe('string');
    }),
    { numRuns: 500 },
  );
});

test('beyond the limits a patch is its own class', () => {
  const huge = (last: string) => created('src/data.ts', [...Array(12_000).fill('x();'), last]);
  expect(changeKey(huge('a()'))).not.toBe(changeKey(huge('b()')));
});

test('the same tokens at two places of one line are two changes', () => {
  const before = '-  return Array.from({ length: to - from }, (_, i) => from + i);';
  const at = (line: string) =>
    changeKey(change('src/ranges.ts', [' export const all = 1;', before, `+${line}`, ' }']));
  const longer = at('  return Array.from({ length: to - from + 1 }, (_, i) => from + i);');
  expect(longer).not.toBe(at('  return Array.from({ length: to - from }, (_, i) => from + i + 1);'));
  expect(longer).toBe(at('  return Array.from({ length: to - from + 1 }, (_, i) => from + i)'));
});

test('an added line is the same change with and without lines around it', () => {
  const around = change('src/sum.ts', [' const one = 1;', '+const two = 2;', ' const three = 3;']);
  expect(changeKey(around)).toBe(changeKey(change('src/sum.ts', ['+const two = 2;'], { at: 2 })));
});
