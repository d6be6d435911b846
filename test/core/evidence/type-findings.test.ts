import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkerQuestions,
  compareTypeChecks,
  leftOutTypeCheck,
  questionsOf,
  type TypeCheckRun,
  type TypeFinding,
  typeFindings,
} from '../../../src/core/evidence/index.ts';
import { patchBetween } from '../git.ts';

describe('findings are read from the output of', () => {
  test('tsc, plain and in colour', () => {
    const plain = `src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.
  The expected type comes from property 'x'.
error TS5023: Unknown compiler option 'foo'.
`;
    expect(typeFindings(plain)).toEqual([
      { file: 'src/a.ts', line: 3, message: "TS2322: Type 'string' is not assignable to type 'number'." },
      { file: '', message: "TS5023: Unknown compiler option 'foo'." },
    ]);
    const esc = '\u001b[';
    const pretty = `${esc}96ma.ts${esc}0m:${esc}93m1${esc}0m:${esc}93m7${esc}0m - ${esc}91merror${esc}0m${esc}90m TS2322: ${esc}0mType 'string' is wrong.\n`;
    expect(typeFindings(pretty)).toEqual([
      { file: 'a.ts', line: 1, message: "TS2322: Type 'string' is wrong." },
    ]);
  });

  test('mypy, errors only, and not if it checked only a part', () => {
    const output = `app/a.py:12: error: Incompatible return value type (got "str", expected "int")  [return-value]
app/a.py:12: note: See https://mypy.rtfd.io
app/b.py:3:5: error: Name "x" already defined on line 1  [no-redef]
Found 2 errors in 2 files (checked 9 source files)
`;
    expect(typeFindings(output)?.map(({ file, line }) => `${file}:${line}`)).toEqual([
      'app/a.py:12',
      'app/b.py:3',
    ]);
    expect(
      typeFindings('setup.py: error: Duplicate module\nFound 1 error (errors prevented further checking)\n'),
    ).toBeNull();
  });

  test('pyright', () => {
    const output = `/repo/app/a.py
  /repo/app/a.py:2:5 - error: "x" is not defined (reportUndefinedVariable)
  /repo/app/a.py:3:5 - warning: Import "y" is not accessed
1 error, 1 warning, 0 informations
`;
    expect(typeFindings(output)).toEqual([
      { file: '/repo/app/a.py', line: 2, message: '"x" is not defined (reportUndefinedVariable)' },
    ]);
  });

  test('go vet', () => {
    const output = `# example.com/g
./a.go:6:2: fmt.Printf format %d has arg "x" of wrong type string
vet: ./b.go:7:14: cannot use "s" (untyped string constant) as int value in variable declaration
`;
    expect(typeFindings(output)?.map(({ file, line }) => `${file}:${line}`)).toEqual(['a.go:6', 'b.go:7']);
  });

  test('cargo check, long and short', () => {
    const output = `    Checking r v0.1.0 (/repo)
warning: unused variable: \`y\`
 --> src/main.rs:3:9
  |
error[E0308]: mismatched types
 --> src/main.rs:2:18
  |
2 |     let x: i32 = "a";
src/lib.rs:4:5: error[E0425]: cannot find function \`foo\` in this scope
error: could not compile \`r\` (bin "r") due to 2 previous errors
`;
    expect(typeFindings(output)).toEqual([
      { file: 'src/main.rs', line: 2, message: 'error[E0308]: mismatched types' },
      { file: 'src/lib.rs', line: 4, message: '[E0425]: cannot find function `foo` in this scope' },
    ]);
  });

  test('a checker in a folder, with files named from the top', () => {
    const output =
      'src/a.ts(3,7): error TS1: x\n../common/b.ts(1,1): error TS1: x\n/srv/c.ts(1,1): error TS1: x\n';
    const found = typeFindings(output, 'packages/web') ?? [];
    expect(found.map(({ file }) => file)).toEqual([
      'packages/web/src/a.ts',
      'packages/common/b.ts',
      '/srv/c.ts',
    ]);
  });

  test('any text, without an error and in little time', () => {
    fc.assert(fc.property(fc.string({ maxLength: 5_000 }), (text) => Array.isArray(typeFindings(text))));
    expect(typeFindings(`${'a:'.repeat(200_000)}\n`)).toEqual([]);
  });
});

const run = (findings: readonly TypeFinding[], more: Partial<TypeCheckRun> = {}): TypeCheckRun => ({
  name: 'tsc --noEmit',
  exitCode: findings.length > 0 ? 2 : 0,
  stopped: null,
  ms: 10,
  findings,
  ...more,
});
const at = (file: string, line: number, message: string): TypeFinding => ({ file, line, message });

describe('a candidate is held to', () => {
  test('new findings: lines that moved are none, a second one of the same kind is', () => {
    const base = [run([at('a.ts', 3, 'TS1: x'), at('b.ts', 1, 'already defined on line 7')])];
    const moved = [run([at('a.ts', 30, 'TS1: x'), at('b.ts', 2, 'already defined on line 8')])];
    expect(compareTypeChecks(base, moved)).toMatchObject({
      gate: { gate: 'types', passed: true },
      result: { addedCount: 0, onBase: 2, gone: 0 },
    });
    const twice = [run([at('a.ts', 3, 'TS1: x'), at('a.ts', 9, 'TS1: x')])];
    expect(compareTypeChecks(base, twice)).toMatchObject({
      gate: {
        passed: false,
        because: 'The type check has 1 finding that the base commit lacks: a.ts:9: TS1: x.',
      },
      result: { addedCount: 1, gone: 1 },
    });
  });

  test('no finding that came with a renamed file, unlike one that only resembles what a deleted file had', () => {
    const text = 'export const a = 1;\nexport const b = 2;\nexport const c: number = "x";\n';
    const base = [run([at('old/a.ts', 3, 'TS1: x')])];
    const own = [run([at('new/b.ts', 4, 'TS1: x')])];
    const filesOf = (added: string) => patchBetween({ 'old/a.ts': text }, { 'new/b.ts': added }).files;
    expect(compareTypeChecks(base, own, filesOf(`// Moved.\n${text}`))).toMatchObject({
      gate: { passed: true },
      result: { addedCount: 0, gone: 0 },
    });
    expect(
      compareTypeChecks(base, own, filesOf('const c: number = "x";\n// other\nexport {};\nf();\n')),
    ).toMatchObject({ gate: { passed: false }, result: { addedCount: 1, gone: 1 } });
    // Another file than the renamed one.
    const elsewhere = [run([at('other.ts', 4, 'TS1: x')])];
    expect(compareTypeChecks(base, elsewhere, filesOf(text)).gate.passed).toBe(false);
  });

  test.each([
    [
      'go.go',
      'struct field A repeats json tag "a" also at a.go:4',
      'struct field A repeats json tag "a" also at a.go:9',
    ],
    ['a.go', 'f redeclared in this block: ./b.go:3:6', 'f redeclared in this block: ./b.go:8:6'],
    [
      'a.ts',
      'TS6200: Definitions conflict with those in b.ts(3,7).',
      'TS6200: Definitions conflict with those in b.ts(30,7).',
    ],
    [
      'a.ts',
      "TS2740: Type '{}' is missing the following properties from type 'User': id, name, mail, age, and 4 more.",
      "TS2740: Type '{}' is missing the following properties from type 'User': id, name, mail, age, and 5 more.",
    ],
    [
      'a.ts',
      'TS2769: No overload matches this call. Overload 1 of 2',
      'TS2769: No overload matches this call. Overload 1 of 3',
    ],
  ])('a message of %s may name another place or count', (file, before, after) => {
    expect(compareTypeChecks([run([at(file, 1, before)])], [run([at(file, 2, after)])]).gate.passed).toBe(
      true,
    );
    const other = after.replace(/\w+/, 'Other');
    expect(compareTypeChecks([run([at(file, 1, before)])], [run([at(file, 2, other)])]).gate.passed).toBe(
      false,
    );
  });

  describe('what is not installed where the check runs', () => {
    const pytest = 'Cannot find implementation or library stub for module named "pytest"  [import-not-found]';
    const jest = (name: string) =>
      `TS2582: Cannot find name '${name}'. Do you need to install type definitions for a test runner?`;
    const files = patchBetween(
      { 'a.ts': '1' },
      { 'a.ts': '2', 'test/new.test.ts': '', 'tests/test_new.py': '' },
    ).files;
    const judged = (base: readonly TypeFinding[], own: readonly TypeFinding[]) =>
      compareTypeChecks([run(base)], [run([...base, ...own])], files).gate.passed;

    test('is not held against new tests', () => {
      const base = [at('tests/test_a.py', 1, pytest), at('test/a.test.ts', 1, jest('it'))];
      expect(
        judged(base, [
          at('tests/test_new.py', 1, pytest),
          // Another call in an old file, and another name in a new one.
          at('test/a.test.ts', 9, jest('it')),
          at('test/new.test.ts', 2, jest('describe')),
        ]),
      ).toBe(true);
    });

    test('if it shows on the base', () => {
      expect(judged([], [at('tests/test_new.py', 1, pytest)])).toBe(false);
      expect(judged([at('tests/test_a.py', 1, pytest)], [at('test/new.test.ts', 2, jest('it'))])).toBe(false);
    });

    test('unlike other packages in old files, and missing files of the repository', () => {
      const missing = (name: string) =>
        `TS2307: Cannot find module '${name}' or its corresponding type declarations.`;
      const base = [at('test/a.test.ts', 1, missing('vitest'))];
      expect(judged(base, [at('test/new.test.ts', 1, missing('vitest'))])).toBe(true);
      expect(judged(base, [at('a.ts', 1, missing('left-pad'))])).toBe(false);
      expect(judged(base, [at('test/new.test.ts', 1, missing('../src/nope.js'))])).toBe(false);
      expect(judged(base, [at('test/new.test.ts', 1, "TS2304: Cannot find name 'wdith'.")])).toBe(false);
    });
  });

  test('a check that runs, if it runs on the base', () => {
    const crashed = [run([], { exitCode: 1, errors: ['Cannot read tsconfig.json'] })];
    expect(compareTypeChecks([run([])], crashed).gate).toMatchObject({
      passed: false,
      because:
        'The type check tsc --noEmit ends with exit code 1 without findings that can be compared (Cannot read tsconfig.json); it runs on the base commit.',
    });
    expect(leftOutTypeCheck(run([], { exitCode: 127, errors: ['sh: tsc: not found'] }))).toBe(
      'The type check `tsc --noEmit` ends with exit code 127 without findings that can be compared (sh: tsc: not found) on the base commit, so it was left out.',
    );
    expect(leftOutTypeCheck(run([at('a.ts', 1, 'TS1: x')]))).toBeNull();
  });

  test('the same in any order of findings', () => {
    const finding = fc.record({
      file: fc.constantFrom('a.ts', 'b.ts'),
      line: fc.nat(5),
      message: fc.constantFrom('TS1', 'TS2'),
    });
    fc.assert(
      fc.property(fc.array(finding), fc.array(finding), (base, own) => {
        const { result } = compareTypeChecks([run(base)], [run(own)]);
        const back = compareTypeChecks([run(base.toReversed())], [run(own.toReversed())]).result;
        expect(back.addedCount).toBe(result.addedCount);
        expect(own.length - result.addedCount + result.gone).toBe(base.length);
      }),
    );
  });

  test('nothing by a check that nobody asked for: its findings are shown to a person', () => {
    const { gate, result } = compareTypeChecks(
      // Kept from a run of the base that did not know who asks.
      [run([])],
      [run([at('a.ts', 3, 'TS1: x')], { advisory: true })],
    );
    expect(gate).toMatchObject({ passed: true, because: expect.stringContaining('It does not eliminate') });
    expect(result).toMatchObject({ addedCount: 1 });
    expect(questionsOf({ gates: [gate] })).toMatchObject([
      { kind: 'type-error', path: 'a.ts', line: 3, what: 'the type check finds TS1: x' },
    ]);
    const broken = compareTypeChecks([run([])], [run([], { exitCode: 1, advisory: true })]);
    expect(broken).toMatchObject({ gate: { passed: true }, result: { failed: true } });
    const asked = compareTypeChecks([run([], { advisory: true })], [run([at('a.ts', 3, 'TS1: It is x.')])]);
    expect(asked.gate).toMatchObject({
      passed: false,
      because: expect.stringMatching(/a\.ts:3: TS1: It is x\.$/),
    });
  });
});

test('changes of what the type checker checks are questions with their lines', () => {
  const before = {
    'tsconfig.json': '{ "compilerOptions": { "strict": true } }\n',
    'setup.cfg': '[metadata]\nname = a\n[mypy]\nstrict = true\n',
    'pyproject.toml': '[project]\nname = "a"\n[tool.mypy]\nstrict = true\n',
    'src/a.js': 'exports.a = 1;\n',
    'app.py': 'a = 1\n',
    'stubs/known.pyi': 'a: int\n',
  };
  const asked = (after: Readonly<Record<string, string>>) =>
    checkerQuestions(patchBetween(before, { ...before, ...after }).files, before, Object.keys(before));
  const paths = (after: Readonly<Record<string, string>>) => asked(after).map(({ path }) => path);
  expect(asked({ 'tsconfig.json': '{ "compilerOptions": { "noCheck": true } }\n' })).toMatchObject([
    { path: 'tsconfig.json', severity: 'question', hunk: expect.stringContaining('noCheck') },
  ]);
  expect(
    paths({ 'setup.cfg': before['setup.cfg'].replace('strict = true', 'ignore_errors = true') }),
  ).toEqual(['setup.cfg']);
  expect(
    paths({ 'pyproject.toml': `${before['pyproject.toml']}[[tool.mypy.overrides]]\nmodule = "a"\n` }),
  ).toEqual(['pyproject.toml']);
  expect(paths({ 'mypy.ini': '[mypy]\n' })).toEqual(['mypy.ini']);
  expect(paths({ 'app.pyi': 'a: str\n' })).toEqual(['app.pyi']);
  expect(paths({ 'src/a.d.ts': 'export const a: any;\n' })).toEqual(['src/a.d.ts']);
  // Honest changes of the same files, and a stub among others.
  expect(paths({ 'setup.cfg': before['setup.cfg'].replace('name = a', 'name = b') })).toEqual([]);
  expect(paths({ 'stubs/new.pyi': 'b: int\n', 'packages/new/tsconfig.json': '{}\n' })).toEqual([]);
  const { gate, result } = compareTypeChecks(
    [run([at('a.ts', 1, 'TS1: x')])],
    [run([])],
    [],
    asked({ 'tsconfig.json': '{ "compilerOptions": { "noCheck": true } }\n' }),
  );
  expect(gate).toMatchObject({
    passed: true,
    because: expect.stringContaining('The patch changes what it checks: tsconfig.json.'),
    findings: [{ kind: 'checker-configured' }],
  });
  expect(result.configured).toEqual(['tsconfig.json']);
});
