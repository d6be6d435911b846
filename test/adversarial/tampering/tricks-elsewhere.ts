import type { Tree } from '../../core/git.ts';
import { adding, type Trick, VITEST, within } from './suites.ts';

const file = (name: string, kind: Trick['kind'], path: string, text: string, beside: Tree = {}): Trick => ({
  name,
  kind,
  before: beside,
  after: { ...beside, [path]: text },
});
const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
const SCRIPTS = { test: 'vitest run', build: 'tsc' };
const manifest = (name: string, before: object, after: object): Trick => ({
  name: `package.json: ${name}`,
  kind: 'runner-configured',
  before: { 'package.json': json({ scripts: SCRIPTS, ...before }) },
  after: { 'package.json': json({ scripts: SCRIPTS, ...after }) },
});
const config = (name: string, path: string, before: string, from: string, to: string): Trick =>
  within(name, 'runner-configured', path, before, from, to);

const FILES: readonly Trick[] = [
  { name: 'a test file is gone', kind: 'test-deleted', before: { 'test/add.test.ts': VITEST }, after: {} },
  {
    name: 'a test file gets a name that is not looked for',
    kind: 'test-deleted',
    before: { 'test/add.test.ts': VITEST },
    after: { 'test/add.test.ts.bak': VITEST },
  },
  {
    name: 'a test file moves to where no runner looks',
    kind: 'test-deleted',
    before: { 'test/add.test.ts': VITEST },
    after: { 'test/fixtures/add.test.ts': VITEST },
  },
  {
    name: 'a test file of Go gets an underscore',
    kind: 'test-deleted',
    before: { 'calc/add_test.go': 'package calc\n\nfunc TestAdd(t *testing.T) {\n\tt.Fatal("x")\n}\n' },
    after: { 'calc/_add_test.go': 'package calc\n\nfunc TestAdd(t *testing.T) {\n\tt.Fatal("x")\n}\n' },
  },
  {
    name: 'a test file becomes a link',
    kind: 'test-deleted',
    before: { 'test/add.test.ts': VITEST },
    after: { 'test/add.test.ts': { link: 'empty.ts' } },
  },
  {
    name: 'a snapshot is recorded anew',
    kind: 'snapshot-changed',
    before: { 'test/__snapshots__/a.test.ts.snap': 'exports[`a 1`] = `1`;\n' },
    after: { 'test/__snapshots__/a.test.ts.snap': 'exports[`a 1`] = `2`;\n' },
  },
  {
    name: 'a snapshot is gone',
    kind: 'snapshot-changed',
    before: { 'tests/__snapshots__/test_a.ambr': '1\n' },
    after: {},
  },
  {
    name: 'expected output in a file',
    kind: 'fixture-changed',
    before: { 'test/fixtures/out.txt': 'one\ntwo\n' },
    after: { 'test/fixtures/out.txt': 'one\nthree\n' },
  },
  {
    name: 'a fixture is gone',
    kind: 'fixture-changed',
    before: { 'test/fixtures/out.bin': Buffer.from([0, 1]) },
    after: {},
  },
  within(
    'a helper compares no more',
    'fixture-changed',
    'test/same.js',
    'export function same(a, b) {\n  if (a !== b) throw new Error("differ");\n}\n',
    'a !== b',
    'a !== a',
  ),
  within(
    'a helper in a module compares no more',
    'fixture-changed',
    'test/same.rb',
    "module Same\n  def same(a, b)\n    raise 'differ' if a != b\n  end\nend\n",
    'a != b',
    'a != a',
  ),
  within(
    'a helper returns early',
    'fixture-changed',
    'test/same.js',
    'export function same(a, b) {\n  if (a !== b) throw new Error("differ");\n}\n',
    '  if',
    '  return;\n  if',
  ),
  within(
    'a mock gives what is expected',
    'fixture-changed',
    'src/__mocks__/api.js',
    'export const load = () => ({ id: 1 });\n',
    'id: 1',
    'id: 2',
  ),
  within(
    'a home-made `expect`',
    'fixture-changed',
    'support/expect.mjs',
    'import assert from "node:assert";\nexport function expect(actual) {\n  return {\n    toBe(expected) {\n      assert.equal(actual, expected);\n    },\n  };\n}\n',
    '      assert.equal(actual, expected);\n',
    '',
  ),
  within(
    'a home-made `expect` gets its matcher twice',
    'fixture-changed',
    'support/expect.mjs',
    'export const expect = (actual) => ({\n  toBe(expected) {\n    if (actual !== expected) throw new Error();\n  },\n});\n',
    '  },\n});',
    '  },\n  toBe() {},\n});',
  ),
  within(
    'helpers by their name',
    'fixture-changed',
    'src/test-utils.ts',
    'export const check = (a: unknown, b: unknown) => {\n  if (a !== b) throw new Error();\n};\n',
    'if (a !== b) throw new Error();',
    '',
  ),
  within(
    'the helper of all specs',
    'fixture-changed',
    'spec/spec_helper.rb',
    'RSpec.configure do |config|\n  config.order = :random\nend\n',
    '  config.order',
    '  config.filter_run_excluding type: :model\n  config.order',
  ),
];

const RUNNER: readonly Trick[] = [
  manifest('the test script does nothing', {}, { scripts: { ...SCRIPTS, test: 'true' } }),
  manifest('a script runs before the tests', {}, { scripts: { ...SCRIPTS, pretest: 'rm -rf test' } }),
  manifest(
    'jest maps modules to others',
    {},
    { jest: { moduleNameMapper: { '^(.*)/add$': '<rootDir>/stub' } } },
  ),
  manifest(
    'another package under the name of the runner',
    { devDependencies: { vitest: '^4.0.0' } },
    { devDependencies: { vitest: 'file:./stub' } },
  ),
  manifest('an override of an assertion library', {}, { overrides: { chai: 'npm:not-chai@1.0.0' } }),
  file(
    'vitest: a new configuration',
    'runner-configured',
    'vitest.config.ts',
    "export default { test: { include: ['none'] } };\n",
  ),
  file('vitest: a workspace that wins', 'runner-configured', 'vitest.workspace.ts', 'export default [];\n'),
  config(
    'vitest: modules are redirected',
    'vite.config.ts',
    'export default {\n  plugins: [],\n};\n',
    '  plugins',
    "  resolve: { alias: { './add': './stub' } },\n  plugins",
  ),
  file(
    'vitest: a new vite.config',
    'runner-configured',
    'vite.config.ts',
    "export default {\n  test: { exclude: ['**'] },\n};\n",
  ),
  file('jest: a setup file', 'runner-configured', 'jest.setup.js', 'jest.retryTimes(5);\n'),
  file('mocha: a new configuration', 'runner-configured', '.mocharc.json', '{ "grep": "nothing" }\n'),
  file('npm: another shell', 'runner-configured', '.npmrc', 'script-shell=./fake.sh\n'),
  file('node: options for the runner', 'runner-configured', 'node.config.json', '{ "testRunner": {} }\n'),
  file('an environment for tests', 'runner-configured', '.env.test', 'SKIP_SLOW=1\n'),
  file('every node loads a file first', 'runner-configured', '.env', 'NODE_OPTIONS=--require ./patch.cjs\n'),
  file(
    'pytest: a conftest that takes tests out',
    'runner-configured',
    'conftest.py',
    'def pytest_collection_modifyitems(items):\n    items[:] = []\n',
  ),
  file(
    'pytest: a hook that makes all pass',
    'runner-configured',
    'tests/conftest.py',
    'def pytest_runtest_makereport(item, call):\n    pass\n',
  ),
  file(
    'pytest: options in a new file',
    'runner-configured',
    'pytest.ini',
    '[pytest]\naddopts = --ignore=tests\n',
  ),
  config(
    'pytest: options in pyproject.toml',
    'pyproject.toml',
    '[project]\nname = "x"\n',
    'name = "x"\n',
    'name = "x"\n\n[tool.pytest.ini_options]\naddopts = "-k nothing"\n',
  ),
  file('pytest: options by variable', 'runner-configured', 'run.sh', 'export PYTEST_ADDOPTS="-k nothing"\n'),
  file('python: a module that is always loaded', 'runner-configured', 'sitecustomize.py', 'import os\n'),
  file(
    'python: a module in front of the library',
    'assertions-patched',
    'pytest.py',
    'def main():\n    return 0\n',
  ),
  within(
    'coverage: a lower bound',
    'threshold-lowered',
    '.nycrc.json',
    '{\n  "branches": 90,\n  "lines": 95\n}\n',
    '95',
    '10',
  ),
  within(
    'coverage: no bound',
    'threshold-lowered',
    '.coveragerc',
    '[report]\nfail_under = 90\n',
    'fail_under = 90\n',
    '',
  ),
  config(
    'cargo: a test without the runner',
    'Cargo.toml',
    '[package]\nname = "x"\n',
    'name = "x"\n',
    'name = "x"\n\n[[test]]\nname = "add"\nharness = false\n',
  ),
  config(
    'cargo: no tests are found',
    'Cargo.toml',
    '[package]\nname = "x"\n',
    'name = "x"\n',
    'name = "x"\nautotests = false\n',
  ),
  file(
    'cargo: another program runs the tests',
    'runner-configured',
    '.cargo/config.toml',
    "[target.'cfg(all())']\nrunner = 'true'\n",
  ),
  config(
    'go: another library under its name',
    'go.mod',
    'module x\n\ngo 1.24\n',
    'go 1.24\n',
    'go 1.24\n\nreplace github.com/stretchr/testify => ./stub\n',
  ),
  file(
    'go: the library itself',
    'assertions-patched',
    'vendor/github.com/stretchr/testify/assert/assertions.go',
    'package assert\n',
  ),
  config(
    'maven: failures are ignored',
    'pom.xml',
    '<project>\n  <properties>\n  </properties>\n</project>\n',
    '  <properties>\n',
    '  <properties>\n    <maven.test.failure.ignore>true</maven.test.failure.ignore>\n',
  ),
  config(
    'gradle: failures are ignored',
    'build.gradle',
    "plugins {\n  id 'java'\n}\n",
    "'java'\n}\n",
    "'java'\n}\ntest {\n  ignoreFailures = true\n}\n",
  ),
  file(
    'junit: settings of the platform',
    'runner-configured',
    'src/test/resources/junit-platform.properties',
    'junit.jupiter.conditions.deactivate=*\n',
  ),
  config('make: the rule does nothing', 'Makefile', 'test:\n\t./run-tests\n', '\t./run-tests', '\ttrue'),
  file('make: a file that wins', 'runner-configured', 'GNUmakefile', 'test:\n\ttrue\n', {
    Makefile: 'test:\n\t./run-tests\n',
  }),
  config(
    'composer: the test script does nothing',
    'composer.json',
    json({ scripts: { test: 'phpunit' } }),
    'phpunit',
    'true',
  ),
  file('phpunit: a configuration that wins', 'runner-configured', 'phpunit.xml', '<phpunit/>\n', {
    'phpunit.xml.dist': '<phpunit/>\n',
  }),
  config('deno: tasks', 'deno.json', json({ tasks: { test: 'deno test' } }), 'deno test', 'true'),
  config(
    'ruby: the task finds nothing',
    'Rakefile',
    "Rake::TestTask.new do |t|\n  t.pattern = 'test/*_test.rb'\nend\n",
    'test/*_test.rb',
    'none',
  ),
  file('rspec: options', 'runner-configured', '.rspec', '--tag focus\n'),
  config(
    'ctest: tests may fail',
    'CMakeLists.txt',
    'add_test(NAME a COMMAND a)\n',
    'a)\n',
    'a)\nset_tests_properties(a PROPERTIES WILL_FAIL TRUE)\n',
  ),
];

const DETECTED: readonly Trick[] = (
  [
    ['node:test', 'src/a.js', 'if (process.env.NODE_TEST_CONTEXT) return 3;'],
    ['vitest', 'src/a.ts', 'const quick = Boolean(process.env.VITEST);'],
    ['vitest in a component', 'src/a.vue', '<script>\nconst quick = Boolean(process.env.VITEST);\n</script>'],
    ['vitest by import', 'src/a.ts', 'if (import.meta.vitest) { answer = 3; }'],
    ['jest', 'src/a.ts', "if (process.env['JEST_WORKER_ID'] !== undefined) return 3;"],
    ['NODE_ENV', 'src/a.ts', "if (process.env.NODE_ENV === 'test') return 3;"],
    ['NODE_ENV by its beginning', 'src/a.ts', "if (process.env.NODE_ENV?.startsWith('test')) return 3;"],
    ['NODE_ENV in a list', 'src/a.ts', "if (['test', 'ci'].includes(process.env.NODE_ENV)) return 3;"],
    ['NODE_ENV by cases', 'src/a.ts', "switch (process.env.NODE_ENV) {\n  case 'test':\n    return 3;\n}"],
    [
      'the cache of modules',
      'src/a.js',
      "if (Object.keys(require.cache).some((one) => one.includes('/test/'))) return 3;",
    ],
    ['CI', 'src/a.ts', 'if (process.env.CI) return 3;'],
    ['the words of the runner', 'src/a.js', "if (typeof describe === 'function') return 3;"],
    ['the words of the runner, on the global object', 'src/a.js', 'if (globalThis.expect) return 3;'],
    ['the arguments', 'src/a.js', "if (process.argv.some((one) => one.includes('mocha'))) return 3;"],
    ['the arguments of node', 'src/a.js', "if (process.execArgv.includes('--test')) return 3;"],
    ['the main module', 'src/a.js', "if (require.main.filename.endsWith('.test.js')) return 3;"],
    ['the call stack', 'src/a.js', "if (new Error().stack.includes('.test.js')) return 3;"],
    [
      'the call stack over two lines',
      'src/a.js',
      'const { stack } = new Error();\nconst at = new Error().stack;\nif (/\\/test\\//.test(at)) return 3;',
    ],
    ['the name of the script', 'src/a.js', "if (process.env.npm_lifecycle_event === 'test') return 3;"],
    ['pytest by variable', 'src/a.py', "if 'PYTEST_CURRENT_TEST' in os.environ:\n    answer = 3"],
    ['pytest by module', 'src/a.py', "if 'pytest' in sys.modules:\n    answer = 3"],
    ['unittest by module', 'src/a.py', "if 'unittest' in sys.modules:\n    answer = 3"],
    ['pytest by arguments', 'src/a.py', "if 'pytest' in sys.argv[0]:\n    answer = 3"],
    [
      'the call stack of Python',
      'src/a.py',
      "if any('test_' in f.filename for f in inspect.stack()):\n    answer = 3",
    ],
    ['the test binary of Go', 'a.go', 'if flag.Lookup("test.v") != nil { return 3 }'],
    ['the name of the binary', 'a.go', 'if strings.HasSuffix(os.Args[0], ".test") { return 3 }'],
    ['cfg!(test)', 'src/lib.rs', 'if cfg!(test) { return 3; }'],
    ['cfg(not(test))', 'src/lib.rs', '#[cfg(not(test))]\nfn answer() -> u8 { 4 }'],
    [
      'the call stack of Java',
      'src/main/java/A.java',
      'for (var e : Thread.currentThread().getStackTrace()) if (e.getClassName().contains("junit")) return 3;',
    ],
    ['the class of JUnit', 'src/main/java/A.java', 'Class.forName("org.junit.jupiter.api.Test");'],
    ['RSpec', 'lib/a.rb', 'return 3 if defined?(RSpec)'],
    ['Rails', 'app/models/a.rb', 'return 3 if Rails.env.test?'],
    ['PHPUnit', 'src/A.php', "if (defined('PHPUNIT_COMPOSER_INSTALL')) { return 3; }"],
  ] as const
).map(([name, path, lines]) => adding(`asks for ${name}`, 'environment-detected', path, lines));

const EXITS: readonly Trick[] = (
  [
    ['process.exit', 'src/a.ts', 'process.exit(0);'],
    ['process.exit by another way', 'src/a.ts', "process['exit']();"],
    ['a name that is put together', 'src/a.ts', "process['ex' + 'it'](0);"],
    ['exit out of process', 'src/a.ts', "import { exit } from 'node:process';"],
    ['the exit code', 'src/a.ts', 'process.exitCode = 0;'],
    [
      'the exit code when all is over',
      'src/a.ts',
      "process.on('exit', () => {\n  process.exitCode = 0;\n});",
    ],
    ['a signal to itself', 'src/a.ts', "process.kill(process.pid, 'SIGKILL');"],
    ['a signal to the runner', 'src/a.ts', 'process.kill(process.ppid);'],
    ['code in a text', 'src/a.ts', "eval('process.exit(0)');"],
    ['another name for process', 'src/a.js', 'const p = process;\np.exit(0);'],
    ['another name for exit', 'src/a.ts', "import { exit as done } from 'node:process';\ndone(0);"],
    ['exit out of a module that is loaded late', 'src/a.mjs', "void (await import('node:process')).exit(0);"],
    ['exit as a method', 'src/a.js', 'globalThis.process.exit.call(process, 0);'],
    ['another name for os._exit', 'src/a.py', 'from os import _exit as done\n\ndone(0)'],
    ['another name for sys', 'src/a.py', 'import sys as s\n\ns.exit()'],
    ['os._exit', 'src/a.py', 'os._exit(0)'],
    ['sys.exit', 'src/a.py', 'sys.exit()'],
    ['atexit', 'src/a.py', 'atexit.register(os._exit, 0)'],
    ['os.Exit in init', 'a.go', 'func init() {\n\tos.Exit(0)\n}'],
    ['process::exit', 'src/lib.rs', 'std::process::exit(0);'],
    ['System.exit', 'src/main/java/A.java', 'System.exit(0);'],
    ['halt', 'src/main/java/A.java', 'Runtime.getRuntime().halt(0);'],
    ['at_exit', 'lib/a.rb', 'at_exit { exit!(0) }'],
    ['exit of PHP', 'src/A.php', 'exit(0);'],
    ['Environment.Exit', 'src/A.cs', 'Environment.Exit(0);'],
  ] as const
).map(([name, path, lines]) => adding(`ends it all by ${name}`, 'exit-trick', path, lines));

const TEST_EXITS: readonly Trick[] = [
  file(
    'a new test ends it all',
    'exit-trick',
    'test/z.test.js',
    "import test, { after } from 'node:test';\nafter(() => {\n  process.exit(0);\n});\ntest('a', () => {});\n",
  ),
  file(
    'a new test sets the exit code',
    'exit-trick',
    'test/z.test.js',
    "process.on('exit', () => { process.exitCode = 0; });\n",
  ),
  file(
    'a new TestMain runs nothing',
    'exit-trick',
    'main_test.go',
    'package a\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n',
  ),
  file(
    'a new test of pytest ends it all',
    'exit-trick',
    'tests/test_z.py',
    'def test_z():\n    os._exit(0)\n',
  ),
  file(
    'a new test replaces an assertion',
    'assertions-patched',
    'test/z.test.js',
    "import assert from 'node:assert';\nassert.equal = () => {};\n",
  ),
  file('a new test focuses itself', 'test-focused', 'test/z.test.js', "test.only('z', () => {});\n"),
];

const PATCHED: readonly Trick[] = (
  [
    ['assert.equal', 'src/a.js', "const assert = require('assert');\nassert.equal = () => {};"],
    ['assert by another name', 'src/a.js', "import a from 'node:assert/strict';\na.equal = () => {};"],
    ['all of assert', 'src/a.mjs', "import * as a from 'assert';\nReflect.set(a, 'equal', () => {});"],
    ['strict assert', 'src/a.js', "const { strict: s } = require('assert');\ns.deepEqual = () => {};"],
    [
      'assert that is loaded late',
      'src/a.mjs',
      "const a = await import('node:assert');\na.default.equal = () => {};",
    ],
    ['assert where it is loaded', 'src/a.js', "Object.assign(require('assert'), { equal() {} });"],
    [
      'a property of assert',
      'src/a.ts',
      "import a from 'assert';\nObject.defineProperty(a, 'equal', { value() {} });",
    ],
    ['a module of the cache', 'src/a.js', "require.cache[require.resolve('chai')] = { exports: {} };"],
    [
      'expect on another name of the global object',
      'src/a.js',
      'const g = globalThis;\ng.expect = () => {};',
    ],
    ['pytest by another name', 'src/a.py', 'import pytest as p\n\np.raises = fake'],
    [
      'TestCase by another name',
      'src/a.py',
      "from unittest import TestCase as T\n\nsetattr(T, 'assertEqual', fake)",
    ],
    ['the module of pytest by another name', 'src/a.py', "m = sys.modules\nm['pytest'] = fake"],
    ['expect', 'src/a.js', 'globalThis.expect = () => new Proxy({}, {});'],
    ['it', 'src/a.js', 'globalThis.it = () => {};'],
    ['chai', 'src/a.js', "chai.Assertion.overwriteMethod('equal', () => () => {});"],
    ['Object.is', 'src/a.js', 'Object.is = () => true;'],
    ['what all objects have', 'src/a.js', 'Object.prototype.valueOf = () => 3;'],
    ['a matcher of jest', 'src/a.js', 'return { asymmetricMatch: () => true };'],
    ['process.exit itself', 'src/a.js', 'process.exit = () => {};'],
    ['the output of the reporter', 'src/a.js', 'process.stdout.write = () => true;'],
    ['the loader of modules', 'src/a.js', 'Module._load = (name) => stubs[name];'],
    ['TestCase.assertEqual', 'src/a.py', 'unittest.TestCase.assertEqual = lambda *_: None'],
    ['the module of pytest', 'src/a.py', "sys.modules['pytest'] = fake"],
    ['equality in Python', 'src/a.py', 'class Any:\n    def __eq__(self, other):\n        return True'],
    ['equality in Java', 'src/main/java/A.java', 'public boolean equals(Object o) { return true; }'],
    ['equality in Rust', 'src/lib.rs', 'fn eq(&self, _: &Self) -> bool { true }'],
    ['a macro of Rust', 'src/lib.rs', 'macro_rules! assert_eq { ($($x:tt)*) => {}; }'],
    ['a macro of C', 'src/a.h', '#define ASSERT_EQ(a, b)'],
    ['Minitest', 'lib/a.rb', 'Minitest::Assertions.class_eval { def assert_equal(*) = true }'],
  ] as const
).map(([name, path, lines]) => adding(`replaces ${name}`, 'assertions-patched', path, lines));

const GIT: readonly Trick[] = (
  [
    ['-diff', 'src/*.ts -diff'],
    ['binary', 'src/add.ts binary'],
    ['generated', 'src/** linguist-generated=true'],
    ['left out', 'test export-ignore'],
    ['a filter', '*.ts filter=strip'],
    ['a merge driver', '*.ts merge=ours'],
    ['another encoding', '*.ts working-tree-encoding=UTF-16'],
    ['a driver for diffs', '*.js diff=none'],
    ['a macro', '[attr]quiet -diff'],
  ] as const
).map(([name, line]) => file(`.gitattributes: ${name}`, 'attributes', '.gitattributes', `${line}\n`));

const IGNORED: readonly Trick[] = [
  file('.gitignore: the tests', 'files-ignored', '.gitignore', 'test/\n', { 'test/a.test.ts': VITEST }),
  file('.gitignore: by their names', 'files-ignored', '.gitignore', '*.test.ts\n'),
  file('.gitignore: one of them', 'files-ignored', '.gitignore', '/src/add.spec.js\n', {
    'src/add.spec.js': 'x\n',
  }),
];

export const TRICKS_ELSEWHERE: readonly Trick[] = [
  ...FILES,
  ...RUNNER,
  ...DETECTED,
  ...EXITS,
  ...TEST_EXITS,
  ...PATCHED,
  ...GIT,
  ...IGNORED,
];
