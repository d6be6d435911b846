import type { TestOutcome } from '../evidence/index.ts';
import { minitestFailures, readMinitest } from './console-output.ts';
import { MAX_FAILURE_LINES, Outcomes, reportLines } from './outcomes.ts';

/**
 * Parses what tests of Ruby print with `-v`: with test-unit, with minitest-reporters (its default reporter), or with
 * minitest alone. Throws an Error if the number of tests differs from the number of those named.
 */
export function readRubyTests(text: string): Outcomes {
  const lines = reportLines(text);
  if (lines.some((line) => TEST_UNIT_TOTAL.test(line))) return readTestUnit(lines);
  return lines.some((line) => REPORTERS_START.test(line)) ? readReporters(lines) : readMinitest(text);
}

const TOTAL = /^(\d{1,7}) (?:runs|tests), \d+ assertions, (\d{1,7}) failures, (\d{1,7}) errors, /;
const TEST_UNIT_TOTAL =
  /^\d{1,7} tests, \d+ assertions, \d+ failures, \d+ errors, \d+ pendings, \d+ omissions, \d+ notifications$/;
const REPORTERS_START = /^# Running tests with run options /;

interface NamedTest {
  readonly parts: readonly string[];
  readonly outcome: TestOutcome;
  readonly message: string;
}

/** The outcomes, if they agree with the totals. A test that fails may err, too, when it tidies up. */
function countedTests(tests: readonly NamedTest[], lines: readonly string[]): Outcomes {
  let ran = 0;
  let faults = 0;
  for (const line of lines) {
    const [, count = '0', failures = '0', errors = '0'] = TOTAL.exec(line) ?? [];
    ran += Number(count);
    faults += Number(failures) + Number(errors);
  }
  const failed = tests.filter(({ outcome }) => outcome === 'failed').length;
  if (tests.length === 0) throw new Error('it names no test');
  if (tests.length !== ran) throw new Error(`it names ${tests.length} tests and says that ${ran} ran`);
  if (failed > faults || (failed === 0 && faults > 0))
    throw new Error(`it names ${failed} failing tests and says that ${faults} failed`);
  const outcomes = new Outcomes();
  for (const { parts, outcome, message } of tests) outcomes.add(parts, outcome, message);
  return outcomes;
}

interface TestUnitGroup {
  readonly indent: number;
  readonly name: string;
}

/** With the group that a line begins, which ends those that are not around it. */
function groupsAfter(groups: readonly TestUnitGroup[], line: string): readonly TestUnitGroup[] {
  const [, { length: indent } = '', name] = /^( *)(\S.{0,500}?): $/.exec(line) ?? [];
  return name === undefined ? groups : [...groups.filter((one) => one.indent < indent), { indent, name }];
}

/**
 * A class or group stands on a line of its own, `Name: `, those inside it further to the right. A test begins with its
 * name and a colon; its output, marks and what failed follow, and `: (seconds)` ends it.
 */
function readTestUnit(lines: readonly string[]): Outcomes {
  const tests: NamedTest[] = [];
  let groups: readonly TestUnitGroup[] = [];
  let begun: { readonly name: string; readonly lines: string[] } | null = null;
  for (const line of lines) {
    let rest = line;
    if (!begun) {
      groups = groupsAfter(groups, line);
      const start = TEST_UNIT_START.exec(line);
      if (!start) continue;
      begun = { name: start[1] ?? '', lines: [] };
      rest = start[2] ?? '';
    }
    const mark = /(?:^|(.)): \(\d{1,9}\.\d{1,9}\)$/.exec(rest);
    if (!mark) {
      if (begun.lines.length < MAX_TEST_LINES) begun.lines.push(rest);
      continue;
    }
    const parts = [...groups.map(({ name }) => name), begun.name];
    tests.push({ parts, ...testUnitOutcome(begun.lines, mark[1]) });
    begun = null;
  }
  return countedTests(tests, lines);
}

const TEST_UNIT_START = /^ +(\S.{0,500}?):(\t.*|[.NFEPO]*(?:: \(\d+\.\d+\))?)$/;
/** Maximum lines between a test's name and its end that are kept. */
const MAX_TEST_LINES = 2_000;

/** From what stands below lines of `=`; without such, from the mark. */
function testUnitOutcome(
  lines: readonly string[],
  mark: string | undefined,
): Pick<NamedTest, 'outcome' | 'message'> {
  const said = lines.flatMap((line, at) => {
    const kind = /^={20,}$/.test(lines[at - 1] ?? '')
      ? /^(Failure|Error|Pending|Omission): /.exec(line)?.[1]
      : null;
    return kind ? [{ kind, at }] : [];
  });
  const fault = said.find(({ kind }) => kind === 'Failure' || kind === 'Error');
  if (fault) {
    const below = lines.slice(fault.at, fault.at + MAX_FAILURE_LINES);
    const end = below.findIndex((line) => /^={20,}$/.test(line));
    return { outcome: 'failed', message: below.slice(0, end < 0 ? below.length : end).join('\n') };
  }
  const isSkipped = said.length > 0 || mark === 'P' || mark === 'O';
  return { outcome: isSkipped ? 'skipped' : mark === '.' ? 'passed' : 'failed', message: '' };
}

type BegunTest = readonly [group: string, name: string];

/**
 * `Class#name `, the test's output, and `seconds = mark`. Names with blanks are those of specs, which are numbered;
 * from others, output on the same line is told apart.
 */
function readReporters(lines: readonly string[]): Outcomes {
  const tests: NamedTest[] = [];
  const output = minitestFailures(lines);
  let begun: BegunTest | null = null;
  for (const line of lines) {
    const mark = /\d{1,9}\.\d\d = ([.FES])$/.exec(line);
    begun ??= begunTest(mark ? line.slice(0, mark.index) : line);
    if (!begun || !mark) continue;
    const message = output.get(begun.join('#')) ?? '';
    tests.push({ parts: begun, outcome: REPORTERS_OUTCOMES[mark[1] ?? ''] ?? 'failed', message });
    begun = null;
  }
  return countedTests(tests, lines);
}

function begunTest(text: string): BegunTest | null {
  const [, group, name = ''] = /^(\S.{0,300}?)#(\S.{0,500}?) *$/.exec(text) ?? [];
  if (group === undefined) return null;
  return [group, /^test_\d{4}_/.test(name) ? name : (name.split(' ')[0] ?? '')];
}

const REPORTERS_OUTCOMES: Readonly<Record<string, TestOutcome>> = { '.': 'passed', S: 'skipped' };
