import { type Mark, mark, STARTED } from './finding.ts';

export type { Mark } from './finding.ts';

const exit = mark('exit-trick');
const NOT_A_FAILURE = String.raw`(?!\s*\(\s*[1-9]\d*\s*\))`;

/** Ends the process in a way that a test runner takes for success; an exit with another code cannot fake one. */
export const EXITS: readonly Mark[] = [
  exit(
    'ends the process (`process.exit`)',
    new RegExp(
      String.raw`\bprocess\s*(?:\.|\?\.|\[\s*['"\`])\s*(?:exit|reallyExit)\b(?!Code)${NOT_A_FAILURE}`,
    ),
    ['js'],
  ),
  exit(
    'takes `exit` out of `process`',
    /\{[^}]{0,200}\bexit\b[^}]{0,200}\}\s*(?:=\s*(?:globalThis\.|global\.)?process\b|=\s*require\(\s*['"](?:node:)?process|from\s*['"](?:node:)?process['"])/,
    ['js'],
  ),
  exit(
    'reaches into `process` by a name that is put together',
    /\bprocess\s*\[\s*(?!['"`][\w.-]+['"`]\s*\])[^\]]/,
    ['js'],
  ),
  exit('ends the process (`Deno.exit`)', /\bDeno\.exit\s*\(\s*0?\s*\)/, ['js']),
  exit(
    'sets the exit code',
    /\bprocess\s*(?:\.|\[\s*['"`])\s*exitCode\b['"`\]]*\s*(?:&&|\?\?|\|\|)?=\s*(?:0|undefined|null|void 0)\b|\bdefineProperty\s*\(\s*process\s*,\s*['"`](?:exit|exitCode|reallyExit)\b/,
    ['js'],
  ),
  exit(
    'kills the process',
    /\bprocess\.kill\s*\(\s*process\.p?pid\b|\bprocess\.abort\s*\(|\bos\.kill\s*\(\s*os\.getp?pid\b|\bProcess\.kill\b.*\$\$|\bposix_kill\s*\(\s*getmypid/,
  ),
  exit(
    'acts on the exit of the process',
    /\bprocess\.(?:on|once|prependListener|addListener)\s*\(\s*['"`](?:exit|beforeExit)['"`][\s\S]{0,300}\b(?:exitCode\s*=|process\.(?:exit|reallyExit)|kill\b)|\bprocess\.removeAllListeners\s*\(/,
    ['js'],
  ),
  exit(
    'ends the process (`sys.exit`, `os._exit`)',
    new RegExp(
      String.raw`\b(?:sys\.exit|os\._exit)\b${NOT_A_FAILURE}|\bSystemExit\b${NOT_A_FAILURE}|^\s*(?:exit|quit)\(\s*0?\s*\)|\bpytest\.exit\s*\(|\bfrom\s+os\s+import\s+.*\b_exit\b|\bgetattr\(\s*(?:os|sys)\s*,\s*(?:['\"]_?exit|['\"]\w*['\"]\s*\+)`,
    ),
    ['python'],
  ),
  exit(
    'acts on the exit of the process',
    /\batexit\.register\b[\s\S]{0,200}\b_exit\b|\b_exit\b[\s\S]{0,200}\batexit\.register\b|\bpytest_sessionfinish\b|\bsession\.exitstatus\s*=/,
    ['python'],
  ),
  exit('ends the process', /\b(?:os|syscall)\.Exit\(\s*0\s*\)|\bruntime\.Goexit\(\)/, ['go']),
  exit('ends the process', /\bprocess::exit\(\s*0|\blibc::_?exit\(\s*0|\bExitCode::SUCCESS\.exit_process/, [
    'rust',
  ]),
  exit(
    'ends the process',
    /\bSystem\.exit\(\s*0|\bRuntime\.getRuntime\(\)\.(?:halt|exit)\(|\bexitProcess\(\s*0/,
    ['jvm'],
  ),
  exit(
    'ends the process',
    /\bEnvironment\.(?:Exit\(\s*0|ExitCode\s*=\s*0|FailFast)|^\s*exit\(\s*(?:0|EXIT_SUCCESS)\s*\)/,
    ['dotnet'],
  ),
  exit(
    'ends the process',
    /^\s*(?:Kernel\.|Process\.)?exit!?(?:\s*\(?\s*(?:0|true)\s*\)?)?\s*(?:(?:if|unless)\b.*)?$|\bat_exit\b[\s\S]{0,200}\bexit\b/,
    ['ruby'],
  ),
  exit(
    'ends the process',
    /\b(?:exit|die)\s*\(\s*0?\s*\)\s*;|\bregister_shutdown_function\b[\s\S]{0,200}\bexit\b/,
    ['php'],
  ),
  exit('ends the process', /\b(?:_exit|_Exit|quick_exit|exit)\s*\(\s*(?:0|EXIT_SUCCESS)\s*\)/, ['c']),
];

const detects = mark('environment-detected');
const TEST_WORD =
  '(?:pytest|unittest|nose|jest|vitest|mocha|jasmine|junit|rspec|minitest|phpunit|xunit|nunit|(?<![a-z])(?:tests?|specs?)(?![a-z]))';

/** Asks whether it is being tested. */
export const DETECTION: readonly Mark[] = [
  detects(
    "asks for Node's test runner (`NODE_TEST_CONTEXT`)",
    /\bNODE_TEST_(?:CONTEXT|WORKER_ID)\b/,
    undefined,
    true,
  ),
  detects(
    'asks for vitest (`VITEST`)',
    /\bVITEST(?:_[A-Z_]+)?\b|\b__vitest_\w+|\bimport\.meta\.vitest\b/,
    undefined,
    true,
  ),
  detects(
    'asks for jest (`JEST_WORKER_ID`)',
    /\bJEST_WORKER_ID\b|\btypeof\s+jest\b|\b(?:globalThis|global|window)(?:\.|\?\.|\[['"])jest\b/,
    undefined,
    true,
  ),
  detects(
    'asks for the words of a test runner',
    /\btypeof\s+(?:globalThis\.|global\.|window\.)?(?:it|describe|expect|test|suite|beforeEach|afterEach|vi|mocha|jasmine|QUnit|Cypress)\b|\b(?:globalThis|global|window)(?:\.|\?\.)(?:it|describe|expect|beforeEach|afterEach|vi|mocha|jasmine|Mocha|Cypress|__karma__|QUnit)\b(?!\s*=[^=])|['"`](?:it|describe|expect|vi|__karma__|jasmine|Cypress)['"`]\s+in\s+(?:globalThis|global|window)/,
    ['js'],
    true,
  ),
  detects(
    'asks for pytest',
    /\bPYTEST_(?:CURRENT_TEST|XDIST_\w+|VERSION|ADDOPTS)\b|['"]_?(?:pytest|unittest|nose)['"]\s+(?:not\s+)?in\s+(?:sys\.modules|globals\(\))|sys\.modules(?:\.get\(|\[)\s*['"]_?(?:pytest|unittest)|_called_from_test|find_spec\(\s*['"]pytest/,
    undefined,
    true,
  ),
  detects(
    'asks whether the environment is a test',
    /\b(?:NODE_ENV|BABEL_ENV|APP_ENV|RAILS_ENV|RACK_ENV|MIX_ENV|DJANGO_ENV|FLASK_ENV|GO_ENV|ENVIRONMENT)\b['"\]).]*(?:,\s*['"][^'"]*['"]\s*\))?\s*[!=]==?\s*['"`]tests?(?:ing)?['"`]|['"`]tests?(?:ing)?['"`]\s*[!=]==?\s*[\w.[\]'"]*\b(?:NODE_ENV|BABEL_ENV|APP_ENV|RAILS_ENV|RACK_ENV)\b|\b(?:NODE|BABEL|APP|RAILS|RACK)_ENV\b[^\n]{0,20}\.(?:startsWith|includes|match|indexOf)\(\s*['"`/]tests?|['"`]tests?['"`][^\n]{0,20}\]\s*\.(?:includes|indexOf)\([^\n]{0,40}\b(?:NODE|BABEL|APP)_ENV\b|\bswitch\s*\([^\n]{0,40}_ENV\b[\s\S]{0,120}\bcase\s+['"`]test|\bRails\.env\.test\?|\brunningUnitTests\s*\(|\bMix\.env\(?\)?\s*==\s*:test/,
    undefined,
    true,
  ),
  detects(
    'asks whether it runs in CI (`CI`)',
    /\benv(?:iron)?(?:\.|\[\s*['"`]|\.get\(\s*['"`])(?:CI|GITHUB_ACTIONS|GITLAB_CI|TRAVIS|JENKINS_URL|BUILDKITE|CIRCLECI)\b|\b[gG]etenv\(\s*['"](?:CI|GITHUB_ACTIONS)['"]|\benv::var\(\s*"(?:CI|GITHUB_ACTIONS)"|\bENV(?:\.fetch\(|\[)\s*['"](?:CI|GITHUB_ACTIONS)['"]|\boption_env!\(\s*"CI"|\benv\s*\{[^}]*\bCI\b/,
    undefined,
    true,
  ),
  detects(
    'asks by which script it was started',
    /\bnpm_lifecycle_(?:event|script)\b|\bTOX_ENV_NAME\b|\bCARGO_TARGET_TMPDIR\b|\bRUST_TEST_THREADS\b|\bXCTestConfigurationFilePath\b/,
    undefined,
    true,
  ),
  detects(
    'asks whether it is a test binary',
    /\btesting\.(?:Testing|Short|CoverMode)\(\)|\bflag\.(?:Lookup|Set)\(\s*"test\.|os\.Args\[0\][\s\S]{0,60}(?:\.test|_test|\/test)/,
    ['go'],
  ),
  detects(
    'asks whether it is a test binary',
    /\bcfg!\(\s*(?:not\(\s*)?test\b|#!?\[cfg\(\s*not\(\s*test\b|#\[cfg\(test\)\]\s*(?!\s|(?:pub(?:\([^)]*\))?\s+)?(?:mod|use|impl|fn|struct|enum|const|static|trait|type|macro_rules|unsafe|async|extern)\b|#|\/\/|$)|thread::current\(\)[\s\S]{0,80}\btests?\b|current_exe\(\)[\s\S]{0,120}\bdeps\b/,
    ['rust'],
  ),
  detects(
    STARTED,
    new RegExp(
      String.raw`(?:\b(?:process\.(?:argv|execArgv|mainModule|title)|require\.(?:cache|main\b(?!\s*[!=]==?\s*module))|module\.parent|sys\.(?:argv|orig_argv))|\$(?:PROGRAM_NAME|0)\b|\$_SERVER\[\s*['"]argv)[\s\S]{0,120}['"\`/][^'"\`\n]{0,80}${TEST_WORD}`,
    ),
    ['js', 'python', 'ruby', 'php'],
  ),
  detects(
    'looks for tests on the call stack',
    new RegExp(
      String.raw`(?:\.stack\b|\bprepareStackTrace\b|\bgetCallSites?\b|\binspect\.(?:stack|currentframe|getouterframes)\b|\bsys\._getframe\b|\btraceback\.(?:extract_stack|format_stack)\b|\bgetStackTrace\(\)|\bStackWalker\b|\bruntime\.Callers?\b|\bdebug_backtrace\b|\bnew\s+StackTrace\b|\bcaller(?:_locations)?\b)[\s\S]{0,250}['"\`/][^'"\`\n]{0,80}${TEST_WORD}`,
      'i',
    ),
    ['js', 'python', 'jvm', 'go', 'php', 'dotnet', 'ruby'],
  ),
  detects(
    'looks for tests where it was started or called',
    new RegExp(
      String.raw`['"][^'"\n]{0,80}${TEST_WORD}[^'"\n]{0,80}['"][\s\S]{0,80}\bin\s+(?:sys\.(?:orig_)?argv|inspect\.stack|traceback\.extract_stack|process\.(?:argv|execArgv))`,
    ),
    ['python', 'js'],
    true,
  ),
  detects(
    'asks for a test framework',
    /\bdefined\?\s*\(?\s*(?:RSpec|Minitest|Test::Unit)\b|\bdefined\(\s*['"]PHPUNIT_\w+|\bclass_exists\(\s*['"]\\*PHPUnit|\bClass\.forName\(\s*"org\.(?:junit|testng)|"surefire\.|\$\$jest-matchers|\bSymbol\.for\(\s*['"](?:jest|vitest)|\bNSClassFromString\(\s*"XCTest|\bGetAssemblies\(\)[\s\S]{0,200}(?:xunit|nunit|testhost)/i,
    undefined,
    true,
  ),
];

const patches = mark('assertions-patched');
const TEST_WORDS =
  'it|test|describe|expect|assert|suite|before|after|beforeEach|afterEach|beforeAll|afterAll';

/** Assertions or test runners are replaced; in tests too. */
export const PATCHED_ASSERTIONS: readonly Mark[] = [
  patches(
    'replaces functions of an assertion library',
    /(?<![\w$.])(?:assert(?:\.strict)?|expect|chai(?:\.\w+)?|sinon\.assert)(?:\.\w+|\[[^\]]{1,60}\])\s*=(?![=>])|\b(?:overwriteMethod|overwriteProperty|overwriteChainableMethod)\s*\(|\bdefineProperty\s*\(\s*(?:assert|expect|chai)\b|\bObject\.assign\s*\(\s*(?:assert|expect|chai)\b/,
    ['js'],
  ),
  patches(
    'replaces the words of the test runner',
    new RegExp(
      String.raw`(?<![\w$.])(?:globalThis|global|window|self)\s*(?:\.\s*|\[\s*['"\`])(?:${TEST_WORDS})\b['"\`\]\s]*=(?![=>])|\bdefineProperty\s*\(\s*(?:globalThis|global|window)\s*,\s*['"\`](?:${TEST_WORDS})\b`,
    ),
    ['js'],
  ),
  patches(
    'replaces what comparisons rest on',
    /\bObject\.is\s*=(?![=>])|\bisDeepStrictEqual\s*=(?![=>])|\basymmetricMatch\b|\bSymbol\.for\(\s*['"]jest\.asymmetricMatcher/,
    ['js'],
  ),
  patches(
    'replaces functions of a test library',
    /\b(?:pytest|_pytest(?:\.\w+)*|unittest(?:\.\w+)*|TestCase|(?:np|numpy)\.testing)\.\w+\s*=(?!=)|\bsetattr\(\s*(?:pytest|_pytest|unittest|builtins|TestCase)\b|\bsys\.modules\[\s*['"]_?(?:pytest|unittest|builtins|numpy)\w*['"]\s*\]\s*=|\bbuiltins\.\w+\s*=(?!=)|\b__builtins__\[/,
    ['python'],
  ),
  patches('defines assertions anew', /\bmacro_rules!\s*(?:assert\w*|debug_assert\w*|panic)\b/, ['rust']),
  patches(
    'defines assertions anew',
    /^\s*#\s*define\s+(?:assert|ASSERT|EXPECT|CHECK|REQUIRE|TEST)\w*|^\s*#\s*(?:define\s+NDEBUG|undef\s+assert)\b/,
    ['c'],
  ),
  patches(
    'reopens the test library',
    /^\s*(?:module|class)\s+(?:RSpec|Minitest|Test::Unit)\b|\b(?:RSpec|Minitest|Test::Unit)[\w:]*\.(?:class_eval|module_eval|prepend|define_method|send)\b/,
    ['ruby'],
  ),
  patches(
    'takes the name of a test library',
    /^\s*(?:package|namespace)\s+(?:org\.(?:junit|assertj|hamcrest|testng|mockito)|Xunit|NUnit|PHPUnit)\b|\bclass_alias\([^)]*PHPUnit/,
    ['jvm', 'dotnet', 'php'],
  ),
];

const BUILT_IN =
  'Object|Function|Error|Promise|RegExp|Map|Set|Array|String|Number|Boolean|Symbol|Date|AssertionError';

/** What tests rest on is replaced; tests do so themselves, to fake things. */
export const PATCHED_GROUND: readonly Mark[] = [
  patches(
    'replaces a built-in function',
    new RegExp(
      String.raw`(?<!\?\?)\b(?:${BUILT_IN})\.prototype(?:\.\w+|\[[^\]]{1,60}\])\s*=(?![=>])|\b(?:defineProperty|assign|setPrototypeOf)\s*\(\s*(?:Object|Function|Error|AssertionError)\.prototype\b|\b__proto__\s*=(?![=>])|\b(?:JSON|Math|Reflect|Number|Object)\.\w+\s*=(?![=>])`,
    ),
    ['js'],
  ),
  patches(
    'replaces functions of `process` or its output',
    /\bprocess\.(?:exit|emit|on|once|send|reallyExit|stdout|stderr|stdout\.write|stderr\.write)\s*=(?![=>])|\bdefineProperty\s*\(\s*process\b/,
    ['js'],
  ),
  patches(
    'changes how modules are loaded',
    /\bModule\._(?:load|resolveFilename|extensions|compile)\b|\bModule\.prototype\.(?:require|_compile)\b|\brequire\.extensions\b|\brequire\.cache\[[^\]]+\]\s*=|\bregisterHooks\s*\(|\bmodule\.register\s*\(|\bsys\.meta_path\b|\bsys\.path_hooks\b|\bbuiltins\.__import__\b|\bsys\.(?:settrace|setprofile)\s*\(/,
    ['js', 'python'],
  ),
  patches(
    'makes things equal to everything',
    /\bdef\s+__eq__\s*\([^)]*\)[^:]{0,40}:\s*return\s+True\b|\bdef\s+==\s*\(?\s*\w*\s*\)?\s*;?\s*true\b|\bboolean\s+equals\s*\([^)]*\)\s*\{\s*return\s+true\s*;|\bbool\s+Equals\s*\([^)]*\)\s*(?:=>\s*true|\{\s*return\s+true)|\bfn\s+eq\s*\(\s*&self[^)]*\)\s*->\s*bool\s*\{\s*(?:return\s+)?true\s*;?\s*\}|\bfun\s+equals\s*\([^)]*\)\s*(?::\s*Boolean\s*)?=\s*true|\bstatic\s+func\s+==\s*\([^)]*\)\s*->\s*Bool\s*\{\s*(?:return\s+)?true/,
  ),
];

/** Ends the whole run from inside of a test, as a statement of its own. */
export const TEST_EXITS: readonly Mark[] = [
  exit(
    'ends the process',
    /(?:^|[{;]|=>)\s*(?:await\s+)?(?:process\.(?:exit|reallyExit)\s*\(\s*0?\s*\)|Deno\.exit\(\s*0?\s*\))/,
    ['js'],
  ),
  exit(
    'acts on the exit of the process',
    /\bprocess\.(?:on|once|prependListener|addListener)\s*\(\s*['"`](?:exit|beforeExit)['"`][\s\S]{0,300}\b(?:exitCode\s*=|process\.(?:exit|reallyExit)|kill\b)/,
    ['js'],
  ),
  exit(
    'ends the process',
    /\bos\._exit\s*\(\s*0?\s*\)|^\s*(?:sys\.)?exit\(\s*0?\s*\)|\bpytest\.exit\s*\(|\batexit\.register\s*\([^)]*_exit/,
    ['python'],
  ),
  exit('ends the process', /^\s*(?:os|syscall)\.Exit\(\s*0\s*\)|\bdefer\s+os\.Exit\(\s*0/, ['go']),
  exit('ends the process', /\bprocess::exit\(\s*0/, ['rust']),
  exit('ends the process', /^\s*System\.exit\(\s*0|\bgetRuntime\(\)\.halt\(\s*0/, ['jvm']),
  exit(
    'ends the process',
    /^\s*(?:Kernel\.)?exit!?\s*(?:\(?\s*(?:0|true)\s*\)?)?\s*$|\bat_exit\b[\s\S]{0,200}\bexit!?\b/,
    ['ruby'],
  ),
  exit('ends the process', /^\s*(?:exit|die)\s*(?:\(\s*0?\s*\))?\s*;|\bregister_shutdown_function\b/, [
    'php',
  ]),
  exit('ends the process', /\bEnvironment\.Exit\(\s*0/, ['dotnet']),
  exit('ends the process', /^\s*(?:_exit|_Exit|quick_exit|exit)\s*\(\s*(?:0|EXIT_SUCCESS)\s*\)/, ['c']),
];
