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
  RuboCop:
    'lib/a.rb:1:3: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings\n  a "b"\n    ^^^\n',
  'golangci-lint':
    'main.go:12:9: Error return value of `f.Close` is not checked (errcheck)\n\tf.Close()\n\t^\n',
  ShellCheck: 'a.sh:2:6: note: Double quote to prevent globbing and word splitting. [SC2086]\n',
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
    ['RuboCop', { 'Style/StringLiterals': 'error' }],
    ['golangci-lint', { errcheck: 'error' }],
    ['ShellCheck', { SC2086: 'error' }],
  ] as const)('%s', (linter, rules) => {
    expect(named(OUTPUTS[linter])).toEqual(rules);
  });

  test('with one finding of each, and its file', () => {
    expect(brokenRules(OUTPUTS['ESLint 9'])?.['no-unused-vars']?.text).toBe(
      "/repo/src/a.js 2:7 error 'unused' is assigned a value but never used no-unused-vars",
    );
    expect(brokenRules(OUTPUTS.XO)?.['no-var']?.text).toMatch(/^index\.js ✖ 1:1 Unexpected var/);
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
    expect(brokenRules(lines.slice(1).join('\n'))).not.toBeNull();
    expect(brokenRules(lines.join('\n'))).toBeNull();
  });

  test('names of rules are untrusted', () => {
    const rules = brokenRules('  1:1  error  Text  __proto__\n  1:2  error  Text  constructor\n');
    expect(Object.keys(rules ?? {})).toEqual(['__proto__', 'constructor']);
  });
});

const LINT = 'lint: eslint .';
const stylish = (...rules: string[]) => rules.map((rule) => `  1:1  error  Text  ${rule}`).join('\n');

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

  test('passes for a candidate that breaks the same rules, however often, or fewer', () => {
    for (const output of [stylish('semi', 'semi', 'eqeqeq'), stylish('semi')]) {
      const run = comparedByRules(base, runOf('failed', output));
      expect(run.tests[LINT]).toBe('passed');
      expect(run.messages).toEqual({});
    }
    expect(comparedByRules(base, runOf('passed')).tests[LINT]).toBe('passed');
  });

  test('fails for one that breaks another rule, which the message names', () => {
    const run = comparedByRules(base, runOf('failed', stylish('semi', 'no-undef')));
    expect(run.tests[LINT]).toBe('failed');
    expect(run.messages?.[LINT]).toBe('no-undef: 1:1 error Text no-undef');
  });

  test('fails for one whose output names no rule: it may have crashed', () => {
    const run = comparedByRules(base, runOf('failed', 'Oops! Something went wrong!'));
    expect(run.tests[LINT]).toBe('failed');
    expect(run.messages?.[LINT]).toBe('Oops! Something went wrong!');
  });

  test('warnings count only where nothing fails the command but them', () => {
    const warning = '  1:1  warning  Text  no-console';
    const [both, alone] = [`${stylish('semi')}\n${warning}`, warning];
    expect(comparedByRules(base, runOf('failed', both)).tests[LINT]).toBe('passed');
    expect(comparedByRules(base, runOf('failed', alone)).tests[LINT]).toBe('failed');
    const { run: warned } = withKnownRules(runOf('failed', both));
    expect(comparedByRules(warned, runOf('failed', alone)).tests[LINT]).toBe('passed');
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
