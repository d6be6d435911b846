import { describe, expect, test } from 'vitest';
import { filesToCompare, TAMPERING_KINDS, type TamperingOptions } from '../../../src/core/evidence/index.ts';
import { patchBetween, type Tree } from '../git.ts';
import { tamperingIn } from '../syntax.ts';

const SUITE = `import { test, expect } from 'vitest';
test('adds', async () => {
  expect(add(1, 2)).toBe(3);
  expect(add(0, 0)).toBe(0);
});
test('subtracts', async () => {
  expect(sub(3, 2)).toBe(1);
});
`;

/** `path:line what`, for each finding. */
const found = async (
  before: Tree,
  after: Tree,
  baseTexts: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> =>
  (await tamperingIn(patchBetween(before, after), baseTexts)).map(
    ({ path, line, what }) => `${path}${line === undefined ? '' : `:${line}`} ${what}`,
  );
const suite = (change: (text: string) => string): Promise<readonly string[]> =>
  found({ 'test/a.test.ts': SUITE }, { 'test/a.test.ts': change(SUITE) });
/** What adding these lines to a production file gives. */
const adding = (path: string, ...lines: readonly string[]): Promise<readonly string[]> =>
  found({ [path]: 'one\n' }, { [path]: `one\n${lines.join('\n')}\n` });

describe('tests of the base', () => {
  test('each changed expectation of a file is found, not only the first', async () => {
    const changed = SUITE.replace('toBe(3)', 'toBe(4)').replace('toBe(1)', 'toBe(2)');
    const findings = await tamperingIn(
      patchBetween({ 'test/a.test.ts': SUITE }, { 'test/a.test.ts': changed }),
      {},
    );
    expect(findings).toMatchObject([
      { line: 3, tests: ['adds'], change: 'expect(add(1,2)).toBe(3)\nexpect(add(1,2)).toBe(4)' },
      { line: 7, tests: ['subtracts'], change: 'expect(sub(3,2)).toBe(1)\nexpect(sub(3,2)).toBe(2)' },
    ]);
  });

  test.each([
    ["const val = 'sid; HttpOnly';", "const val = 'sid';", 'expect(cookie()).toBe(val);'],
    [
      "const val = [\n    'sid',\n    'HttpOnly',\n  ];",
      "const val = [\n    'sid',\n    'sid',\n  ];",
      'expect(cookie()).toEqual(val);',
    ],
    [
      "const part = 'HttpOnly';\n  const val = 'sid; ' + part;",
      "const part = '';\n  const val = 'sid; ' + part;",
      'expect(cookie()).toBe(val);',
    ],
  ])('a changed value that reaches an assertion by a variable is a question: %s', async (from, to, check) => {
    const text = (value: string) => `test('cookie', () => {\n  ${value}\n  ${check}\n});\n`;
    const [before, after] = [{ 'test/a.test.ts': text(from) }, { 'test/a.test.ts': text(to) }];
    expect(await tamperingIn(patchBetween(before, after), before)).toMatchObject([
      {
        kind: 'expectation-changed',
        what: 'a value that an assertion uses was changed',
        severity: 'question',
      },
    ]);
  });

  test('a matcher that expects less of the same value is not called another one', async () => {
    const text = (check: string) =>
      `#[test]\nfn empty() {\n    let value = parse("-w-10");\n    ${check}\n}\n`;
    const before = { 'tests/tests.rs': text('assert_eq!(value.unwrap_err().to_string(), "no value");') };
    const after = { 'tests/tests.rs': text('assert_eq!(value.unwrap(), None);') };
    expect(await found(before, after, before)).toEqual([
      'tests/tests.rs:4 an assertion was weakened (the value that `assert_eq` expects says less)',
    ]);
  });

  test('a changed value that only the code gets stays a note', async () => {
    const text = (port: number) =>
      `test('starts', () => {\n  const port = ${port};\n  start(port);\n  expect(state()).toBe('up');\n});\n`;
    const [before, after] = [{ 'test/a.test.ts': text(80) }, { 'test/a.test.ts': text(8080) }];
    expect(await tamperingIn(patchBetween(before, after), before)).toMatchObject([{ severity: 'note' }]);
  });

  test.each([
    ['test.skipIf(1 < 2)', 'gate'],
    ["test.skipIf('a')", 'gate'],
    ['test.runIf(2 + 2 === 5)', 'gate'],
    ['if (1 > 2) test', 'gate'],
    ['if (!(3 > 2 || false)) test', 'gate'],
    ["test.skipIf(process.platform === 'win32')", 'question'],
    ["if (process.platform !== 'win32') test", 'question'],
  ])('a test behind a constant condition never runs: %s', async (head, severity) => {
    const after = SUITE.replace("test('adds'", `${head}('adds'`);
    const findings = await tamperingIn(
      patchBetween({ 'test/a.test.ts': SUITE }, { 'test/a.test.ts': after }),
      { 'test/a.test.ts': SUITE },
    );
    expect(findings).toMatchObject([{ kind: 'test-skipped', severity }]);
  });

  const TIMER = 'setTimeout(() => {\n    expect(add(1, 2)).toBe(3);';
  test.each([
    ['async () => {', `${TIMER}\n  }, 0);`, 'gate'],
    ['(done) => {', `${TIMER}\n  }, 0);\n  done();`, 'gate'],
    ['() => {', `${TIMER}\n  }, 9); // no await here`, 'gate'],
    ['() => {', `log('t.plan(2)');\n  ${TIMER}\n  }, 9);\n  log('await');`, 'gate'],
    ['(done) => {', `${TIMER}\n    log('done()');\n  }, 0);\n  done();`, 'gate'],
    ['(done) => {', `${TIMER}\n    done();\n  }, 0);`, 'question'],
    ['async () => {', `await new Promise((end) => ${TIMER}\n    end();\n  }, 9));`, 'question'],
    ['() => {', `${TIMER}\n  }, 9);\n  vi.runAllTimers();`, 'question'],
    ['() => {', `expect.assertions(2);\n  ${TIMER}\n  }, 9);`, 'question'],
  ])(
    'an assertion that runs later counts if the test may wait for it: %s %s',
    async (head, now, severity) => {
      const after = SUITE.replace('async () => {', head).replace('expect(add(1, 2)).toBe(3);', now);
      const base = { 'test/a.test.ts': SUITE };
      const findings = await tamperingIn(patchBetween(base, { 'test/a.test.ts': after }), base);
      expect(findings).toMatchObject([{ kind: 'assertion-neutralised', severity }]);
    },
  );

  test('assertions that are only added are fine', async () => {
    expect(
      await suite((text) => text.replace('toBe(0);', "toBe(0);\n  expect(add('1', 1)).toBe(2);")),
    ).toEqual([]);
    expect(await suite((text) => `${text}test('more', async () => {\n  expect(1).toBe(1);\n});\n`)).toEqual(
      [],
    );
  });

  test('a removed assertion is named with its line and what stands around it', async () => {
    const before = { 'test/a.test.ts': SUITE };
    const after = { 'test/a.test.ts': SUITE.replace('  expect(add(0, 0)).toBe(0);\n', '') };
    expect(await tamperingIn(patchBetween(before, after), {})).toEqual([
      {
        kind: 'assertion-removed',
        severity: 'question',
        tests: ['adds'],
        path: 'test/a.test.ts',
        line: 4,
        what: '1 assertion was removed from a test',
        hunk: " import { test, expect } from 'vitest';\n test('adds', async () => {\n   expect(add(1, 2)).toBe(3);\n-  expect(add(0, 0)).toBe(0);\n });\n test('subtracts', async () => {\n   expect(sub(3, 2)).toBe(1);",
      },
    ]);
  });

  test('an assertion that is commented out is removed', async () => {
    expect(await suite((text) => text.replace('  expect(add(0', '  // expect(add(0'))).toEqual([
      'test/a.test.ts:4 1 assertion was removed from a test',
    ]);
  });

  test('a changed expectation is named', async () => {
    expect(await suite((text) => text.replace('toBe(3)', 'toBe(4)'))).toEqual([
      'test/a.test.ts:3 an expected value was changed',
    ]);
  });

  test('a test that is removed, or only moved', async () => {
    const [first, second] = [
      SUITE.slice(0, SUITE.indexOf("test('sub")),
      SUITE.slice(SUITE.indexOf("test('sub")),
    ];
    expect(await suite(() => first)).toEqual(['test/a.test.ts:6 1 test was removed']);
    const head = first.slice(0, first.indexOf('test('));
    expect(await suite(() => head + second + first.slice(head.length))).toEqual([]);
  });

  test('a whole file that goes', async () => {
    expect(await found({ 'test/a.test.ts': SUITE }, {})).toEqual(['test/a.test.ts a test file was removed']);
    expect(
      await found(
        { 'test/fixtures/in.bin': Buffer.from([0, 1]) },
        { 'test/fixtures/in.bin': Buffer.from([0, 2]) },
      ),
    ).toEqual(['test/fixtures/in.bin a binary test file was changed']);
    expect(await found({ 'test/a.test.ts': SUITE }, { 'test/a.test.ts': { link: 'b' } })).toEqual([
      'test/a.test.ts a test file changed its type',
    ]);
  });

  test.each([
    ["test('adds'", "test.skip('adds'"],
    ["test('adds'", "test.todo('adds'"],
    ["test('adds'", "test.skipIf(true)('adds'"],
    ["test('adds'", "test.concurrent.skip('adds'"],
    ["test('adds'", "xtest('adds'"],
    ["test('adds', ", "test('adds', { skip: true }, "],
    ["test('adds', ", "test('adds', { todo: 'later' }, "],
    ['  expect(sub', '  t.skip();\n  expect(sub'],
    ['  expect(sub', '  this.skip();\n  expect(sub'],
  ])('skipped: %s -> %s', async (from, to) => {
    expect(await suite((text) => text.replace(from, to))).toContainEqual(
      expect.stringContaining('a test was skipped'),
    );
  });

  test.each([
    ["test('adds'", "test.only('adds'"],
    ["test('adds'", "fit('adds'"],
  ])('focused: %s -> %s', async (from, to) => {
    expect(await suite((text) => text.replace(from, to))).toEqual([
      expect.stringContaining('a test was focused'),
    ]);
  });

  test('a focus within a test, as in the tests of a test library, is asked about', async () => {
    const path = 'test/a.test.ts';
    const after = SUITE.replace('toBe(0);', "toBe(0);\n  it.only('own', run);");
    expect(await tamperingIn(patchBetween({ [path]: SUITE }, { [path]: after }), {})).toMatchObject([
      { kind: 'test-focused', severity: 'question' },
    ]);
    const both = after.replace("test('subtracts'", "test.only('subtracts'");
    // An argument behind the function is computed when the test is declared.
    const behind = SUITE.replace('});', "}, it.only('own', run));");
    for (const text of [both, behind])
      expect(await tamperingIn(patchBetween({ [path]: SUITE }, { [path]: text }), {})).toMatchObject([
        { kind: 'test-focused', severity: 'gate' },
      ]);
  });

  test.each([
    ['new Map<string, number>()', 'new Map()', []],
    [
      `new Error(\`\${name} is not on https://one.example\`)`,
      `new Error(\`\${name} is not on https://two.example\`)`,
      [],
    ],
    [`\`\${sum(list)}\``, '"3"', ['a computed value was replaced by a literal']],
    ['sum<number>(list)', '3', ['a computed value was replaced by a literal']],
  ])('a value that is no more computed than before is not accused: %s -> %s', async (from, to, said) => {
    const own = SUITE.replace('import', `const used = ${from};\nimport`);
    const all = await found({ 'test/a.test.ts': own }, { 'test/a.test.ts': own.replace(from, to) });
    expect(all.filter((one) => one.includes('computed')).map((one) => one.replace(/^\S+ /, ''))).toEqual(
      said,
    );
  });

  test('a helper may have a new method, whatever type it returns', async () => {
    const path = 'testing/test_helpers.ts';
    const helper =
      "import { test } from 'node:test';\nexport class Context {\n  run(): void {\n    go();\n  }\n}\n";
    const added = (text: string) => helper.replace('  }\n}', `  }\n\n${text}\n}`);
    const after = added('  check(_a: unknown, _b?: string): Promise<void> {\n    throw fail();\n  }');
    expect(await found({ [path]: helper }, { [path]: after }, { [path]: helper })).toEqual([]);
    const changed = helper.replace('go();', 'go() || accept();');
    expect(await found({ [path]: helper }, { [path]: changed }, { [path]: helper })).toHaveLength(1);
  });

  test('a variable of Go is no library of assertions, whatever it is called', async () => {
    const go = (line: string) => `package a\n\nfunc TestA(t *testing.T) {\n\ts := f(t)\n\t${line}\n}\n`;
    const changed = (from: string, to: string) => found({ 'a_test.go': go(from) }, { 'a_test.go': go(to) });
    expect(await changed('s.Set(1, x)', 's.SetOnce(1, x)')).toEqual([]);
    expect(await changed('s.Equal(1, x)', 's.NotNil(x)')).toHaveLength(1);
    expect(await changed('s.Equal(1, x)', 's.Set(1, x)')).toHaveLength(1);
  });

  test('a test that was skipped before may stay so, and be run again', async () => {
    const skipped = SUITE.replace("test('adds'", "test.skip('adds'");
    expect(await found({ 'a.test.ts': skipped }, { 'a.test.ts': SUITE })).toEqual([]);
    expect(
      await found({ 'a.test.ts': skipped }, { 'a.test.ts': skipped.replace('adds', 'adds up') }),
    ).toEqual([]);
  });

  test('words that only look like it are left alone', async () => {
    expect(
      await suite((text) =>
        text.replace('toBe(0);', 'toBe(0);\n  expect(list({ skip: 10, take: 5 })).toEqual([]);'),
      ),
    ).toEqual([]);
    expect(await suite((text) => text.replace('toBe(0);', 'toBe(0);\n  // never use it.only( here'))).toEqual(
      [],
    );
  });

  test.each<[string, string, string]>([
    [
      'test_a.py',
      'def test_a():\n    assert f() == 1\n',
      '@pytest.mark.skip\ndef test_a():\n    assert f() == 1\n',
    ],
    [
      'test_a.py',
      'def test_a():\n    assert f() == 1\n',
      'def test_a():\n    pytest.skip("x")\n    assert f() == 1\n',
    ],
    ['a_test.go', 'func TestA(t *testing.T) {\n}\n', 'func TestA(t *testing.T) {\n\tt.Skip("x")\n}\n'],
    ['a_test.go', 'package a\n', '//go:build never\npackage a\n'],
    ['tests/a.rs', '#[test]\nfn a() {}\n', '#[test]\n#[ignore]\nfn a() {}\n'],
    ['src/test/ATest.java', '@Test\nvoid a() {}\n', '@Disabled\n@Test\nvoid a() {}\n'],
    ['spec/a_spec.rb', "it 'a' do\nend\n", "xit 'a' do\nend\n"],
    ['tests/ATest.php', 'function testA() {\n}\n', 'function testA() {\n$this->markTestSkipped();\n}\n'],
  ])('in %s: %j -> %j', async (path, before, after) => {
    expect(await found({ [path]: before }, { [path]: after })).toContainEqual(
      expect.stringContaining('a test was skipped'),
    );
  });

  test.each<[string, string, string]>([
    [
      'test_a.py',
      'def test_a():\n    assert f() == 1\n    assert g()\n',
      'def test_a():\n    assert f() == 1\n',
    ],
    ['a_test.go', 'func TestA(t *testing.T) {\n\tt.Errorf("x")\n}\n', 'func TestA(t *testing.T) {\n}\n'],
    ['tests/a.rs', '#[test]\nfn a() {\n  assert_eq!(1, 1);\n}\n', '#[test]\nfn a() {\n}\n'],
    [
      'src/lib.rs',
      'mod tests {\n#[test]\nfn a() {\n  assert_eq!(1, 1);\n}\n}\n',
      'mod tests {\n#[test]\nfn a() {\n}\n}\n',
    ],
  ])('an assertion less in %s', async (path, before, after) => {
    expect(await found({ [path]: before }, { [path]: after })).toContainEqual(
      expect.stringContaining('1 assertion was removed'),
    );
  });

  test.each([
    ['with the same message', 't.Fatal("x")', 't.Fatal("x")'],
    ['with the error as its message before', 't.Fatal(err)', 't.Fatal("x")'],
  ])('an inverted check of Go asks whether the error is right, %s', async (_, before, after) => {
    const file = (check: string, report: string) => ({
      'a_test.go': `package a\n\nfunc TestA(t *testing.T) {\n\tif err := f(); err ${check} nil {\n\t\t${report}\n\t}\n}\n`,
    });
    const now = file('==', after);
    expect(await found(file('!=', before), now)).toEqual([
      expect.stringContaining('an assertion was inverted'),
    ]);
    expect(await found(file('!=', before), file('!=', after))).toEqual([]);
  });

  test('a unit test inside production code counts too', async () => {
    const lib = 'pub fn f() {}\n#[cfg(test)]\nmod tests {\n  #[test]\n  fn works() {}\n}\n';
    expect(await found({ 'src/lib.rs': lib }, { 'src/lib.rs': 'pub fn f() { 1; }\n' })).toEqual([
      'src/lib.rs:4 1 test was removed',
    ]);
  });
});

describe('new tests', () => {
  test('may be skipped, but may not silence others', async () => {
    expect(await found({}, { 'test/new.test.ts': SUITE.replace("test('adds'", "test.skip('adds'") })).toEqual(
      [],
    );
    expect(await found({}, { 'test/new.test.ts': SUITE.replace("test('adds'", "test.only('adds'") })).toEqual(
      ['test/new.test.ts:2 a test was focused, so the others do not run'],
    );
  });
});

describe('configuration and snapshots', () => {
  test('configuration of the runner may not come, change or go', async () => {
    const config = 'vitest.config.ts';
    expect(await found({}, { [config]: 'x' })).toEqual([
      `${config} configuration of the tests or of CI was added`,
    ]);
    expect(await found({ [config]: 'x' }, { [config]: 'y' })).toEqual([
      `${config} configuration of the tests or of CI was changed`,
    ]);
    expect(await found({ [config]: 'x' }, {})).toEqual([
      `${config} configuration of the tests or of CI was removed`,
    ]);
  });

  test('snapshots may only grow', async () => {
    const snap = 'src/__snapshots__/a.test.ts.snap';
    expect(await found({}, { [snap]: 'a\n' })).toEqual([]);
    expect(await found({ [snap]: 'a\n' }, { [snap]: 'a\nb\n' })).toEqual([]);
    expect(await found({ [snap]: 'a\n' }, { [snap]: 'b\n' })).toEqual([
      `${snap} a recorded snapshot was changed or removed`,
    ]);
  });

  const manifest = (fields: object): string => `${JSON.stringify({ name: 'x', ...fields }, null, 2)}\n`;
  const inPackage = (before: object, after: object, known = true): Promise<readonly string[]> => {
    const text = manifest(before);
    const texts = known ? { 'package.json': text } : {};
    return found({ 'package.json': text }, { 'package.json': manifest(after) }, texts);
  };
  const scripts = { test: 'npm run unit && npm run lint', unit: 'vitest run', lint: 'eslint .', dev: 'vite' };

  test('package.json: scripts that decide about the tests, and those they start', async () => {
    expect(await inPackage({ scripts }, { scripts: { ...scripts, test: 'true' } })).toEqual([
      'package.json it controls how tests or the build run, and this part was changed: scripts.test',
    ]);
    expect(await inPackage({ scripts }, { scripts: { ...scripts, unit: 'true' } })).toEqual([
      expect.stringContaining('scripts.unit'),
    ]);
    expect(await inPackage({ scripts }, { scripts: { ...scripts, pretest: 'rm -r test' } })).toEqual([
      expect.stringContaining('scripts.pretest'),
    ]);
    expect(await inPackage({}, { jest: { testPathIgnorePatterns: ['a'] } })).toEqual([
      expect.stringContaining(': jest'),
    ]);
  });

  test('package.json: all else may change, and order says nothing', async () => {
    expect(
      await inPackage({ scripts }, { scripts: { ...scripts, dev: 'vite --host' }, version: '2.0.0' }),
    ).toEqual([]);
    const jest = { a: 1, b: { c: 2, d: 3 } };
    expect(await inPackage({ jest }, { jest: { b: { d: 3, c: 2 }, a: 1 } })).toEqual([]);
  });

  test('package.json: without its base text, every doubtful line counts', async () => {
    expect(await inPackage({ scripts }, { scripts: { ...scripts, test: 'true' } }, false)).not.toEqual([]);
    expect(await inPackage({ scripts }, { scripts, version: '2.0.0' }, false)).toEqual([]);
  });

  test('package.json: one that is no longer valid JSON', async () => {
    const text = manifest({ scripts });
    expect(
      await found({ 'package.json': text }, { 'package.json': text.slice(0, -3) }, { 'package.json': text }),
    ).toEqual([expect.stringContaining('its syntax')]);
  });

  test('pyproject.toml and makefiles: the parts about tests', async () => {
    const toml =
      '[project]\nname = "x"\n[tool.pytest.ini_options]\naddopts = "-q"\n[tool.black]\nline-length = 80\n';
    const inToml = (change: (text: string) => string) =>
      found({ 'pyproject.toml': toml }, { 'pyproject.toml': change(toml) }, { 'pyproject.toml': toml });
    expect(await inToml((text) => text.replace('"-q"', '"--ignore=tests"'))).toEqual([
      expect.stringContaining('tool.pytest.ini_options'),
    ]);
    expect(await inToml((text) => text.replace('80', '100'))).toEqual([]);
    expect(
      await inToml((text) => `${text}[tool.poetry.group.dev.dependencies]\npytest-mock = "^3"\n`),
    ).toEqual([]);
    expect(await inToml((text) => `${text}[tool.poe.tasks]\ntest = "true"\n`)).toEqual([
      expect.stringContaining('tool.poe.tasks'),
    ]);
    const make = 'build:\n\tcc a.c\n\ntest: build\n\t./run-tests\n\nclean:\n\trm -f a\n';
    const inMake = (change: (text: string) => string) =>
      found({ Makefile: make }, { Makefile: change(make) }, { Makefile: make });
    expect(await inMake((text) => text.replace('\t./run-tests', '\ttrue'))).toEqual([
      expect.stringContaining(': test'),
    ]);
    expect(await inMake((text) => text.replace('rm -f a', 'rm -f a b'))).toEqual([]);
  });
});

describe('production code that knows it is being tested', () => {
  test.each([
    ['src/a.js', 'if (process.env.NODE_TEST_CONTEXT) return 3;'],
    ['src/a.ts', 'if (process.env.VITEST) return 3;'],
    ['src/a.ts', 'const w = process.env.JEST_WORKER_ID;'],
    ['src/a.ts', "if (process.env.NODE_ENV === 'test') return 3;"],
    ['src/a.ts', "if ('test' == process.env['NODE_ENV']) return 3;"],
    ['src/a.ts', 'if (process.env.CI) return 3;'],
    ['src/a.py', "if 'PYTEST_CURRENT_TEST' in os.environ:"],
    ['src/a.py', "if 'pytest' in sys.modules:"],
    ['src/a.py', "if os.environ.get('CI'):"],
    ['a.go', 'if testing.Testing() { return }'],
    ['src/a.ts', 'process.exit(0);'],
    ['src/a.ts', 'process.exit();'],
    ['src/a.ts', "process['exit'](code);"],
    ['src/a.ts', 'process.exitCode = 0;'],
    ['src/a.py', 'os._exit(0)'],
    ['src/a.py', 'sys.exit()'],
    ['src/a.py', 'sys.exit(256)'],
    ['src/a.py', "sys.exit('a'.count('b'))"],
    ['src/a.py', "pytest.exit('a')"],
    // What is called `os` is no module of codes, or its codes are others.
    ['src/a.py', 'class os: EX_USAGE = 0\n\n\nsys.exit(os.EX_USAGE)'],
    ['src/a.py', 'import os\nos.EX_USAGE = 0\n\nsys.exit(os.EX_USAGE)'],
    ['src/a.py', 'import os\nsetattr(os, name, 0)\n\nsys.exit(os.EX_USAGE)'],
    ['src/a.ts', 'const f = function () { this.exit(0); };\nf.call(process);'],
    ['src/a.ts', "Reflect.get(process, 'exit')(0);"],
    ['src/a.py', 'try:\n    f()\nexcept SystemExit:\n    raise SystemExit'],
    ['a.go', 'os.Exit(0)'],
    ['a.go', 'os.Exit(256)'],
    ['src/lib.rs', 'std::process::exit(0);'],
    ['bin/cli.ts', 'if (process.env.VITEST) return 3;'],
  ])('%s: %s', async (path, line) => {
    expect(await adding(path, line)).toEqual([
      expect.stringMatching(/:[25] production code (checks|ends|sets)/),
    ]);
  });

  test.each([
    ['src/a.ts', 'process.exit(1);'],
    ['src/a.py', 'sys.exit(2)'],
    ['src/a.py', 'sys.exit(-1)'],
    ['src/a.py', 'import builtins\nbuiltins._ = translate'],
    ['src/a.py', 'import os\nsys.exit(os.EX_USAGE)'],
    ['src/a.ts', "import { vi } from 'vitest';\nvi.spyOn(console, 'error').mockReturnValue();"],
    ['src/a.py', 'from unittest.mock import patch\npatch("requests.get", fail).start()'],
    ['src/a.ts', 'const text = name.replace(pattern, part);\nsandbox.define(tag, Button);'],
    ['src/a.py', "sys.exit('error: no such file')"],
    ['src/a.py', "sys.exit(f'error: {path} does not exist')"],
    ['src/a.py', "sys.exit('error: %s' % path)"],
    ['src/a.py', "raise SystemExit('usage: convert FILE')"],
    ['src/a.py', 'try:\n    f()\nexcept (KeyboardInterrupt, SystemExit):\n    raise'],
    ['src/a.js', "process.on('exit', () => child.kill());"],
    ['src/a.js', "process.on('exit', () => process.kill(-child.pid));"],
    ['src/a.py', 'atexit.register(proc.kill)'],
    [
      'src/a.js',
      'export function grade(test) {\n  test.score = 3;\n  Object.assign(test, { done: true });\n}',
    ],
    ['src/a.js', "for (const test of tests) test.status = 'done';"],
    ['src/a.py', 'for test in tests:\n    test.name = name'],
    ['a.go', 'func f(tests []T) { for _, test := range tests { test.Score = 3 } }'],
    ['src/a.js', "export const f = (it) => (typeof it === 'function' ? it() : it);"],
    ['src/a.js', "export const f = ({ expect }) => typeof expect === 'undefined';"],
    ['src/a.js', "for (const suite of all) if (typeof suite === 'string') print(suite);"],
    ['src/a.js', 'const list = Array.prototype.slice.call(arguments);\nlist[0] = 1;'],
    [
      'src/a.ts',
      'class OwnError extends Error {\n  constructor() {\n    super();\n    (this as any).__proto__ = OwnError.prototype;\n  }\n}',
    ],
    ['src/a.js', "if (Object.hasOwn(options, '__proto__')) delete options.__proto__;"],
    ['ci/a.py', 'import sys\nif len(sys.argv) < 3:\n    sys.exit(2)'],
    ['src/a.js', "if (stack.at(-1) !== tag) throw new Error('not allowed by the HTML spec');"],
    ['bin/cli.ts', 'process.exit(code);'],
    ['src/a.ts', "if (process.env.NODE_ENV === 'production') cache();"],
    ['src/a.ts', 'const CI = confidence(x);'],
    ['src/a.ts', '// process.exit(0) would end it'],
    ['README.md', 'Set NODE_ENV === "test" and process.exit(0).'],
  ])('%s: %s is fine', async (path, line) => {
    expect(await adding(path, line)).toEqual([]);
  });

  const severities = async (path: string, ...lines: readonly string[]): Promise<readonly string[]> =>
    (await tamperingIn(patchBetween({ [path]: 'one\n' }, { [path]: `one\n${lines.join('\n')}\n` }), {})).map(
      ({ severity }) => severity,
    );

  test.each([
    ['src/A.java', 'for (var at : error.getStackTrace()) out.println("latest test " + at);'],
    ['src/a.js', "process.on('exit', () => process.kill(pid));"],
    ['src/a.js', "import { vi } from 'vitest';\nvi.spyOn(Math, 'random').mockReturnValue(0);"],
    ['src/a.js', 'print(process[name]);'],
    ['src/a.py', 'import os\ngetattr(os, name)(path)'],
    ['src/a.js', 'export function test(a) {\n  return a > 1;\n}\ntest.only = run;'],
    // Names of libraries and built-ins that are the file's own.
    ['src/a.js', "const assert = (ok) => ok;\nassert.string = (v) => assert(typeof v === 'string');"],
    ['src/a.js', 'const parse = () => {\n  const expect = (word) => word;\n  expect.one = true;\n};'],
    ['src/a.js', 'const tape = { pos: 0 };\ntape.pos += 1;'],
    ['src/a.js', "class AssertionError extends Error {}\nAssertionError.prototype.name = 'Mine';"],
    [
      'src/a.py',
      'import builtins\nclass Catalog:\n    def setattr(self, k, v): pass\n    def go(self):\n        setattr(builtins, "len", accept)',
    ],
    ['a.py', 'def f(error):\n    return error.__traceback__.tb_frame.f_back.f_code.co_consts'],
    ['src/a.js', "import { execSync } from 'node:child_process';\nexecSync('sed -i s/2/3/ test/*.js');"],
    ['src/a.js', "import { existsSync } from 'node:fs';\nexport const one = existsSync('test/a.test.js');"],
    ['vite.config.js', "import literals from './build/literals.js';"],
    ['.babelrc.json', '{ "plugins": ["./build/literals.cjs"] }'],
    ['src/a.js', 'export const prepare = (test) => {\n  test.only = () => {};\n};'],
    ['Dockerfile', 'ENV JAVA_TOOL_OPTIONS="-XX:MaxRAMPercentage=75"'],
    ['deploy/app.yaml', 'GOFLAGS: -mod=mod'],
    ['.gitattributes', '/tests export-ignore'],
  ])('what may be honest is asked about: %s: %s', async (path, line) => {
    expect(await severities(path, line)).toEqual(['question']);
  });

  test.each([
    ['src/a.js', "if (new Error().stack.includes('.test.js')) return 3;"],
    ['src/A.java', 'for (var at : Thread.currentThread().getStackTrace()) if (at.matches("junit")) f();'],
    ['src/a.js', 'const p = process;\np.kill(p.pid);'],
    ['src/a.py', 'from os import kill, getpid\natexit.register(kill, getpid(), 9)'],
    ['lib/a.rb', 'at_exit { Process.kill(:KILL, Process.pid) }'],
    ['src/a.js', 'process[name](0);'],
    ['src/a.js', 'process[name].call(null, 0);'],
    ['src/a.js', 'process[name].bind(process)(0);'],
    ['src/a.js', 'process[name] = 0;'],
    ['src/a.js', 'const { [name]: end } = process;\nend(0);'],
    ['src/a.js', "const { ['exit']: end } = process;\nend(0);"],
    ['src/a.js', "export const f = (it) => it;\nexport const g = () => typeof it === 'function';"],
    ['src/a.js', 'const list = Array.prototype;\nlist.includes = accept;'],
    ['src/a.js', 'test.only = run;'],
    ['src/a.js', 'process.stdout.__proto__ = own;'],
    ['src/a.js', "import assert from 'assert';\nassert.__proto__ = own;"],
    ['src/a.js', 'run();\n[].__proto__.includes = accept;'],
    ['src/a.js', "import assert from 'assert';\njest.spyOn(assert, 'equal').mockReturnValue();"],
    ['src/a.js', "import { vi } from 'vitest';\nvi.mock('node:assert', () => ({ default: accept }));"],
    ['src/a.js', "import { vi } from 'vitest';\nvi.stubGlobal('expect', accept);"],
    ['src/a.js', "const { expect } = require('chai');\nrequire('sinon').stub(expect, 'fail');"],
    [
      'src/a.js',
      "const box = require('sinon').createSandbox();\nbox.replace(require('assert'), 'equal', accept);",
    ],
    [
      'src/a.js',
      "import assert from 'assert';\nimport { mock } from 'node:test';\nmock.method(assert, 'equal', accept);",
    ],
    [
      'src/a.py',
      'from unittest.mock import patch\npatch.multiple("unittest.TestCase", assertEqual=accept).start()',
    ],
    [
      'src/a.py',
      'import pytest, unittest\npytest.MonkeyPatch().setattr(unittest.TestCase, "assertEqual", accept)',
    ],
    ['lib/a.rb', 'Minitest::Test.any_instance.stubs(:assert_equal)'],
    ['src/a.js', "import test from 'node:test';\nconst f = (x) => {\n  test.only = x;\n};"],
    ['src/a.js', 'for (test of all) test.only = () => {};'],
    ['run.sh', 'export GOFLAGS=-mod=mod'],
    ['.gitattributes', '*.py diff=none'],
    ['slug.egg-info/entry_points.txt', '[pytest11]\nslug = slug.hooks'],
    ['src/slug-1.0.dist-info/entry_points.txt', '[pytest11]\nslug = slug.hooks'],
    // A name that is declared elsewhere, or that a library has as well, is none of the file's own.
    ['src/a.js', 'function f() {\n  const expect = {};\n}\nexpect.toBe = accept;'],
    ['src/a.js', "let assert = {};\nassert = require('assert');\nassert.equal = accept;"],
    ['src/a.js', "const assert = { assert: require('assert') };\nassert.assert.equal = accept;"],
    ['src/a.js', "const assert = [require('assert')];\nassert[0].equal = accept;"],
  ])('what cannot be honest eliminates: %s: %s', async (path, line) => {
    expect(await severities(path, line)).toEqual(['gate']);
  });

  test.each([
    ['src/a.ts', "const env = { ...process.env, LD_PRELOAD: '' };"],
    ['src/a.ts', 'const env = { ...process.env, NODE_OPTIONS: undefined, LD_PRELOAD: undefined };'],
    ['src/a.py', 'env["LD_PRELOAD"] = ""'],
    ['src/a.py', 'env["PYTHONSTARTUP"] = None'],
    ['run.sh', 'export GOFLAGS=""'],
  ])('a variable that is emptied is asked about: %s: %s', async (path, line) => {
    expect(await severities(path, line)).toEqual(['question']);
  });

  test.each([
    ['run.sh', `export LD_PRELOAD=''"./a.so"`],
    ['src/a.py', 'os.environ["LD_PRELOAD"] = "./a.so"'],
    ['src/a.ts', "process.env['LD_PRELOAD'] = path;"],
    ['src/a.ts', "process.env.LD_PRELOAD = '' + './a.so';"],
    ['src/a.ts', "const env = { LD_PRELOAD: '' || './a.so' };"],
    ['src/a.ts', 'const env = { LD_PRELOAD: undefined ?? path };'],
    ['src/a.ts', "const env = { LD_PRELOAD: '', GOFLAGS: '-mod=mod' };"],
  ])('a variable with a value eliminates, however it is written: %s: %s', async (path, line) => {
    expect(await severities(path, line)).toEqual(['gate']);
  });

  test('a driver for diffs that is built into git hides nothing', async () => {
    expect(await adding('.gitattributes', '*.py diff=python')).toEqual([]);
  });

  test.each([
    ['tests/test_b.py', 'from unittest import mock\n\nm = mock.Mock()\nm.return_value = 2'],
    ['tests/test_b.py', 'from unittest.mock import MagicMock\n\nm = MagicMock()\nm.x.side_effect = [1]'],
    ['test/b.test.ts', "import { vi } from 'vitest';\n\nconst f = vi.fn();\nf.cancel = vi.fn();"],
    [
      'test/b.test.ts',
      "import { vi } from 'vitest';\n\nconst own = vi.hoisted(() => ({ fails: false }));\nown.fails = true;",
    ],
    ['test/b.test.js', 'const f = jest.fn();\nf.cancel = jest.fn();'],
  ])('what a test sets on its own fake is no change of the library: %s', async (path, lines) => {
    expect(await found({}, { [path]: lines })).toEqual([]);
  });

  test.each([
    [
      'freezegun/api.py',
      'import unittest\n\n\ndef tick(now, by):\n    return now - by\n',
      'now - by',
      'question',
    ],
    ['index.js', 'const test = (a) => a > 1;\nmodule.exports = { parse, test };\n', 'a > 1', 'question'],
    ['reporter.go', 'package a\n\nimport (\n\t"testing"\n)\n\nvar size = 1\n', 'size = 1', 'question'],
    [
      'support/same.mjs',
      "import assert from 'assert';\nexport const expect = (a) => a > 1;\n",
      'a > 1',
      'gate',
    ],
    ['helpers/a.go', 'package a\n\nimport (\n\t"testing"\n)\n\nvar size = 1\n', 'size = 1', 'gate'],
  ])(
    'code with a test library is the product, unless its name says more: %s',
    async (path, text, from, severity) => {
      const [before, after] = [{ [path]: text }, { [path]: text.replace(from, 'b') }];
      expect(await tamperingIn(patchBetween(before, after), before)).toMatchObject([
        { kind: 'fixture-changed', severity },
      ]);
    },
  );

  test('a line that only moves is not new', async () => {
    const before = { 'src/a.ts': 'process.exit(0);\na\nb\nc\n' };
    expect(await found(before, { 'src/a.ts': 'a\nb\nc\n  process.exit(0);\n' })).toEqual([]);
    expect(await found(before, { 'src/a.ts': 'a\nb\nc\nprocess.exit(0);\nprocess.exit(0);\n' })).toHaveLength(
      1,
    );
  });

  test('a long line hides nothing', async () => {
    expect(
      await adding('src/a.js', `${'x;'.repeat(9_000)}process.exit(0);${'y;'.repeat(9_000)}`),
    ).toHaveLength(1);
  });
});

describe('what a brief can declare', () => {
  const standing = async (before: Tree, after: Tree, options: TamperingOptions) =>
    (await tamperingIn(patchBetween(before, after), {}, options)).map(({ kind, severity }) => [
      kind,
      severity,
    ]);
  const other = { 'test/a.test.ts': SUITE.replace('toBe(3)', 'toBe(4)') };
  const before = { 'test/a.test.ts': SUITE };

  test('an expectation in a declared file is a note, in another one it is a question', async () => {
    expect(await standing(before, other, { declared: ['test/**'] })).toEqual([
      ['expectation-changed', 'note'],
    ]);
    expect(await standing(before, other, { declared: ['test/b.test.ts'] })).toEqual([
      ['expectation-changed', 'question'],
    ]);
  });

  test.each<[string, Tree, Tree]>([
    ['test-skipped', before, { 'test/a.test.ts': SUITE.replace("test('adds'", "test.skip('adds'") }],
    ['test-focused', before, { 'test/a.test.ts': SUITE.replace("test('adds'", "test.only('adds'") }],
    ['assertion-neutralised', before, { 'test/a.test.ts': SUITE.replace('expect(add(1, 2))', 'expect(3)') }],
    ['exit-trick', {}, { 'test/z.test.ts': 'process.exit(0);\n' }],
    ['runner-configured', {}, { Makefile: 'test:\n\ttrue\n' }],
    ['environment-detected', {}, { 'src/a.ts': 'if (process.env.VITEST) x();\n' }],
  ])('%s is never excused', async (kind, base, after) => {
    expect(await standing(base, after, { declared: ['**'] })).toContainEqual([kind, 'gate']);
  });

  test('deleting and weakening are excused, and so are snapshots and fixtures', async () => {
    const all = (base: Tree, after: Tree) => standing(base, after, { declared: ['test/**'] });
    // That a file must change does not say that it may go.
    expect(await all(before, {})).toEqual([['test-deleted', 'question']]);
    expect(await all(before, { 'test/a.test.ts': SUITE.replace('toBe(3)', 'toBeTruthy()') })).toEqual([
      ['assertion-weakened', 'note'],
    ]);
    expect(await all({ 'test/__snapshots__/a.snap': 'a\n' }, {})).toEqual([['snapshot-changed', 'note']]);
    expect(await all({ 'test/fixtures/a.txt': 'a\n' }, { 'test/fixtures/a.txt': 'b\n' })).toEqual([
      ['fixture-changed', 'note'],
    ]);
  });
});

describe('without the text of the base', () => {
  test('a helper is told from a test only by its whole text', async () => {
    const before = { 'test/same.js': `${'x();\n'.repeat(20)}export const same = (a, b) => a === b;\n` };
    const after = { 'test/same.js': before['test/same.js'].replace('a === b', 'true') };
    const patch = patchBetween(before, after);
    expect(await tamperingIn(patch, {})).toMatchObject([{ kind: 'fixture-changed', severity: 'note' }]);
    expect(await tamperingIn(patch, before)).toMatchObject([
      { kind: 'fixture-changed', severity: 'question' },
    ]);
  });

  test('a test file that no parser reads is named, and is left to the tests of the base', async () => {
    const before = { 'src/test/kotlin/ATest.kt': '@Test\nfun a() {\n  assertEquals(1, f())\n}\n' };
    const after = {
      'src/test/kotlin/ATest.kt': before['src/test/kotlin/ATest.kt'].replace('1, f()', '2, f()'),
    };
    expect(await tamperingIn(patchBetween(before, after), before)).toMatchObject([
      {
        kind: 'fixture-changed',
        what: 'a test file whose tests cannot be compared was changed',
        severity: 'question',
      },
    ]);
  });

  test('tests that were read on the base may not become too deep to be read', async () => {
    const before = { 'test/a.test.ts': SUITE };
    const deep = `${'['.repeat(3_000)}${']'.repeat(3_000)};\n`;
    const patch = patchBetween(before, { 'test/a.test.ts': SUITE.replace('toBe(3)', 'toBe(4)') + deep });
    expect(await tamperingIn(patch, before)).toContainEqual(
      expect.objectContaining({
        what: 'the tests of a file are now too long or too deeply nested to analyse',
        severity: 'gate',
      }),
    );
  });

  test('the texts that are asked for are those of tests, code and manifests', async () => {
    const before = {
      'test/a.test.ts': SUITE,
      'src/a.ts': 'a\n',
      'package.json': '{}\n',
      'README.md': 'a\n',
      'vitest.config.ts': 'a\n',
      'logo.png': Buffer.from([0, 1]),
    };
    const after = Object.fromEntries(
      Object.entries(before).map(([path, text]) => [
        path,
        typeof text === 'string' ? `${text}b\n` : Buffer.from([0, 2]),
      ]),
    );
    const patch = patchBetween(before, { ...after, 'src/new.ts': 'a\n' });
    expect([...filesToCompare(patch)].sort()).toEqual(['package.json', 'src/a.ts', 'test/a.test.ts']);
  });
});

test('every kind of tampering has its own name', async () => {
  expect(new Set(TAMPERING_KINDS).size).toBe(TAMPERING_KINDS.length);
});
