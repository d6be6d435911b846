import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { LineLexer, lexicalSyntaxOf } from '../../../src/core/lexing/index.ts';
import { comparePatches } from '../../../src/core/likeness/index.ts';
import { change, created, patch } from './sample.ts';

const NAMES = ['total', 'rate', 'round', 'clamp', 'limit', 'price'];
const statement = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES), fc.nat(9))
  .map(([to, from, n]) => `${to} = ${from}(x, ${n});`);
const statements = fc.array(statement, { minLength: 1, maxLength: 6 });

const fix = (lines: readonly string[], extra: readonly string[] = []): string =>
  change('src/a.ts', [' start();', '-old();', ...lines.map((line) => `+${line}`), ...extra, ' end();'], {
    at: 40,
  });

/** What the padding writer guesses the others to have written. */
const guess = fc.array(statement, { minLength: 1, maxLength: 20 });

const PADDINGS: Readonly<Record<string, (own: readonly string[], guessed: readonly string[]) => string>> = {
  'line comments': (own, guessed) => fix([...own, ...guessed.map((line) => `// ${line}`)]),
  'a block comment': (own, guessed) => fix([...own, '/*', ...guessed, '*/']),
  'a comment at the end of a line': (own, guessed) =>
    fix(own.map((line) => `${line} // ${guessed.join(' ')}`)),
  'a string': (own, guessed) => fix([...own, `"${guessed.join(' ')}";`]),
  tests: (own, guessed) => patch(fix(own), created('test/a.test.ts', guessed)),
  docs: (own, guessed) => patch(fix(own), created('docs/a.md', guessed)),
  configuration: (own, guessed) => patch(fix(own), created('config/a.yml', guessed)),
  'a scratch file': (own, guessed) => patch(fix(own), created('debug_a.js', guessed)),
  'lines beyond the count of the hunk': (own, guessed) =>
    fix(own) + guessed.map((line) => `+${line}\n`).join(''),
  'comments where the others change': (own, guessed) =>
    patch(
      fix(own),
      change(
        'src/b.ts',
        guessed.map((line) => `+// ${line}`),
        { at: 7 },
      ),
    ),
  'strings where the others change': (own, guessed) =>
    patch(
      fix(own),
      change(
        'src/b.ts',
        guessed.map((line) => `+"${line}";`),
        { at: 7 },
      ),
    ),
  'blank lines where the others change': (own, guessed) =>
    patch(
      fix(own),
      change(
        'src/b.ts',
        guessed.map(() => '+'),
        { at: 7 },
      ),
    ),
  'a line taken out and put back where the others change': (own) =>
    patch(fix(own), change('src/b.ts', ['-keep();', '+keep();'], { at: 7 })),
};

test.each(Object.entries(PADDINGS))('guessed code of others in %s gains nothing', (_, pad) => {
  fc.assert(
    fc.property(
      statements,
      guess,
      fc.array(statements, { minLength: 1, maxLength: 3 }),
      (own, guessed, peers) => {
        const others = peers.map((lines, i) => ({
          id: `peer ${i}`,
          text: patch(fix(lines), change('src/b.ts', ['+use(total);'], { at: 7 })),
        }));
        const scoreOf = (text: string) =>
          comparePatches([{ id: 'own', text }, ...others])[0]?.score as number;
        expect(scoreOf(pad(own, guessed))).toBeLessThanOrEqual(scoreOf(fix(own)));
      },
    ),
    { numRuns: 60 },
  );
});

test('guessed code of others in a docstring gains nothing', () => {
  const python = (...added: readonly string[]) =>
    change('src/a.py', [' def price(x):', ...added.map((line) => `+    ${line}`), '     return x'], {
      at: 12,
    });
  fc.assert(
    fc.property(statements, guess, statements, (own, guessed, peer) => {
      const scoreOf = (text: string) =>
        comparePatches([
          { id: 'own', text },
          { id: 'peer', text: python(...peer) },
        ])[0]?.score as number;
      expect(scoreOf(python('"""', ...guessed, '"""', ...own))).toBe(scoreOf(python(...own)));
    }),
    { numRuns: 60 },
  );
});

test("a padded copy does not lower an honest candidate's agreement", () => {
  const honest = fix(['total = round(x, 2);']);
  const peer = fix(['total = round(x, 2);', 'limit = clamp(total, 9);']);
  const copy = fix(['total = round(x, 2); // total round']);
  const alone = comparePatches([
    { id: 'honest', text: honest },
    { id: 'peer', text: peer },
  ]);
  const stuffed = comparePatches([
    { id: 'honest', text: honest },
    { id: 'peer', text: peer },
    ...['1', '2', '3'].map((id) => ({ id, text: copy })),
  ]);
  expect(stuffed[0]?.share).toBeGreaterThanOrEqual(alone[0]?.share as number);
  expect(stuffed.find(({ id }) => id === '1')?.share).toBe(stuffed[0]?.share);
});

test('of two candidates that are executed, none becomes more similar than the other by an added file', () => {
  const [honest, padded] = [fix(['total = round(x, 2);']), fix(['total = round(y, 2);'])];
  const found = comparePatches(
    [
      { id: 'honest', text: honest },
      { id: 'padded', text: `${padded}${change('src/limits.ts', ['+export const limit = 3;'])}` },
    ],
    { classesAsOne: true },
  );
  expect(found[0]?.share).toBe(found[1]?.share);
});

test('a binary file that nobody else adds takes nothing from the others', () => {
  const same = fix(['total = round(x, 2);']);
  const binary =
    'diff --git a/a.bin b/a.bin\nnew file mode 100644\nindex 0000000..1111111\nBinary files /dev/null and b/a.bin differ\n';
  const found = comparePatches([
    { id: 'plain', text: same },
    { id: 'junk', text: `${same}${binary}` },
  ]);
  expect(found[0]?.share).toBeGreaterThanOrEqual(found[1]?.share as number);
});

test('paths that mean something to JavaScript are only names', () => {
  const odd = ['__proto__', 'constructor', 'src/__proto__/a.ts', 'a\u2028b.ts', 'toString'];
  const text = patch(...odd.map((path) => change(path, ['+x();'])));
  const [found] = comparePatches([
    { id: '__proto__', text },
    { id: 'constructor', text: change('__proto__', ['+x();']) },
  ]);
  expect(found?.files.map(({ name }) => name)).toEqual(odd.toSorted());
  expect(found?.files.find(({ name }) => name === '__proto__')?.others).toBe(1);
});

test('patches of many megabytes are read up to the limits', () => {
  const line = `+${'call(argument, "text"); '.repeat(4)}`;
  const wide = change('src/a.ts', Array(40_000).fill(line));
  const files = Array.from({ length: 30_000 }, (_, i) => change(`src/${i}.ts`, ['+x();'])).join('');
  const hunks = `--- a/src/a.ts\n+++ b/src/a.ts\n${'@@ -1 +1 @@\n-a();\n+b();\n'.repeat(100_000)}`;
  const nested = change('src/a.ts', [`+${'('.repeat(3_000_000)}`]);
  const alike = change('src/a.ts', [...Array(5_000).fill(' same();'), ...Array(4_000).fill('+same();')]);
  const found = comparePatches([wide, files, hunks, nested, alike].map((text, i) => ({ id: `${i}`, text })));
  expect(found.map(({ score }) => Number.isFinite(score))).toEqual([true, true, true, true, true]);
});

/** The characters that patterns match while one line is read: its time, without a clock. */
function charactersMatched(path: string, line: string): number {
  const syntax = lexicalSyntaxOf(path);
  if (!syntax) throw new Error(`${path}: no syntax`);
  const exec = RegExp.prototype.exec;
  let matched = 0;
  const spy = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text: string) {
    const found = exec.call(this, text);
    matched += found?.[0].length ?? 0;
    return found;
  });
  try {
    new LineLexer(syntax).line(line);
  } finally {
    spy.mockRestore();
  }
  return matched;
}

test.each([
  ['a.php', '"#{'],
  ['a.ts', '/\\'],
  ['a.tsx', '<a>{ // '],
  ['a.rb', '/ #'],
  ['a.sql', '$$ --'],
  ['a.zig', '\\\\//'],
  ['a.groovy', '\\//'],
  ['a.yml', "'\\' #"],
])('a line twice as long takes twice the work: %s: %s', (path, part) => {
  const [once, twice] = [500, 1_000].map((n) => charactersMatched(path, part.repeat(n)));
  expect(once).toBeGreaterThan(0);
  expect(twice).toBeLessThan((once ?? 0) * 2.5);
});
