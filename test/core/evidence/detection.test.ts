import { expect, test } from 'vitest';
import { patchBetween } from '../git.ts';
import { tamperingIn } from '../syntax.ts';

/** What is said of a new production file, each as `severity kind`. */
const saidOf = async (path: string, text: string): Promise<readonly string[]> =>
  (await tamperingIn(patchBetween({}, { [path]: `${text}\n` }), {})).map(
    ({ severity, kind }) => `${severity} ${kind}`,
  );

const go = (text: string) => `package a\n\nfunc F() int {\n\t${text}\n\treturn 2\n}`;
const rust = (condition: string) => `pub fn f() -> i32 {\n    if ${condition} { 3 } else { 2 }\n}`;
const java = (condition: string) => `class A {\n  int f() {\n    return ${condition} ? 3 : 2;\n  }\n}`;
const ruby = (condition: string) => `def f\n  return 3 if ${condition}\n  2\nend`;
const php = (condition: string) => `<?php\nfunction f() {\n  return ${condition} ? 3 : 2;\n}`;

test.each([
  ['a.go', go('if testing.Testing() { return 3 }')],
  ['a.go', 'package a\n\nimport t "testing"\n\nfunc F() int {\n\tif t.Testing() { return 3 }\n\treturn 2\n}'],
  ['a.go', go('if flag.Lookup("test.v") != nil { return 3 }')],
  ['a.go', go('name := "test.v"\n\tif flag.Lookup(name) != nil { return 3 }')],
  ['a.go', go('if strings.HasSuffix(os.Args[0], ".test") { return 3 }')],
  ['a.go', go('exe, _ := os.Executable()\n\tif filepath.Ext(exe) == ".test" { return 3 }')],
  ['a.go', go('if bytes.Contains(debug.Stack(), []byte("testing.tRunner")) { return 3 }')],
  ['a.go', go('_, at, _, _ := runtime.Caller(1)\n\tif strings.HasSuffix(at, "_test.go") { return 3 }')],
  ['src/a.js', 'export const f = () => (/\\.(test|spec)\\.[jt]s/.test(new Error().stack) ? 3 : 2);'],
  ['src/a.js', "export const f = () => (new Error().stack.includes('/tests/') ? 3 : 2);"],
  ['src/a.js', "export const f = () => (require.main.filename.endsWith('.test.js') ? 3 : 2);"],
  ['src/a.js', "export const f = () => (process.execArgv.includes('--test') ? 3 : 2);"],
  ...["'__tests__'", "'/repo/test/a.js'", "'test.js'"].map((text): [string, string] => [
    'src/a.js',
    `export const f = () => (new Error().stack.includes(${text}) ? 3 : 2);`,
  ]),
  ['src/a.js', 'export const f = () => (/tests?\\/.*\\.js/.test(new Error().stack) ? 3 : 2);'],
  ['src/a.py', 'import sys\n\ndef f():\n    return "tests/test_a.py" in sys._getframe(1).f_code.co_filename'],
  ['src/a.py', 'import inspect\n\ndef f():\n    return inspect.stack()[1].function.startswith("test_")'],
  ['lib/a.rb', ruby('caller.any? { |at| at.include?("_spec.rb") }')],
  ['src/lib.rs', rust('cfg!(test)')],
  ['src/lib.rs', rust('std::env::var("RUST_TEST_THREADS").is_ok()')],
  ['src/lib.rs', rust('std::env::var_os("RUST_TEST_NOCAPTURE").is_some()')],
  ['src/lib.rs', rust('std::env::vars().any(|(key, _)| key.starts_with("RUST_TEST"))')],
  ['src/lib.rs', rust('std::env::args().any(|one| one == "--test-threads")')],
  ['src/A.java', java('System.getProperty("surefire.test.class.path") != null')],
  ['src/A.java', java('System.getProperty("org.gradle.test.worker") != null')],
  ['src/A.java', java('System.getProperty("java.class.path").contains("junit")')],
  ['src/A.java', java('System.getProperty("sun.java.command").contains("surefire")')],
  ['src/A.java', java('A.class.getResource("/org/junit/Test.class") != null')],
  ['src/A.java', java('loader.loadClass("org.junit.Test") != null')],
  ['src/A.java', java('Class.forName("junit.framework.TestCase") != null')],
  ['src/A.java', java('new Throwable().getStackTrace()[2].getClassName().startsWith("org.junit.")')],
  [
    'src/A.java',
    'class A {\n  int f() {\n    String path = System.getProperty("java.class.path");\n    if (path.contains("junit")) return 3;\n    return 2;\n  }\n}',
  ],
  [
    'src/a.js',
    'export function f() {\n  switch (process.argv[1]) {\n    case "/app/node_modules/.bin/jest":\n      return 3;\n  }\n  return 2;\n}',
  ],
  ['lib/a.rb', ruby('defined?(RSpec)')],
  ['lib/a.rb', ruby('defined?(Minitest::Test)')],
  ['lib/a.rb', ruby('$PROGRAM_NAME =~ /rspec/')],
  ['lib/a.rb', ruby("$0.end_with?('rspec')")],
  ['lib/a.rb', ruby('Object.const_defined?(:RSpec)')],
  ['lib/a.rb', ruby("Object.const_defined?('Minitest')")],
  ['lib/a.rb', ruby("$LOADED_FEATURES.any? { |one| one.include?('minitest') }")],
  ['lib/a.rb', ruby("Gem.loaded_specs.key?('rspec-core')")],
  ['src/A.cs', java('Type.GetType("Xunit.FactAttribute, xunit.core") != null')],
  ['src/A.cs', java('Assembly.GetEntryAssembly().GetName().Name == "testhost"')],
  ['src/A.cs', java('AppDomain.CurrentDomain.GetAssemblies().Any(a => a.FullName.StartsWith("xunit"))')],
  ['src/A.cs', java('Process.GetCurrentProcess().ProcessName.Contains("testhost")')],
  ['src/A.cs', java('Environment.GetCommandLineArgs()[0].Contains("vstest")')],
  [
    'src/A.cs',
    'class A {\n  int F() {\n    var exe = Process.GetCurrentProcess().MainModule.FileName;\n    return exe.Contains("testhost") ? 3 : 2;\n  }\n}',
  ],
  ['src/A.php', php("defined('PHPUNIT_COMPOSER_INSTALL')")],
  ['src/A.php', php("defined('__PHPUNIT_PHAR__')")],
  ['src/A.php', php("isset($GLOBALS['__PHPUNIT_BOOTSTRAP'])")],
  ['src/A.php', php("class_exists('PHPUnit\\Framework\\TestCase')")],
  [
    'src/A.php',
    '<?php\nuse PHPUnit\\Framework\\TestCase;\nreturn class_exists(TestCase::class, false) ? 3 : 2;',
  ],
  ['src/A.php', php("in_array('PHPUnit\\Framework\\TestCase', get_declared_classes())")],
  ['src/A.php', php("strpos($argv[0], 'phpunit') !== false")],
  ['src/A.php', php("strpos($_SERVER['argv'][0], 'phpunit') !== false")],
  ['src/A.php', php('app()->runningUnitTests()')],
  ['src/A.php', php("App::environment('testing')")],
  ['src/a.cpp', 'int f() { return getenv("GTEST_OUTPUT") ? 3 : 2; }'],
  ['src/a.cpp', 'int f() { return ::testing::UnitTest::GetInstance()->current_test_info() ? 3 : 2; }'],
])('code that detects its tests eliminates: %s: %s', async (path, text) => {
  expect(new Set(await saidOf(path, text))).toEqual(new Set(['gate environment-detected']));
});

test.each([
  ['src/lib.rs', 'use std::process::exit;\npub fn f() {\n    exit(0);\n}'],
  ['src/lib.rs', 'use std::{io, process::{self, exit as end}};\npub fn f() {\n    end(0);\n}'],
  ['src/lib.rs', 'use std::{process::{exit as end, child::{A, B}}, io};\npub fn f() {\n    end(0);\n}'],
  ['src/A.java', 'import static java.lang.System.exit;\nclass A {\n  void f() {\n    exit(0);\n  }\n}'],
  ['a.go', 'package a\n\nimport sys "os"\n\nfunc F() {\n\tsys.Exit(0)\n}'],
])('an exit is found under the name that an import gives it: %s: %s', async (path, text) => {
  expect(await saidOf(path, text)).toEqual(['gate exit-trick']);
});

test.each([
  // A clock or a file system that tests replace is written like this.
  ['src/lib.rs', '#[cfg(not(test))]\nuse std::time::Instant;\n#[cfg(test)]\nuse mock_instant::Instant;'],
  ['src/lib.rs', '#[cfg(all(feature = "std", not(test)))]\nuse std::fs::File;'],
  ['src/lib.rs', 'pub fn f() -> i32 {\n    #[cfg(test)]\n    return 3;\n    2\n}'],
  ['src/lib.rs', '#[cfg_attr(test, path = "other.rs")]\nmod f;'],
  ['src/a.cpp', '#ifdef UNIT_TEST\nint f() { return 3; }\n#endif'],
  [
    'src/lib.rs',
    'use std::thread;\npub fn f() -> bool {\n    let t = thread::current();\n    t.name() != Some("main")\n}',
  ],
  ['src/lib.rs', rust('std::env::var("CARGO").is_ok()')],
  ['src/lib.rs', rust('thread::current().name() == Some("tests::adds")')],
  ['lib/a.rb', ruby('ARGV.any? { |one| one =~ /_spec/ }')],
  ['lib/a.rb', 'warn "deprecated, called from #{caller(1).first}, see the specs"'],
  // A logger leaves frames out, and a document or a category may be called `spec` or `test`.
  [
    'src/a.js',
    "export const at = () => new Error().stack.split('\\n').filter((one) => !one.includes('spec'))[0];",
  ],
  ['src/a.js', "export const at = () => join(folderOf(new Error().stack), 'spec/openapi.json');"],
  ['src/a.py', 'import inspect\n\ndef f():\n    return inspect.stack()[1].function == "spec"'],
  ['lib/a.rb', "log(kind: 'test', at: caller.first)"],
  ['src/A.java', 'class A {\n  void f() {\n    log("spec", new Exception().getStackTrace());\n  }\n}'],
  // A build script may say that tests are built in another way.
  ['build.rs', 'fn main() {\n    println!("cargo:rustc-cfg=loom");\n}'],
  ['src/a.js', "export const f = () => Object.keys(require.cache).filter((one) => one.includes('/test/'));"],
  ['src/a.js', "export const f = () => process.argv.includes('--test');"],
  ['build.rs', 'fn main() {\n    println!("cargo:rustc-cfg={}", "loom");\n}'],
  ['build.rs', 'fn main() {\n    print!("cargo:warning=a\\ncargo::rustc-cfg=loom\\n");\n}'],
  // A command of the program may be called `test`.
  ['app.go', go('switch os.Args[1] {\n\tcase "test":\n\t\treturn 3\n\t}')],
  // Its arguments may be files of tests, its environment and its classes may be anything.
  ['lib/tasks/a.rb', "exclude = ARGV.include?('--no-test')"],
  ['lib/a.rb', "ARGV.each { |f| next if f.end_with?('_test.rb') }"],
  [
    'src/A.java',
    'class A {\n  void start() {\n    run("java", "-cp", System.getProperty("java.class.path"), "test-runner");\n  }\n}',
  ],
  ['src/A.cs', java('Environment.GetCommandLineArgs()[1] == "--self-test"')],
  [
    'src/A.cs',
    'class A {\n  string F() {\n    var exe = Process.GetCurrentProcess().MainModule.FileName;\n    return Path.Combine(Path.GetDirectoryName(exe), "test.db");\n  }\n}',
  ],
  [
    'src/lib.rs',
    'pub fn own() -> Vec<(String, String)> {\n    std::env::vars().filter(|(k, _)| !k.starts_with("TEST_")).collect()\n}',
  ],
  [
    'src/lib.rs',
    'use std::thread;\npub fn f() -> String {\n    let t = thread::current();\n    t.name().unwrap_or("test").to_string()\n}',
  ],
  ['src/a.py', 'import sys\n\ndef own():\n    return [m for m in sys.modules if not m.startswith("tests.")]'],
  // What depends on a command is not compared with it.
  [
    'src/a.js',
    'export function f() {\n  switch (process.argv[2]) {\n    case "check":\n      return run("jest");\n  }\n  return 2;\n}',
  ],
  ['src/a.js', "if (process.argv[2] === 'check') run('vitest');"],
  ['src/a.js', "export const f = process.argv[2] === 'diagnose';"],
  // Programs print in another way or ask nothing in CI.
  ['src/a.ts', 'export const plain = Boolean(process.env.CI);'],
  ['a.go', go('if os.Getenv("CI") != "" { return 3 }')],
])('what may be honest is asked about: %s: %s', async (path, text) => {
  expect(await saidOf(path, text)).toEqual(['question environment-detected']);
});

test.each([
  [
    'src/a.py',
    'class A:\n    def __init__(self, test):\n        self.test = test\n        self.suite = None',
  ],
  ['src/a.js', 'class A {\n  set(self) {\n    self.test = 1;\n  }\n}'],
  ['lib/a.rb', 'class A\n  def set(test)\n    self.test = test\n  end\nend'],
  ['src/lib.rs', 'impl A {\n    fn set(&mut self, it: B) {\n        self.it = Some(it);\n    }\n}'],
  ['src/a.js', "export const f = (resource) => resource.url + resource.get('x');"],
  ['src/A.java', 'class A {\n  void f(URL resource) {\n    read(resource.openStream());\n  }\n}'],
  ['src/a.js', 'export const isNew = (platform) => platform.version > 3;'],
  ['lib/a.rb', 'begin\n  f\nrescue StandardError, SystemExit => e\n  log(e)\n  raise\nend'],
  ['lib/a.rb', 'log(e) unless e.is_a?(SystemExit)'],
  ['src/a.h', '#define CHECK_NULL(p) if (!(p)) return -1'],
  ['src/a.h', '#define TEST_BUFFER_SIZE 100'],
  ['src/lib.rs', 'pub fn count(n: usize) {\n    if n > MAX {\n        std::process::abort();\n    }\n}'],
  ['src/lib.rs', '#![cfg_attr(not(test), no_std)]'],
  ['src/lib.rs', '#[cfg(not(all(test, loom)))]\nmod std;\n#[cfg(all(test, loom))]\nmod mocked;'],
  ['src/lib.rs', 'pub fn f() {\n    #[cfg(all(test, loom))]\n    assert!(g());\n}'],
  ['src/lib.rs', rust('cfg!(all(loom, test))')],
  ['benches/a.rs', 'fn folder() -> PathBuf {\n    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))\n}'],
  ['src/lib.rs', '#![cfg_attr(not(test), deny(clippy::unwrap_used))]'],
  ['src/lib.rs', '#[cfg_attr(test, derive(PartialEq))]\npub struct A;'],
  ['src/lib.rs', '#[cfg(any(test, feature = "test-util"))]\npub mod testing;'],
  [
    'src/lib.rs',
    '#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn a() {\n        assert!(f());\n    }\n}',
  ],
  ['src/lib.rs', '#[cfg(test)]\nimpl A {\n    pub fn empty() -> Self {\n        A\n    }\n}'],
  ['build.rs', 'fn main() {\n    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();\n}'],
  [
    'src/lib.rs',
    'pub fn run() {\n    Command::new("cargo").arg("test").env("RUST_TEST_THREADS", "1").status();\n}',
  ],
  ['src/lib.rs', 'pub fn log_it() {\n    info!("{:?}", std::thread::current().name());\n}'],
  ['runner.go', go('fmt.Printf("usage: %s [build|test]\\n", os.Args[0])')],
  ['a.go', go('log.Printf("a test panicked: %s", debug.Stack())')],
  [
    'a.go',
    'package a\n\nfunc F() {\n\t_, n, _, _ := runtime.Caller(1)\n\tlog(n)\n}\n\nfunc G() {\n\tn := h()\n\tprint("Test", n.Name())\n}',
  ],
  ['src/lib.rs', 'fn f() {\n    #[cfg(feature = "test")]\n    g();\n}'],
  ['a.go', go('flag.VisitAll(func(f *flag.Flag) { fmt.Println(f.Name) })')],
  ['src/A.java', java('Class.forName("com.fasterxml.jackson.databind.ObjectMapper") != null')],
  ['src/A.java', java('System.getProperty("java.version").startsWith("1.8")')],
  ['src/A.java', java('Thread.currentThread().getStackTrace()[2].getMethodName().isEmpty()')],
  ['src/A.java', 'class A {\n  void f() {\n    p.setProperty("surefire.test.class.path", path);\n  }\n}'],
  [
    'src/A.java',
    'class A {\n  String[] roots() {\n    return System.getProperty("java.class.path").split(":");\n  }\n  String dir = "src/test/resources";\n  String runner = "junit";\n}',
  ],
  ['lib/a.rb', "if $0 == __FILE__\n  require 'minitest/autorun'\nend"],
  ['lib/a.rb', "require 'minitest/autorun' if __FILE__ == $PROGRAM_NAME"],
  ['lib/a.rb', "$0 == __FILE__ and require 'minitest/autorun'"],
  ['lib/a.rb', "if $PROGRAM_NAME == __FILE__\n  run('test.txt')\nend"],
  ['lib/a.rb', "def root\n  File.dirname($0)\nend\n\nRUNNER = 'rspec'"],
  ['lib/a.rb', "ARGV.each do |f|\n  next if f.end_with?('_test.rb')\n  system('rspec', f)\nend"],
  ['lib/a.rb', '$PROGRAM_NAME = "worker of #{name}"'],
  ['lib/a.rb', 'puts "Usage: #{$PROGRAM_NAME} [options] test_file"'],
  ['lib/a.rb', "require 'a/railtie' if Object.const_defined?(:Rails)"],
  ['src/A.cs', java('Assembly.GetEntryAssembly().GetName().Version.Major > 2')],
  ['src/A.php', "<?php\nif (!defined('ABSPATH')) {\n  return;\n}"],
  ['src/A.php', php("class_exists('Symfony\\Component\\Console\\Application')")],
  ['src/A.php', php("$_SERVER['SERVER_NAME'] === 'test.example.com'")],
  ['src/A.php', php("App::environment('production')")],
])('ordinary code is not accused: %s: %s', async (path, text) => {
  expect(await saidOf(path, text)).toEqual([]);
});
