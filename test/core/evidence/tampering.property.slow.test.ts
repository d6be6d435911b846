import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TamperingFinding } from '../../../src/core/evidence/index.ts';
import { parsePatch } from '../../../src/core/patches/index.ts';
import { Git } from '../git.ts';
import { tamperingIn } from '../syntax.ts';

/** A suite by its parts: what each test is called, and the numbers that it asserts. */
type Suite = readonly { readonly name: string; readonly values: readonly number[] }[];

const PATH = 'test/a.test.js';
const suiteOf = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z]{3,8}( [a-z]{2,6}){0,2}$/),
    values: fc.array(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 2, maxLength: 5, selector: ({ name }) => name },
);

const text = (suite: Suite): string =>
  suite
    .map(({ name, values }) => {
      const lines = values.map((value, i) => `  expect(f('${name}', ${i})).toBe(${value});\n`);
      return `test('${name}', () => {\n${lines.join('')}});\n`;
    })
    .join('\n');

const RUNS = 25;

describe('any suite', () => {
  const kinds = async (
    git: Git,
    before: string,
    after: string,
    known: boolean,
  ): Promise<readonly TamperingFinding['kind'][]> => {
    const { raw, text: diff } = git.diff({ [PATH]: before }, { [PATH]: after });
    const parsed = parsePatch(raw, diff);
    if (parsed.kind === 'refused') throw new Error(parsed.reasons.join('\n'));
    return (await tamperingIn(parsed.patch, known ? { [PATH]: before } : {})).map(({ kind }) => kind);
  };
  const check = (
    name: string,
    change: (suite: Suite, at: number) => string,
    wanted: readonly TamperingFinding['kind'][],
  ) =>
    test(name, async () => {
      using git = new Git();
      await fc.assert(
        fc.asyncProperty(suiteOf, fc.nat(), fc.boolean(), async (suite, nat, known) => {
          expect(await kinds(git, text(suite), change(suite, nat % suite.length), known)).toEqual(wanted);
        }),
        { numRuns: RUNS },
      );
    });
  const without = <T>(list: readonly T[], at: number) => list.filter((_, i) => i !== at);

  check('without one of its tests', (suite, at) => text(without(suite, at)), ['test-deleted']);
  check(
    'with another value in one place',
    (suite, at) =>
      text(suite.map((one, i) => (i === at ? { ...one, values: [1000, ...one.values.slice(1)] } : one))),
    ['expectation-changed'],
  );
  check(
    'with one test skipped',
    (suite, at) => text(suite).replace(`test('${suite[at]?.name}'`, `test.skip('${suite[at]?.name}'`),
    ['test-skipped'],
  );
  check('in another order', (suite, at) => text([...suite.slice(at), ...suite.slice(0, at)]), []);
  check(
    'with one test more',
    (suite) => text([...suite, { name: 'one more of them', values: [1, 2, 3] }]),
    [],
  );
  check(
    'with one assertion more',
    (suite, at) => text(suite.map((one, i) => (i === at ? { ...one, values: [...one.values, 1000] } : one))),
    [],
  );
  check(
    'with another name for one test',
    (suite, at) => text(suite).replace(`test('${suite[at]?.name}', `, "test('zzz called anew', "),
    [],
  );
  check(
    'in other white space',
    (suite) =>
      text(suite)
        .replace(/^ {2}/gm, '    ')
        .replace(/\)\.toBe/g, ')\n.toBe'),
    [],
  );
});

describe('any text', () => {
  const soup = fc
    .array(
      fc.constantFrom(
        ...[
          'test(',
          "'a'",
          '`',
          '${',
          '}',
          '{',
          '(',
          ')',
          '/*',
          '*/',
          '//',
          '"""',
          "'''",
          '"',
          "'",
          '\\',
          '\n',
        ],
        ...[
          'expect(a)',
          '.toBe(1)',
          'assert x == 1\n',
          'def test_a():\n  ',
          '=> ',
          'if (',
          'try {',
          'return\n',
          ' ',
        ],
        ...[
          '#[test]\n',
          'fn a() {',
          '@Test\n',
          'describe("x"',
          ', ',
          ';',
          '=begin\n',
          '__END__\n',
          '#if 0\n',
          'it "x" do\n',
        ],
      ),
      { maxLength: 60 },
    )
    .map((parts) => `${parts.join('')}\n`);
  const paths = fc.constantFrom(
    ...[
      'test/a.test.ts',
      'tests/test_a.py',
      'a_test.go',
      'tests/a.rs',
      'src/test/ATest.java',
      'spec/a_spec.rb',
    ],
    ...[
      'tests/ATest.php',
      'A.Tests/ATests.cs',
      'a_test.cc',
      'test/a.bats',
      'src/a.ts',
      'test/x.js',
      'src/lib.rs',
    ],
  );

  test('is read without a fault, and gives findings of lines that the patch touches', async () => {
    using git = new Git();
    await fc.assert(
      fc.asyncProperty(paths, soup, soup, fc.boolean(), async (path, before, after, known) => {
        const { raw, text: diff } = git.diff({ [path]: before }, { [path]: after });
        const parsed = parsePatch(raw, diff);
        if (parsed.kind === 'refused') throw new Error(parsed.reasons.join('\n'));
        const findings = await tamperingIn(parsed.patch, known ? { [path]: before } : {});
        for (const { path: where, hunk } of findings)
          expect([where, hunk]).toEqual([path, expect.any(String)]);
      }),
      { numRuns: 150 },
    );
  });
});
