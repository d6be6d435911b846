import { type Language, languageOf } from './languages.ts';

/** What one language's tests look like, line by line. Callers hand over pieces of bounded length. */
interface Marks {
  readonly declares: RegExp;
  readonly skips: RegExp;
  /** Turns a whole line into a skipped test when it also declares one, e.g. an option of the runner. */
  readonly skipOption?: RegExp;
  /** Silences other tests: forbidden in new files too. */
  readonly focuses?: RegExp;
}

const NEVER = /(?!)/;

const JS: Marks = {
  declares:
    /(?:^|[\s;{(,])(?:it|test|specify|describe|suite|context|Deno\.test|[tj]\.test|[xf](?:it|test|describe))(?:\.[a-zA-Z]{1,20}){0,6}\s*\(\s*(?:['"`]|$)|(?:^|\s)(?:it|test|describe)\.each\b/,
  skips:
    /\b(?:it|test|describe|suite|context|specify|bench)(?:\.[a-zA-Z]{1,20}){0,6}\.(?:skip|skipIf|runIf|todo|only|fails|failing|fixme)\b|\b(?:xit|xdescribe|xtest|xcontext|xspecify|fit|fdescribe|fcontext)\s*\(|\b(?:t|tt|ctx|this|context)\.(?:skip|todo)\s*\(/,
  skipOption: /\b(?:skip|todo|only|fails)\s*:\s*(?!false\b)/,
  focuses:
    /\b(?:it|test|describe|suite|context|specify)(?:\.[a-zA-Z]{1,20}){0,6}\.only\b|\b(?:fit|fdescribe|fcontext)\s*\(/,
};

const MARKS: Readonly<Record<Language, Marks>> = {
  js: JS,
  python: {
    declares: /^\s*(?:async\s+)?def\s+test\w*\s*\(|^\s*class\s+Test\w*/,
    skips:
      /@(?:\w{1,40}\.){0,6}(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b|\bpytest\.(?:skip|xfail|importorskip)\s*\(|\bself\.skipTest\s*\(|\bSkipTest\b|__test__\s*=\s*False|\bcollect_ignore|\bpytestmark\s*=/,
  },
  go: {
    declares: /^func\s+(?:\([^)]*\)\s*)?(?:Test|Fuzz|Example)\w*\s*\(|\bt\.Run\s*\(/,
    skips: /\b[tbf]\.Skip(?:Now|f)?\s*\(|^\/\/go:build\b|^\/\/ \+build\b/,
  },
  rust: {
    declares: /#\[(?:\w{1,40}::){0,6}(?:test|rstest|test_case)\b/,
    skips: /#\[ignore\b|#\[cfg_attr\([^)]{0,200}\bignore\b|#\[cfg\(any\(\)\)\]/,
  },
  jvm: {
    declares:
      /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Theory)\b|\b(?:it|test|describe|should)\s*\(\s*"/,
    skips:
      /@(?:Disabled\w*|Ignore|EnabledIf\w*|EnabledOn\w*)\b|\bassume(?:True|False|That)\s*\(|\b(?:xit|xdescribe|ignore)\s*\(/,
  },
  ruby: {
    declares: /^\s*(?:it|specify|test|describe|context|scenario)\s+['"]|^\s*def\s+test_\w+/,
    skips: /^\s*(?:skip|pending|xit|xdescribe|xcontext|fit|fdescribe)\b|\bskip:\s*(?:true|['"])/,
  },
  php: {
    declares: /\bfunction\s+test\w*\s*\(|#\[Test\b|@test\b|^\s*(?:it|test)\s*\(\s*['"]/,
    skips: /\bmarkTest(?:Skipped|Incomplete)\s*\(|->(?:skip|todo|only)\s*\(/,
  },
  dotnet: {
    declares:
      /\[(?:Fact|Theory|Test|TestCase|TestMethod)\b|\bfunc\s+test\w*\s*\(|\b(?:test|group|testWidgets)\s*\(\s*['"]/,
    skips: /\[(?:Ignore|Explicit)\b|\bSkip\s*=|\bXCTSkip|\.disabled\s*\(|\bskip:\s*(?:true|['"])/,
  },
  c: {
    declares: /\b(?:TEST|TEST_F|TEST_P|TEST_CASE|SCENARIO)\s*\(|^test\s+"/,
    skips: /\bGTEST_SKIP\b|\bDISABLED_\w+|error\.SkipZigTest/,
  },
  shell: { declares: /^\s*@test\s|^\s*test\s+"/, skips: /^\s*skip\b|@tag\s+:?skip/ },
  prose: { declares: NEVER, skips: NEVER },
  other: { declares: NEVER, skips: NEVER },
};

const ASSERTS =
  /\b(?:expect|assert\w*|should|verify|refute\w*|XCTAssert\w*|EXPECT_\w+|ASSERT_\w+|CHECK|REQUIRE)!?\s*[.(]|^\s*assert\s|\b(?:t|b|tt)\.(?:is|not|ok|equal|equals|deepEqual|deepEquals|same|like|true|false|truthy|falsy|throws|rejects|match|regex|Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(/g;

export const countAsserts = (line: string): number => line.match(ASSERTS)?.length ?? 0;
export const declaresTest = (line: string, path: string): boolean => marksOf(path).declares.test(line);
export const focusesTest = (line: string, path: string): boolean =>
  marksOf(path).focuses?.test(line) ?? false;

export function skipsTest(line: string, path: string): boolean {
  const marks = marksOf(path);
  return marks.skips.test(line) || (marks.declares.test(line) && (marks.skipOption?.test(line) ?? false));
}

const marksOf = (path: string): Marks => MARKS[languageOf(path)];
