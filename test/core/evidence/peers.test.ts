import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AuthorResults,
  authorTests,
  introducedBy,
  missingNamesIn,
  type PeerTestResult,
  peerTestsOn,
  resultsOn,
  type TestRun,
  unlessRewritten,
} from '../../../src/core/evidence/index.ts';
import { patchBetween } from '../git.ts';

const run = (tests: TestRun['tests'], fields: Partial<TestRun> = {}): TestRun => ({
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: 5,
  tests,
  tail: '',
  ...fields,
});
const ran = (tests: TestRun['tests'], fields: Partial<TestRun> = {}) =>
  ({ kind: 'ran', run: run(tests, fields) }) as const;
const UNFIT = { kind: 'unfit' } as const;

describe('the kind of a test, determined by execution', () => {
  const before = run({ old: 'passed', red: 'failed' });

  test('is a requirement if a new test fails on the base, else a guard', () => {
    const own = run({ old: 'passed', red: 'passed', asks: 'passed', keeps: 'passed', own: 'failed' });
    const onBase = ran({ old: 'passed', red: 'failed', asks: 'failed', keeps: 'passed' });
    expect(authorTests({ own, onBase, before })).toEqual({ proven: ['asks'], guards: ['keeps'] });
  });

  test('is a requirement if an old test was extended, and nothing if it is unchanged', () => {
    const own = run({ old: 'passed', red: 'passed' });
    expect(authorTests({ own, onBase: ran({ old: 'failed' }), before })).toEqual({
      proven: ['old'],
      guards: [],
    });
    expect(authorTests({ own, onBase: ran({ old: 'passed' }), before }).proven).toEqual([]);
  });

  test('is that of one test if its name holds a measured value', () => {
    const own = run({ 'empty ms=0.25': 'passed', 'long (12 ms)': 'passed' });
    const onBase = ran({ 'empty ms=0.375': 'failed', 'long (14 ms)': 'passed' });
    const tests = authorTests({ own, onBase, before: run({}) });
    expect(tests).toEqual({ proven: ['empty ms=0.25'], guards: ['long (12 ms)'] });
  });

  test('is a requirement if the file does not fit the base at all', () => {
    expect(authorTests({ own: run({ x: 'passed' }), onBase: UNFIT, before: null })).toEqual({
      proven: ['x'],
      guards: [],
    });
  });

  test('is unknown if the test is flaky on the base', () => {
    const flaky = authorTests({ own: run({ x: 'passed' }), onBase: ran({}), before }, ['x']);
    expect(flaky.proven).toEqual([]);
  });

  describe('without a report', () => {
    const good = run({}, { source: 'exit-code' });
    const bad = run({}, { source: 'exit-code', exitCode: 1 });
    const fails = { kind: 'ran', run: bad } as const;
    const NOTHING = { proven: [], guards: [] };

    test('is one requirement if the command fails only on the base with the new tests', () => {
      const one = { proven: ['exit code'], guards: [] };
      expect(authorTests({ own: good, onBase: fails, before: good })).toEqual(one);
    });

    test('is nothing if the command was stopped on the base, or the tests cannot be put there', () => {
      const hangs = run({}, { source: 'exit-code', exitCode: null, stopped: 'wall' });
      expect(authorTests({ own: good, onBase: { kind: 'ran', run: hangs }, before: good })).toEqual(NOTHING);
      expect(authorTests({ own: good, onBase: UNFIT, before: good })).toEqual(NOTHING);
    });

    test('is nothing if the command passes there, too, fails without them, or is flaky', () => {
      const passes = { kind: 'ran', run: good } as const;
      expect(authorTests({ own: good, onBase: passes, before: good })).toEqual(NOTHING);
      expect(authorTests({ own: good, onBase: fails, before: bad })).toEqual(NOTHING);
      expect(authorTests({ own: good, onBase: fails, before: null })).toEqual(NOTHING);
      expect(authorTests({ own: good, onBase: fails, before: good }, ['exit code'])).toEqual(NOTHING);
    });

    test('is nothing if the command fails on its own code, or the base has a report', () => {
      expect(authorTests({ own: bad, onBase: fails, before: good })).toEqual(NOTHING);
      expect(authorTests({ own: good, onBase: fails, before })).toEqual(NOTHING);
    });
  });

  test('is determined also for names of object properties', () => {
    const own = run(Object.fromEntries([['constructor', 'passed' as const]]));
    expect(authorTests({ own, onBase: ran({}), before: run({}) })).toEqual({
      proven: ['constructor'],
      guards: [],
    });
  });
});

describe("the result of a test on another candidate's code", () => {
  const mine = (name: string) => name === 'parseRange';

  test('is a failure for a wrong answer, but not for a name that only its author has', () => {
    const said = {
      asks: 'AssertionError: expected 1, got 2',
      uses: 'TypeError: lib.parseRange is not a function\n at /repo/test/a.js:3',
      other: 'TypeError: lib.parse is not a function',
    };
    const tests = { good: 'passed', asks: 'failed', uses: 'failed', other: 'failed' } as const;
    expect(
      resultsOn(['good', 'asks', 'uses', 'other', 'gone'], ran(tests, { messages: said }), mine),
    ).toEqual(['p', 'f', 'n', 'f', 'f']);
  });

  test('is nothing if the file cannot be loaded for such a name, and a failure for another reason', () => {
    expect(resultsOn(['a', 'b'], ran({ b: 'passed' }, { missingNames: ['parseRange'] }), mine)).toEqual([
      'n',
      'p',
    ]);
    expect(resultsOn(['a'], ran({}, { missingNames: ['left-pad'] }), mine)).toEqual(['f']);
    expect(resultsOn(['a'], ran({}), mine)).toEqual(['f']);
  });

  test('is that of the command if there is no report', () => {
    const ended = (exitCode: number, names: readonly string[] = []) =>
      ran({}, { source: 'exit-code', exitCode, missingNames: names });
    expect(resultsOn(['exit code'], ended(0), mine)).toEqual(['p']);
    expect(resultsOn(['exit code'], ended(1), mine)).toEqual(['f']);
    expect(resultsOn(['exit code'], ended(1, ['parseRange']), mine)).toEqual(['n']);
  });

  test('is nothing if the test does not apply or compile', () => {
    expect(resultsOn(['a', 'b'], UNFIT, mine)).toEqual(['n', 'n']);
  });
});

describe('peer tests', () => {
  const author = (on: Record<string, string>, proven = ['x', 'y', 'z']): AuthorResults => ({
    author: 'A',
    tests: { proven, guards: ['g'] },
    onPeers: Object.entries(on).map(([peer, marks]) => {
      const [here = '', guards = 'p'] = marks.split('|');
      return { peer, proven: [...here] as PeerTestResult[], guards: [...guards] as PeerTestResult[] };
    }),
  });

  test('count requirements, and guards separately', () => {
    expect(peerTestsOn('B', [author({ B: 'pfp|f', C: 'ppp' })])).toEqual([
      {
        author: 'A',
        passed: 2,
        total: 3,
        failing: ['y'],
        results: 'pfp',
        guards: { passed: 0, total: 1, failing: ['g'] },
      },
    ]);
  });

  test('do not penalise a missing private name', () => {
    expect(peerTestsOn('B', [author({ B: 'npp', C: 'npp' })])).toMatchObject([
      { passed: 2, total: 2, results: 'npp' },
    ]);
  });

  test('penalise a missing name that a third candidate has', () => {
    const told = [author({ B: 'nfp', C: 'pfp' })];
    expect(peerTestsOn('B', told)).toMatchObject([
      { passed: 1, total: 3, failing: ['x', 'y'], results: 'ffp' },
    ]);
    expect(peerTestsOn('C', told)).toMatchObject([{ passed: 2, total: 3, failing: ['y'] }]);
  });

  test('nobody is judged by its own tests, nor by an author without any', () => {
    expect(peerTestsOn('A', [author({ B: 'ppp' })])).toEqual([]);
    const none = {
      author: 'A',
      tests: { proven: [], guards: [] },
      onPeers: [{ peer: 'B', proven: [], guards: [] }],
    };
    expect(peerTestsOn('B', [none])).toEqual([]);
  });

  test('are all counted, and some named', () => {
    const many = Array.from({ length: 400 }, (_, i) => `t${i}`);
    const [result] = peerTestsOn('B', [author({ B: 'f'.repeat(400) }, many)]);
    expect([result?.total, result?.failing.length, result?.results?.length]).toEqual([400, 50, 300]);
  });

  test('never lower a candidate that passes one more', () => {
    const marks = fc.array(fc.constantFrom('p', 'f', 'n'), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(marks, marks, fc.nat(2), (here, other, at) => {
        const share = (row: readonly string[]) => {
          const [one] = peerTestsOn('B', [author({ B: row.join(''), C: other.join('') })]);
          return one && one.total > 0 ? one.passed / one.total : 0.5;
        };
        const better = here.with(at, 'p');
        if (here[at] === 'f') expect(share(better)).toBeGreaterThanOrEqual(share(here));
        expect(share(here)).toBeGreaterThanOrEqual(0);
        expect(share(here)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('missing names', () => {
  test.each([
    ["SyntaxError: The requested module '../x.mjs' does not provide an export named 'nothing'", 'nothing'],
    ["SyntaxError: Named export 'nothing' not found. The requested module", 'nothing'],
    ["Error: Cannot find module '../lib/range.js'", 'range'],
    ['Error: Failed to resolve import "../src/range" from "test/a.test.ts"', 'range'],
    ['✘ [ERROR] No matching export in "src/x.ts" for import "nothing"', 'nothing'],
    ['TypeError: (0 , x_1.nothing) is not a function', 'nothing'],
    ['TypeError: require(...).nothing is not a function', 'nothing'],
    ['TypeError: Range is not a constructor', 'Range'],
    ['ReferenceError [Error]: nothing is not defined', 'nothing'],
    ["error TS2305: Module '\"./x\"' has no exported member 'nothing'.", 'nothing'],
    ["error TS2339: Property 'nothing' does not exist on type 'X'.", 'nothing'],
    ["error TS2304: Cannot find name 'nothing'.", 'nothing'],
    ["ImportError: cannot import name 'nothing' from 'pkg.mod' (/repo/pkg/mod.py)", 'nothing'],
    ["ModuleNotFoundError: No module named 'pkg.nothing'", 'nothing'],
    ["AttributeError: module 'pkg' has no attribute 'nothing'", 'nothing'],
    ["NameError: name 'nothing' is not defined", 'nothing'],
    ["TypeError: f() got an unexpected keyword argument 'nothing'", 'nothing'],
    ['./a_test.go:5:2: undefined: pkg.Nothing', 'Nothing'],
    ['x.Nothing undefined (type X has no field or method Nothing)', 'Nothing'],
    ['error[E0425]: cannot find function `nothing` in this scope', 'nothing'],
    ['error[E0432]: unresolved import `sample::nothing`', 'nothing'],
    ['error[E0599]: no method named `nothing` found for struct `X`', 'nothing'],
    ['  symbol:   method nothing(int)', 'nothing'],
  ])('%s', (sentence, name) => {
    expect(missingNamesIn(`some line\n${sentence}\nanother`)).toContain(name);
  });

  test('are not found in a wrong answer', () => {
    expect(
      missingNamesIn('AssertionError [ERR_ASSERTION]: 1 == 2\n    at Context.<anonymous> (test/a.js:2:58)'),
    ).toEqual([]);
  });

  test('are few, whatever is printed', () => {
    const flood = Array.from({ length: 10_000 }, (_, i) => `ReferenceError: n${i} is not defined`).join('\n');
    expect(missingNamesIn(flood).length).toBeLessThanOrEqual(30);
    fc.assert(fc.property(fc.string({ maxLength: 500 }), (text) => missingNamesIn(text).length <= 30));
  });
});

describe('test files that are written while they run on the code of a peer', () => {
  const onPeer = (rewrites?: readonly string[] | null) =>
    ran({ x: 'passed' }, rewrites === undefined ? {} : { rewrites });
  const marks = (...given: Parameters<typeof unlessRewritten>) =>
    resultsOn(['x'], unlessRewritten(...given), () => true);

  test("fail there, unless their own author's code lets them do the same", () => {
    expect(marks(onPeer(['test/x.js']), run({}, { rewrites: [] }))).toEqual(['f']);
    expect(marks(onPeer(null), run({}, { rewrites: [] }))).toEqual(['f']);
    expect(marks(onPeer(['test/x.js']), run({}, { rewrites: ['test/x.js'] }))).toEqual(['p']);
    expect(marks(onPeer([]), run({}, { rewrites: [] }))).toEqual(['p']);
  });

  test('count as usual if nobody looked', () => {
    expect(marks(onPeer(['test/x.js']), run({}))).toEqual(['p']);
    expect(marks(onPeer(), run({}, { rewrites: [] }))).toEqual(['p']);
    expect(marks(UNFIT, run({}, { rewrites: [] }))).toEqual(['n']);
  });
});

describe('names that a patch adds', () => {
  const patch = patchBetween(
    {
      'src/a.js': 'exports.old = 1;\nexports.sum = (list) => list.length;\n',
      'src/b.ts': 'let kept = 1;\nexport class Box {\n}\n',
      'src/c.py': 'def first():\n    pass\n',
      'src/d.go': 'package d\n',
    },
    {
      'src/a.js': [
        'exports.old = 1;',
        'exports.viaExports = (list) => list.map((x) => x);',
        'function helper() {}',
        'function unused() {}',
        'exports.sum = (list) => {',
        '  let result = 0;',
        '  for (const one of list) result += one;',
        '  return result;',
        '};',
        'module.exports.table = { shorthand, named: 1 };',
        '',
      ].join('\n'),
      'src/b.ts':
        'let kept = 2;\nexport class Box {\n  size(): number {\n    return 1;\n  }\n  label?: string;\n}\n',
      'src/c.py': 'def first(limit=None):\n    total = 1\n    return total\n\nLIMIT = 3\n',
      'src/d.go': 'package d\n\nfunc (b *Box) Grow() {}\n\ntype Box struct {\n\tWidth int\n}\n',
      'src/range.js': 'module.exports = 1;\n',
      'test/a.test.js': [
        "const { helper } = require('../src/range');",
        'const onlyInTest = 1;',
        'const result = sum([1], one, list, let_);',
        'viaExports(shorthand, named, size, label, limit, LIMIT, Grow, Width, old, map, total);',
        '',
      ].join('\n'),
    },
  );
  const introduces = introducedBy(patch);

  test.each([
    ['helper', true],
    ['viaExports', true],
    ['range', true],
    ['shorthand', true],
    ['named', true],
    ['size', true],
    ['label', true],
    ['limit', true],
    ['LIMIT', true],
    ['Grow', true],
    ['Width', true],
    ['old', false],
    ['map', false],
    ['onlyInTest', false],
    ['nowhere', false],
    ['a(b', false],
    ['', false],
  ])('%s: %s', (name, expected) => {
    expect(introduces(name)).toBe(expected);
  });

  test.each([
    ['a local variable, which a crash of another candidate may name', 'result'],
    ['a loop variable', 'one'],
    ['a keyword', 'let'],
    ['a parameter that the base has as well', 'list'],
    ['a function that the base has as well', 'sum'],
    ['a function that no test mentions', 'unused'],
  ])('%s is none', (_, name) => {
    expect(introduces(name)).toBe(false);
  });
});
