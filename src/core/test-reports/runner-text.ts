import type { TestOutcome } from '../evidence/index.ts';
import { MAX_FAILURE_LINES, Outcomes, reportLines } from './outcomes.ts';
import { readRubyTests } from './ruby-text.ts';
import { readTap } from './tap.ts';

/**
 * Parses the output of a command whose runner is unknown, such as a script that starts test programs: TAP, or else what
 * uvu, GoogleTest, automake or tests of Ruby print. Throws an Error if it is none of them.
 */
export function readPrinted(text: string): Outcomes {
  if (GTEST_END.test(text)) return readGtest(text);
  if (RUBY_TOTAL.test(text)) return readRubyTests(text);
  if (AUTOMAKE_TOTAL.test(text)) return readAutomake(text);
  return UVU_TOTAL.test(text) ? readUvu(text) : readTap(text);
}

const RUBY_TOTAL = /^\d{1,7} (?:runs|tests), \d+ assertions, \d+ failures, /m;

/** `[==========] 3 tests from 1 test suite ran. (0 ms total)`, at the end of each program. */
const GTEST_END = /\[={10}\] (\d{1,7}) tests? from \d+ test (?:suites?|cases?) ran\./;
/** A test may have printed something in the same line. */
const GTEST_BEGIN = /\[ RUN {6}\] (\S{1,500})$/;
const GTEST_RESULT =
  /\[ {2}(?: {5}OK| ?FAILED ?| ?SKIPPED) \] (\S{1,500}?)(?:, where .{0,2000})? \(\d+ ms\)$/;

/**
 * Parses what programs of GoogleTest print (googletest/src/gtest.cc, PrettyUnitTestResultPrinter), one after the other.
 * Throws an Error if a program did not end, or if its total differs from its results.
 */
function readGtest(text: string): Outcomes {
  const outcomes = new Outcomes();
  let said: string[] = [];
  let [expected, found] = [0, 0];
  for (const line of reportLines(text)) {
    const total = GTEST_END.exec(line);
    const result = GTEST_RESULT.exec(line);
    if (total) expected += Number(total[1]);
    else if (GTEST_BEGIN.test(line)) said = [];
    else if (result) {
      found += 1;
      const outcome = line.includes('FAILED') ? 'failed' : line.includes('SKIPPED') ? 'skipped' : 'passed';
      outcomes.add([result[1] as string], outcome, said.join('\n'));
      said = [];
    } else if (said.length < MAX_FAILURE_LINES) said.push(line);
  }
  if (found !== expected) throw new Error(`it shows ${found} results and says that ${expected} tests ran`);
  if (found === 0) throw new Error('it shows no result of a test');
  return outcomes;
}

/** `# TOTAL: 3`, at the end of each folder (automake's lib/am/check.am). */
const AUTOMAKE_TOTAL = /^# TOTAL: {1,3}(\d{1,7})$/m;
const AUTOMAKE_OUTCOMES: Readonly<Record<string, TestOutcome>> = {
  PASS: 'passed',
  XFAIL: 'passed',
  SKIP: 'skipped',
  FAIL: 'failed',
  XPASS: 'failed',
  ERROR: 'failed',
};

/** Parses what `make check` of automake prints. Throws an Error if the totals differ from the results. */
function readAutomake(text: string): Outcomes {
  const outcomes = new Outcomes();
  const lines = reportLines(text);
  let [expected, found] = [0, 0];
  for (const [at, line] of lines.entries()) {
    expected += Number(AUTOMAKE_TOTAL.exec(line)?.[1] ?? 0);
    const [, result = '', name = ''] = /^(X?PASS|X?FAIL|SKIP|ERROR): (\S.{0,500})$/.exec(line) ?? [];
    // With VERBOSE, the log of a failing test follows its name as a heading.
    if (result === '' || /^=+$/.test(lines[at + 1] ?? '')) continue;
    found += 1;
    outcomes.add([name], AUTOMAKE_OUTCOMES[result] ?? 'failed');
  }
  if (found !== expected) throw new Error(`it shows ${found} results and says that ${expected} tests ran`);
  if (found === 0) throw new Error('it shows no result of a test');
  return outcomes;
}

const UVU_TOTAL = /^ {2}Total: {5}(\d{1,7})$/m;
const UVU_MARKS = /[•✘] /g;
/** The end of a suite: `• • ✘   (2 / 3)`. */
const UVU_SUITE_END = /[•✘] {3}\((\d{1,6}) \/ (\d{1,6})\)$/;

/**
 * Parses what uvu prints (src/index.js in lukeed/uvu): a mark for each test, without its name. So a test is named by its
 * file, its suite and its place there; its own name stands in the message of a failure. Throws an Error if marks and
 * totals differ, for example because a test printed such marks.
 */
export function readUvu(text: string): Outcomes {
  const outcomes = new Outcomes();
  const lines = reportLines(text);
  const totals = lines.flatMap((line) => UVU_TOTAL.exec(line)?.[1] ?? []);
  let head: string[] = [];
  let file = '';
  let count = 0;
  for (const [at, line] of lines.entries()) {
    const end = UVU_SUITE_END.exec(line);
    head.push(line);
    if (!end) continue;
    const begins = head.findIndex((one) => one.search(UVU_MARKS) >= 0);
    const own = head.slice(Math.max(0, begins)).join('\n');
    const named = head.slice(0, Math.max(0, begins)).findLast((one) => /^\S/.test(one));
    const suite = own.slice(0, Math.max(0, own.search(UVU_MARKS)));
    const marks = own.match(UVU_MARKS) ?? [];
    const passed = marks.filter((mark) => mark.startsWith('•')).length;
    if (marks.length !== Number(end[2]) || passed !== Number(end[1]))
      throw new Error(`it shows ${marks.length} marks in a suite of ${end[2]} tests`);
    file = named ?? file;
    addMarks(outcomes, [file, suite], { marks, said: failuresAfter(lines, at) });
    count += marks.length;
    head = [];
  }
  const total = totals.reduce((sum, one) => sum + Number(one), 0);
  if (totals.length === 0 || total !== count)
    throw new Error(`it shows ${count} tests and says that ${total} ran`);
  return outcomes;
}

function addMarks(
  outcomes: Outcomes,
  where: readonly string[],
  { marks, said }: { readonly marks: readonly string[]; readonly said: readonly string[] },
): void {
  let failures = 0;
  for (const [at, mark] of marks.entries()) {
    const isFailed = mark.startsWith('✘');
    outcomes.add(
      [...where, `test ${at + 1}`],
      isFailed ? 'failed' : 'passed',
      isFailed ? said[failures] : '',
    );
    if (isFailed) failures += 1;
  }
}

/** The messages of a suite's failures, in order. */
function failuresAfter(lines: readonly string[], end: number): readonly string[] {
  const said: string[][] = [];
  for (const line of lines.slice(end + 1, end + 1 + MAX_FAILURE_TEXT_LINES)) {
    if (/^ {3}FAIL {2}/.test(line)) said.push([line.trim()]);
    else if (/^\S/.test(line) || UVU_SUITE_END.test(line)) break;
    else said.at(-1)?.push(line);
  }
  return said.map((one) => one.slice(0, MAX_FAILURE_LINES).join('\n'));
}

/** Maximum lines after a suite that are searched for its failures. */
const MAX_FAILURE_TEXT_LINES = 2_000;
