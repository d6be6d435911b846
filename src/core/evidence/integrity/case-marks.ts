import type { Language } from '../languages.ts';

/** What one language's tests look like. Patterns are tried on single lines of bounded length. */
export interface CaseMarks {
  /** First words of the path of a call that declares a test, `it('name', …)`. */
  readonly calls?: ReadonlySet<string>;
  /** Of these, the ones that declare a group of tests. */
  readonly suites?: ReadonlySet<string>;
  /** A line that declares a test and names it in a group. */
  readonly named?: RegExp;
  /** A mark in front of a test, whose name `method` finds in one of the lines that follow. */
  readonly marked?: RegExp;
  readonly method?: RegExp;
  /** A line that declares a group and names it. */
  readonly group?: RegExp;
  /** Skips a test, or all tests below. */
  readonly skips: RegExp;
  /** An option in a test's head that skips it. */
  readonly skipOption?: RegExp;
  /** Silences other tests: forbidden in new files too. */
  readonly focuses?: RegExp;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const QUOTED = String.raw`(?:'([^'\n]{0,300})'|"([^"\n]{0,300})"|\`([^\`\n]{0,300})\`)`;

const JS: CaseMarks = {
  calls: set(
    'it test specify describe suite context scenario step feature xit xtest xdescribe xcontext xspecify fit ftest fdescribe fcontext Deno.test QUnit.test QUnit.module t.test tap.test st.test tt.test bench',
  ),
  suites: set('describe suite context feature xdescribe xcontext fdescribe fcontext QUnit.module'),
  skips:
    /\b(?:it|test|describe|suite|context|specify|scenario|bench|QUnit|Deno\.test|t\.test)(?:\.[a-zA-Z]{1,20}){0,6}\.(?:skip|skipIf|runIf|todo|only|fails|failing|fixme|ignore)\b|\b(?:xit|xdescribe|xtest|xcontext|xspecify|fit|fdescribe|fcontext)\s*\(|\b(?:t|tt|ctx|this|context|test)\.(?:skip|todo|bailout)\s*\(|^\s*pending\s*\(|\bjest\.(?:autoMockOn|enableAutomock)\s*\(/,
  skipOption: /\b(?:skip|todo|ignore|only|fails|solo)\s*:\s*(?!false\b)/,
  focuses:
    /\b(?:it|test|describe|suite|context|specify|scenario|QUnit|Deno\.test|t\.test)(?:\.[a-zA-Z]{1,20}){0,6}\.only\b|\b(?:fit|fdescribe|fcontext)\s*\(|^\s*(?:it|test|describe|suite)\s*\([^=]{0,300}\bonly\s*:\s*true/,
};

export const CASE_MARKS: Readonly<Record<Language, CaseMarks>> = {
  js: JS,
  python: {
    named: /^\s*(?:async\s+)?def\s+(test\w*)\s*\(/,
    group: /^\s*class\s+(Test\w*|\w*Tests?|\w*TestCase|\w+(?=\([^)]*TestCase))\s*[(:]/,
    skips:
      /@(?:\w{1,40}\.){0,6}(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure|not_?test)\b|\bpytest\.(?:skip|xfail|importorskip)\s*\(|\bself\.skipTest\s*\(|\bSkipTest\b|__test__\s*=\s*False|\bcollect_ignore|\bpytestmark\s*=|\bpytest\.param\([^)]{0,300}marks\s*=\s*[\w.]{0,40}(?:skip|xfail)|^\s*del\s+[tT]est\w*|^[tT]est\w*\s*=\s*(?:None|lambda)|^def\s+load_tests\b/,
  },
  go: {
    named: /^func\s+(?:\([^)]*\)\s*)?((?:Test|Fuzz|Example)\w*)\s*\(/,
    calls: set('t.Run It Describe Context When Specify Convey'),
    suites: set('Describe Context When Convey'),
    skips:
      /\b[tbf]\.Skip(?:Now|f)?\s*\(|^\/\/go:build\b|^\/\/ \+build\b|\b(?:PIt|XIt|PDescribe|XDescribe|PContext|XContext|PWhen|XWhen|SkipConvey)\s*\(|^\s*Skip\s*\(/,
    focuses: /\b(?:FIt|FDescribe|FContext|FWhen|FSpecify|FocusConvey)\s*\(/,
  },
  rust: {
    marked:
      /^\s*#\[(?:\w{1,40}::){0,6}(?:test|rstest|test_case|case|wasm_bindgen_test|quickcheck|proptest|bench)\b/,
    method: /\bfn\s+(\w+)/,
    skips: /#\[ignore\b|#!?\[cfg_attr\([^)]{0,200}\bignore\b|#!?\[cfg\((?!test\))/,
  },
  jvm: {
    marked: /^\s*@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Theory|Property|TestTemplate)\b/,
    method: /\bfun\s+(?:`([^`]{1,200})`|(\w+))|\bdef\s+(?:"([^"]{1,200})"|(\w+))\s*\(|\b(\w+)\s*\([^;=]*$/,
    named: /^\s*(?:public\s+)?(?:void|def)\s+(?:"([^"]{1,200})"|(test\w*))\s*\(/,
    calls: set('it test describe should context given feature scenario expect xit xtest xdescribe'),
    suites: set('describe context given feature xdescribe'),
    skips:
      /@(?:Disabled\w*|Ignore\w*|EnabledIf\w*|EnabledOn\w*|EnabledFor\w*|PendingFeature|Requires)\b|\bassum(?:e|ing)(?:True|False|That|NotNull|NoException)?\s*\(|\b(?:xit|xtest|xdescribe|xcontext|ignore)\s*\(|\benabled\s*=\s*false|\bthrow\s+new\s+(?:SkipException|TestAbortedException|AssumptionViolatedException)/,
    focuses: /["'`]f:/,
  },
  ruby: {
    named: new RegExp(
      `^\\s*(?:x|f)?(?:it|specify|test|scenario|example)\\s*\\(?\\s*${QUOTED}|^\\s*def\\s+(test_\\w+)`,
    ),
    group: new RegExp(
      `^\\s*(?:RSpec\\.)?(?:x|f)?(?:describe|context|feature)\\s*\\(?\\s*(?:${QUOTED}|([\\w:.]+))|^\\s*class\\s+(\\w*Test\\w*)`,
    ),
    skips:
      /^\s*(?:RSpec\.)?(?:skip|pending|xit|xspecify|xexample|xscenario|xfeature|xdescribe|xcontext|omit|fit|fdescribe|fcontext|fspecify)\b|\b(?:skip|pending|focus)(?::\s*(?:true|['"])|\s*=>)|,\s*:(?:skip|pending|focus)\b/,
    focuses:
      /^\s*(?:RSpec\.)?(?:fit|fdescribe|fcontext|fspecify|fexample)\b|\bfocus(?::\s*true|\s*=>\s*true)|,\s*:focus\b/,
  },
  php: {
    named: /\bfunction\s+(test\w*)\s*\(/,
    marked: /^\s*#\[(?:\w+\\)*Test\b/,
    method: /\bfunction\s+(\w+)\s*\(/,
    calls: set('it test describe'),
    suites: set('describe'),
    skips:
      /\bmarkTest(?:Skipped|Incomplete)\s*\(|->(?:skip|todo|only|skipOn\w*)\s*\(|@requires\b|#\[Requires\w*|\b(?:expectNotToPerformAssertions|addToAssertionCount)\s*\(|@doesNotPerformAssertions/,
    focuses: /->only\s*\(/,
  },
  dotnet: {
    marked:
      /^\s*(?:\[(?:\w+\.)*(?:Fact|Theory|Test|TestCase|TestCaseSource|TestMethod|DataTestMethod|SkippableFact)\b|@Test\b)/,
    method: /\b(?:func|void|Task|ValueTask|let)\s+(?:``([^`]{1,200})``|(\w+))\s*[(<]?/,
    named: /\bfunc\s+(test\w*)\s*\(/,
    calls: set('test group testWidgets it describe'),
    suites: set('group describe'),
    skips:
      /\[(?:Ignore|Explicit)\b|\bSkip\s*=|\bXCTSkip|\.disabled\s*\(|\bskip:\s*(?:true|['"])|\bAssert\.(?:Ignore|Inconclusive|Pass)\s*\(|\bSkip\.(?:If|IfNot)\s*\(|\.enabled\s*\(\s*if/,
    focuses: /\bsolo:\s*true/,
  },
  c: {
    calls: set(
      'TEST TEST_F TEST_P TYPED_TEST TEST_CASE SCENARIO SECTION SUBCASE TEST_METHOD BOOST_AUTO_TEST_CASE BOOST_FIXTURE_TEST_CASE START_TEST',
    ),
    suites: set(''),
    named: /^\s*test\s+"([^"]{1,300})"\s*\{/,
    skips:
      /\bGTEST_SKIP\b|\bDISABLED_\w+|error\.SkipZigTest|\bSKIP\s*\(|\[!?\.(?:skip|hide)?\]|\bTEST_IGNORE\w*\s*\(/,
  },
  shell: {
    named: /^\s*(?:@test|test|subtest|it)\s+(?:"([^"]{1,300})"|'([^']{1,300})')/,
    group: /^\s*describe\s+"([^"]{1,300})"/,
    skips:
      /^\s*(?:skip|plan\s+skip_all|done_testing\s*;?\s*exit)\b|@(?:module|describe)?tag\s+:?(?:skip|pending)/,
  },
  prose: { skips: /(?!)/ },
  other: { skips: /(?!)/ },
};
