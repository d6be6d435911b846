import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareTypeChecks,
  leftOutTypeCheck,
  type TypeCheckRun,
  type TypeFinding,
  typeFindings,
} from '../../../src/core/evidence/index.ts';

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

  test('no finding that came with a renamed file', () => {
    const base = [run([at('old.ts', 3, 'TS1: x')])];
    const renamed = [run([at('new.ts', 3, 'TS1: x')])];
    expect(compareTypeChecks(base, renamed, new Set(['old.ts'])).gate.passed).toBe(true);
    expect(compareTypeChecks(base, renamed).gate.passed).toBe(false);
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
});
