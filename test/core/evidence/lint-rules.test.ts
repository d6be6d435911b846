import { describe, expect, test } from 'vitest';
import {
  brokenRules,
  comparedByRules,
  joinedRules,
  mergeBaseRuns,
  type TestRun,
  withKnownRules,
} from '../../../src/core/evidence/index.ts';

/** What the programs print about the same few lines, shortened. */
const OUTPUTS = {
  'ESLint 9': `
/repo/src/a.js
  2:7   error    'unused' is assigned a value but never used  no-unused-vars
  3:7   warning  Expected '===' and instead saw '=='          eqeqeq
  9:1   error    Parsing error: Unexpected token (9:1)

✖ 3 problems (2 errors, 1 warning)
`,
  XO: `
  index.js:1:1
  \u001b[31m✖\u001b[39m  1:1   Unexpected var, use let or const instead.  no-var
  \u001b[33m⚠\u001b[39m  1:10  Unexpected todo comment.                   no-warning-comments

  1 warning
  1 error
`,
  standard: `standard: Use JavaScript Standard Style (https://standardjs.com)
  /repo/src/a.js:1:1: Unexpected var, use let or const instead. (no-var) (warning)
  /repo/src/a.js:2:17: Extra semicolon. (semi)
`,
  stylelint: `
src/a.css
  1:3   ✖  Too many declarations, maximum 1  declaration-block-single-line-max-declarations
  1:21  ✖  Unknown property "colr"           property-no-unknown
`,
  Oxlint: `
  × eslint(no-debugger): \`debugger\` statement is not allowed
   ,-[src/a.js:4:14]
 4 | if (x = 3) { debugger }
   \`----

  ! eslint(no-unused-vars): Variable 'unused' is declared but never used.
   ,-[src/a.js:2:7]
`,
  Biome: `src/a.js:2:7 lint/correctness/noUnusedVariables  FIXABLE  ━━━━━━━━━━━━━━━

  ! This variable unused is unused.

  > 2 │ const unused = 2;

src/a.css format ━━━━━━━━━━━━━━━━━━━━━━━━━

  × Formatter would have printed the following content:

\u001b[0msrc/a.js:3:7 \u001b]8;;https://biomejs.dev/linter/rules/no-double-equals\u001b\\lint/suspicious/noDoubleEquals\u001b]8;;\u001b\\ ━━━

  × Using == may be unsafe if you are relying on type coercion.
`,
  Prettier: `Checking formatting...
[warn] src/a.css
[warn] Code style issues found in the above file. Run Prettier with --write to fix.
`,
  markdownlint: `src/a.md:1 error MD022/blanks-around-headings Headings should be surrounded by blank lines
src/a.md:6:5 error MD009/no-trailing-spaces Trailing spaces [Expected: 0 or 2; Actual: 3]
`,
  Flake8: "./a.py:1:1: F401 'os' imported but unused\n./a.py:3:80: E501 line too long (88 > 79 characters)\n",
  Ruff: 'F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |\n\nFound 1 error.\n',
  pylint: '************* Module a\na.py:1:0: C0114: Missing module docstring (missing-module-docstring)\n',
  RuboCop: `lib/a.rb:1:3: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings
  a "b"
    ^^^
lib/a.rb:2:1: W: [Correctable] Lint/UselessAssignment: Useless assignment to variable - x.
`,
  'golangci-lint':
    'main.go:12:9: Error return value of `f.Close` is not checked (errcheck)\n\tf.Close()\n\t^\n',
  'next lint': `
./pages/index.js
3:7  Error: 'x' is not defined.  no-undef
10:5  Warning: React Hook useEffect has a missing dependency  react-hooks/exhaustive-deps
`,
} as const;

const named = (output: string): Record<string, 'error' | 'warning'> =>
  Object.fromEntries(
    Object.entries(brokenRules(output) ?? {}).map(([rule, { warning }]) => [
      rule,
      warning ? 'warning' : 'error',
    ]),
  );

describe('the rules that a linter finds broken are read from its output', () => {
  test.each([
    ['ESLint 9', { 'no-unused-vars': 'error', eqeqeq: 'warning', 'Parsing error': 'error' }],
    ['XO', { 'no-var': 'error', 'no-warning-comments': 'warning' }],
    ['standard', { 'no-var': 'warning', semi: 'error' }],
    [
      'stylelint',
      { 'declaration-block-single-line-max-declarations': 'error', 'property-no-unknown': 'error' },
    ],
    ['Oxlint', { 'eslint(no-debugger)': 'error', 'eslint(no-unused-vars)': 'warning' }],
    [
      'Biome',
      {
        'lint/correctness/noUnusedVariables': 'warning',
        format: 'error',
        'lint/suspicious/noDoubleEquals': 'error',
      },
    ],
    ['Prettier', { format: 'error' }],
    ['markdownlint', { MD022: 'error', MD009: 'error' }],
    ['Flake8', { F401: 'error', E501: 'error' }],
    ['Ruff', { F401: 'error' }],
    ['pylint', { C0114: 'error' }],
    ['RuboCop', { 'Style/StringLiterals': 'error', 'Lint/UselessAssignment': 'error' }],
    ['golangci-lint', { errcheck: 'error' }],
    ['next lint', { 'no-undef': 'error', 'react-hooks/exhaustive-deps': 'warning' }],
  ] as const)('%s', (linter, rules) => {
    expect(named(OUTPUTS[linter])).toEqual(rules);
  });

  test('with one finding of each, and its file', () => {
    expect(brokenRules(OUTPUTS['ESLint 9'])?.['no-unused-vars']?.text).toBe(
      "/repo/src/a.js 2:7 error 'unused' is assigned a value but never used no-unused-vars",
    );
    expect(brokenRules(OUTPUTS.XO)?.['no-var']?.text).toMatch(/^index\.js ✖ 1:1 Unexpected var/);
  });

  test.each(['/repo/bin/cli', 'docs/a file.js', '  index.js:1:1'])('below %s, too', (file) => {
    expect(named(`${file}\n  1:1  error  Text  semi\n`)).toEqual({ semi: 'error' });
    expect(named(`${file}\n  1:1  error  Text  semi\n\n  2:2  error  Text  eqeqeq\n`)).toEqual({
      semi: 'error',
    });
  });

  test('a rule that warns in one place and fails in another fails', () => {
    const line = (at: string, severity: string) => `  ${at}  ${severity}  Expected '==='  eqeqeq`;
    const output = ['src/a.js', line('1:1', 'warning'), line('2:2', 'error'), line('3:3', 'warning')].join(
      '\n',
    );
    expect(brokenRules(output)).toEqual({ eqeqeq: { text: "src/a.js 2:2 error Expected '===' eqeqeq" } });
  });

  test('none are, where the linter crashed, or prints something else', () => {
    expect(
      brokenRules(
        'Oops! Something went wrong! :(\n\nESLint: 9.39.1\n\nTypeError: x\n    at a (/repo/b.js:3:7)',
      ),
    ).toBeNull();
    expect(brokenRules('10:30 PM build started\nsrc/a.js: line 1, col 10, Missing semicolon.\n')).toBeNull();
    expect(brokenRules('')).toBeNull();
  });

  test('nor if there are so many that they name no rules', () => {
    const lines = Array.from({ length: 501 }, (_, at) => `  1:1  error  Text  rule-${at}`);
    expect(brokenRules(['a.js', ...lines.slice(1)].join('\n'))).not.toBeNull();
    expect(brokenRules(['a.js', ...lines].join('\n'))).toBeNull();
  });

  test('nor if the output leaves findings out', () => {
    const output = `${OUTPUTS.Biome}\nDiagnostics not shown: 31.\n`;
    expect(brokenRules(output)).toBeNull();
    expect(brokenRules(`The number of diagnostics exceeds the limit allowed.\n${OUTPUTS.Biome}`)).toBeNull();
  });

  test('a hint of Biome is no error, whatever stands below it', () => {
    const output = `src/a.js:1:1 lint/complexity/useLiteralKeys ━━━

  i The computed expression can be simplified.

src/a.js format ━━━

  × Formatter would have printed the following content:
`;
    expect(named(output)).toEqual({ 'lint/complexity/useLiteralKeys': 'warning', format: 'error' });
  });

  test.each([
    ['src/c.ts:1:7 - Unknown word (frobnicatez)\n'],
    ['app/b.haml:9 [W] LineLength: Line is too long. [93/80]\n'],
    ['b.yml:1:1: [warning] missing document start "---" (document-start)\n'],
    ['[WARN] /r/B.java:3: Line is longer. [LineLength]\n'],
    ['b.py:2: note: By default the bodies are not checked  [annotation-unchecked]\n'],
    ['12:30 PM  done\n'],
  ])('%j names no rule that fails the command', (output) => {
    expect(brokenRules(output)).toBeNull();
  });

  test('names of rules are untrusted', () => {
    const rules = brokenRules('a.js\n  1:1  error  Text  __proto__\n  1:2  error  Text  constructor\n');
    expect(Object.keys(rules ?? {})).toEqual(['__proto__', 'constructor']);
  });
});

const LINT = 'lint: eslint .';
const stylish = (...rules: string[]) =>
  ['a.js', ...rules.map((rule) => `  1:1  error  Text  ${rule}`)].join('\n');

function runOf(outcome: 'passed' | 'failed', output = ''): TestRun {
  const rules = brokenRules(output);
  return {
    ...{ source: 'report', exitCode: 0, stopped: null, ms: 1, tail: '', steps: [LINT] },
    tests: { 'a > works': 'passed', [LINT]: outcome },
    ...(rules ? { brokenRules: { [LINT]: rules } } : {}),
    ...(outcome === 'failed' ? { messages: { [LINT]: output } } : {}),
  };
}

describe('a linter that fails on the base commit', () => {
  const { run: base, notes } = withKnownRules(runOf('failed', stylish('semi', 'eqeqeq')));

  test('counts as passed there, and it is said which rules are broken', () => {
    expect(base.tests[LINT]).toBe('passed');
    expect(notes).toEqual([
      '“lint: eslint .” finds 2 rules broken on the base commit (eqeqeq, semi), so only findings of other rules count.',
    ]);
  });

  const outcomeOf = (output: string, on = base) => comparedByRules(on, runOf('failed', output)).tests[LINT];

  test('passes for a candidate that breaks the same rules, however often', () => {
    const run = comparedByRules(base, runOf('failed', stylish('semi', 'semi', 'eqeqeq')));
    expect(run.tests[LINT]).toBe('passed');
    expect(run.messages).toEqual({});
    expect(comparedByRules(base, runOf('passed')).tests[LINT]).toBe('passed');
  });

  test('fails for one that breaks another rule as well, which the message names', () => {
    const run = comparedByRules(base, runOf('failed', stylish('semi', 'eqeqeq', 'no-undef')));
    expect(run.tests[LINT]).toBe('failed');
    expect(run.messages?.[LINT]).toBe('no-undef: a.js 1:1 error Text no-undef');
  });

  test('passes for one that repairs a rule: what shows now may have been hidden behind it', () => {
    expect(outcomeOf(stylish('eqeqeq', 'no-undef'))).toBe('passed');
    const unparsed = withKnownRules(
      runOf('failed', 'a.js\n  9:1  error  Parsing error: Unexpected token\n'),
    ).run;
    expect(outcomeOf(stylish('no-undef'), unparsed)).toBe('passed');
    // The next linter of the same script.
    expect(outcomeOf('Checking formatting...\n[warn] src/a.css\n')).toBe('passed');
    expect(outcomeOf('src/a.ts(1,2): error TS2322: No.\n')).toBe('passed');
  });

  test('passes for one that meets one more rule for the same missing package', () => {
    const untyped = withKnownRules(runOf('failed', stylish('@typescript-eslint/no-unsafe-call'))).run;
    const more = stylish('@typescript-eslint/no-unsafe-call', '@typescript-eslint/no-unsafe-return');
    expect(outcomeOf(more, untyped)).toBe('passed');
    const absent = withKnownRules(runOf('failed', stylish('import/no-unresolved'))).run;
    expect(outcomeOf(stylish('import/no-unresolved', 'import/named'), absent)).toBe('passed');
  });

  test('warnings count only where nothing fails the command but them', () => {
    const warning = '  1:1  warning  Text  no-console';
    const hook = '  1:1  warning  Text  react-hooks/exhaustive-deps';
    expect(outcomeOf(`${stylish('semi', 'eqeqeq')}\n${warning}`)).toBe('passed');
    const warned = withKnownRules(runOf('failed', `a.js\n${warning}`)).run;
    expect(outcomeOf(`a.js\n${warning}\n${hook}`, warned)).toBe('failed');
    expect(outcomeOf(`a.js\n${warning}\n${warning}`, warned)).toBe('passed');
    const both = withKnownRules(runOf('failed', `${stylish('semi')}\n${warning}`));
    expect(both.notes[0]).toContain('finds 1 rule broken on the base commit (semi)');
    expect(outcomeOf(`a.js\n${warning}`, both.run)).toBe('passed');
  });

  test('says what it found on the base no longer, where it counts as passed', () => {
    expect(base.messages).toEqual({});
  });

  test('its message is limited', () => {
    const many = Array.from({ length: 400 }, (_, at) => `r${at}-${'x'.repeat(90)}`);
    const run = comparedByRules(base, runOf('failed', stylish('semi', 'eqeqeq', ...many)));
    expect(run.messages?.[LINT]?.length).toBeLessThan(4_000);
    expect(brokenRules(`a.js\n  1:1  error  Text  ${'x'.repeat(500)}`)).toBeNull();
  });

  test('is left as it is if its output names no rule', () => {
    expect(withKnownRules(runOf('failed', 'Oops!'))).toEqual({ run: runOf('failed', 'Oops!'), notes: [] });
    expect(comparedByRules({}, runOf('failed', stylish('semi'))).tests[LINT]).toBe('failed');
  });

  test('breaks the rules of all its runs', () => {
    const runs = [stylish('semi'), stylish('eqeqeq'), stylish('semi')].map((output) =>
      runOf('failed', output),
    );
    expect(Object.keys(mergeBaseRuns(runs).brokenRules?.[LINT] ?? {}).sort()).toEqual(['eqeqeq', 'semi']);
    expect(joinedRules([])).toEqual({});
  });
});
