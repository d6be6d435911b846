import { z } from 'zod';
import { PYTEST_FILE, RSPEC_FILE } from '../settings/index.ts';
import { readJest, readMocha, readRspec, readVitestJson } from './json.ts';
import { readJUnit } from './junit.ts';
import { Outcomes, reportLines } from './outcomes.ts';
import { readPrinted } from './runner-text.ts';

const NamedReport = z.tuple([z.string(), z.string()]);

/**
 * Parses reports of a command whose runners are unknown, given as one JSON array of name and text per line: files by
 * their names, and standard output without a name, which may hold results, too. Throws an Error if there is no report, or
 * if runners of the same file say that more tests ran than it names: each of their processes replaces it.
 */
export function readAnyReports(lines: string): Outcomes {
  const reports = lines
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [NamedReport.parse(JSON.parse(line))]));
  const printed = reports.find(([path]) => path === '')?.[1] ?? '';
  const files = reports.flatMap(([path, text]) =>
    fileOutcomes(path.replace(/^.*\//s, ''), { text, printed }),
  );
  const whole = new Outcomes();
  for (const part of files.length > 0 ? [...files, ...inOutput(printed)] : [readPrinted(printed)])
    whole.include(part);
  return whole;
}

function inOutput(printed: string): readonly Outcomes[] {
  try {
    return [readPrinted(printed)];
  } catch {
    // The output of a runner that writes a file has no such results.
    return [];
  }
}

interface WrittenReport {
  readonly text: string;
  readonly printed: string;
}

function fileOutcomes(name: string, { text, printed }: WrittenReport): readonly Outcomes[] {
  const runner = /^(jest|vitest|mocha)-\d+(?:-\d+)?\.json$/.exec(name)?.[1];
  if (runner === 'jest') return [readJest(text)];
  if (runner === 'vitest') return [readVitestJson(text)];
  if (runner === 'mocha') return [readMocha(text)];
  const one = name === PYTEST_FILE ? readJUnit(text) : name === RSPEC_FILE ? readRspec(text) : null;
  if (one === null) return [];
  const ran = name === PYTEST_FILE ? ranByPytest(printed) : ranByRspec(printed);
  if (ran > one.size) throw new Error(`${name} names ${one.size} tests and the output says that ${ran} ran`);
  return [one];
}

/** `==== 1 failed, 3 passed, 1 warning in 0.12s ====`, with `-q` without `=`. */
const PYTEST_TOTAL =
  /^(=+ )?((?:\d{1,7} [a-z ]{1,30}, )*\d{1,7} [a-z ]{1,30}|no tests ran) in \d{1,9}\.\d\ds(?: \([\d:]+\))?(?: =+)?$/;
/** `12 examples, 1 failure, 2 pending`. */
const RSPEC_TOTAL = /^(\d{1,7} examples?), \d{1,7} failures?/;
/** Not errors: a test may pass and then err when it tidies up. */
const TESTS_THAT_RAN = /(\d+) (?:passed|failed|skipped|xfailed|xpassed|examples?)(?:,|$)/g;
/** `=== test session starts ===`, which `-q` leaves out. */
const PYTEST_START = /^=+ test session starts\b/;
/** `--- Captured stdout call ---` */
const PYTEST_CAPTURED = /^-+ Captured \w+ \w+ -+$/;

/** How many tests all processes of RSpec together say that they ran. */
const ranByRspec = (printed: string): number =>
  sum(reportLines(printed).map((line) => countOf(RSPEC_TOTAL.exec(line)?.[1])));

/**
 * The same of pytest, without sessions within another one: tests of its plugins start some, whose output is shown where
 * such a test fails. All sessions count unless the last total is that of an outer one, as after one that was killed.
 */
function ranByPytest(printed: string): number {
  const totals: { readonly count: number; readonly isInner: boolean }[] = [];
  let open = 0;
  let isCaptured = false;
  for (const line of reportLines(printed)) {
    if (PYTEST_START.test(line)) open += 1;
    else if (PYTEST_CAPTURED.test(line)) isCaptured ||= open === 0;
    const [found, isLong, counts] = PYTEST_TOTAL.exec(line) ?? [];
    if (found === undefined) continue;
    if (isLong) open = Math.max(0, open - 1);
    const isInner = open > 0 || (isCaptured && isLong !== undefined);
    isCaptured &&= isInner;
    totals.push({ count: countOf(counts), isInner });
  }
  const counted = totals.at(-1)?.isInner ? totals : totals.filter(({ isInner }) => !isInner);
  return sum(counted.map(({ count }) => count));
}

const countOf = (counts = ''): number =>
  sum([...counts.matchAll(TESTS_THAT_RAN)].map(([, count]) => Number(count)));

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
