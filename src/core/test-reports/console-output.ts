import type { TestOutcome } from '../evidence/index.ts';
import { MAX_FAILURE_LINES, Outcomes, reportLines } from './outcomes.ts';

/**
 * Parses the output of `dotnet test` with the console logger at verbosity `normal`, or that of its testing platform with
 * `--output Detailed`: one line per test, messages below a failing one, and a total for each project, or for all. Throws
 * an Error if the totals differ from the number of lines.
 */
export function readDotnet(text: string): Outcomes {
  const found: { readonly name: string; readonly outcome: TestOutcome; readonly output: string[] }[] = [];
  let expectedCount = 0;
  for (const line of reportLines(text)) {
    const test = DOTNET_TEST.exec(line) ?? PLATFORM_TEST.exec(line);
    const total = /^(?:Total tests| {2}total): (\d{1,7})/.exec(line);
    const last = found.at(-1);
    if (test)
      found.push({
        name: test[2] as string,
        outcome: DOTNET_OUTCOMES[(test[1] as string).toLowerCase()] ?? 'failed',
        output: [],
      });
    else if (total) expectedCount += Number(total[1]);
    else if (/^ {2}/.test(line) && last && last.output.length < MAX_FAILURE_LINES)
      last.output.push(line.trim());
  }
  if (found.length === 0) throw new Error('it names no test');
  if (found.length !== expectedCount)
    throw new Error(`it names ${found.length} tests and says that ${expectedCount} ran`);
  const outcomes = new Outcomes();
  for (const { name, outcome, output } of found) outcomes.add([name], outcome, output.join('\n'));
  return outcomes;
}

const DOTNET_TEST = /^ {2}(Passed|Failed|Skipped) (\S.{0,900}?)(?: \[[^\]]{1,40}\])?$/;
/** TerminalTestReporter of dotnet/sdk; in the second line, the file of the test. */
const PLATFORM_TEST =
  /^(passed|failed|skipped)(?: \((?:try \d+|canceled)\))* (\S.{0,900}?) \([\d dhms]{2,40}\)$/;

const DOTNET_OUTCOMES: Readonly<Record<string, TestOutcome>> = {
  passed: 'passed',
  failed: 'failed',
  skipped: 'skipped',
};

/**
 * Parses the output of minitest with `-v`: one line per test, then the failures, then the number of tests. Several
 * test programs may follow each other. Throws an Error if the number of tests differs from the number of lines.
 */
export function readMinitest(text: string): Outcomes {
  const outcomes = new Outcomes();
  const lines = reportLines(text);
  const output = minitestFailures(lines);
  let count = 0;
  let expectedCount = 0;
  let begun: RegExpExecArray | null = null;
  for (const line of lines) {
    // A test's output is between its name and its outcome.
    begun ??= /^(\S.{0,300}?)#(\S.{0,500}?) = /.exec(line);
    const letter = /\d(?:\.\d+)? s = ([.FES])$/.exec(line)?.[1];
    const total = /^(\d{1,7}) (?:runs|tests), \d+ assertions, /.exec(line);
    if (total) expectedCount += Number(total[1]);
    if (!begun || letter === undefined) continue;
    const [, group = '', name = ''] = begun;
    begun = null;
    count += 1;
    outcomes.add([group, name], MINITEST_OUTCOMES[letter] ?? 'failed', output.get(`${group}#${name}`));
  }
  if (count === 0) throw new Error('it names no test');
  if (count !== expectedCount) throw new Error(`it names ${count} tests and says that ${expectedCount} ran`);
  return outcomes;
}

const MINITEST_OUTCOMES: Readonly<Record<string, TestOutcome>> = {
  '.': 'passed',
  F: 'failed',
  E: 'failed',
  S: 'skipped',
};

/** Numbered by minitest; as Rails and minitest-reporters print them, without numbers. */
export function minitestFailures(lines: readonly string[]): ReadonlyMap<string, string> {
  const output = new Map<string, string>();
  for (const [at, line] of lines.entries()) {
    if (!/^(?:\s{1,4}\d+\) )?(?:Failure|Error):$/.test(line)) continue;
    const name = (lines[at + 1] ?? '').replace(/(?: \[.*\])?:?$/, '');
    const rest = lines.slice(at + 1, at + 1 + MAX_FAILURE_LINES);
    const end = rest.findIndex((one) => one.trim() === '');
    output.set(name, rest.slice(0, end < 0 ? rest.length : end).join('\n'));
  }
  return output;
}
