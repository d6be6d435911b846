import type { TestOutcome } from '../evidence/index.ts';
import { failureBlocks, Outcomes, reportLines } from './outcomes.ts';

/**
 * Parses what `python -m unittest -v` writes to standard error (Lib/unittest/runner.py in python/cpython). A test
 * begins with its name and ` ... `, with its docstring's first line between them. Its outcome ends that line or, after
 * output, a later one. The list of failures at the end overrides the outcome. Throws an Error if no tests are reported,
 * or if they are not as many as ran: the code under test writes to the same stream.
 */
export function readUnittest(text: string): Outcomes {
  const lines = reportLines(text);
  const end = lines.findLastIndex((line) => RAN.test(line));
  if (end < 0) throw new Error('it does not say how many tests ran');
  const { list, rest } = apart(lines.slice(0, end));
  const failures = failureBlocks(
    rest.filter((line) => !/^[-=]{20,}$/.test(line)),
    failureHeading,
  );
  const isAllOk = lines.slice(end + 1).some((line) => line === 'OK');
  const outcomes = new Outcomes();
  for (const test of thoseThatRan(unittestsIn(list), lines)) {
    const message = failures.get(test.text);
    const outcome = message === undefined ? unittestOutcome(wordOf(test)) : 'failed';
    if (outcome === null && !isAllOk) throw new Error(`it does not say how ${test.text} ended`);
    outcomes.add(test.parts, outcome ?? 'passed', message);
    failures.delete(test.text);
  }
  // Fixtures of classes and modules fail under separate names.
  for (const [name, message] of failures) {
    const [named] = unittestNamesIn(name);
    if (named) outcomes.add(named.parts, 'failed', message);
  }
  return outcomes;
}

const RAN = /^Ran (\d{1,7}) tests? in [\d.]+s$/;
const FAILURE = /^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (.{1,2000})$/;

/** Lines about running tests, and the lists of failures. */
function apart(lines: readonly string[]): {
  readonly list: readonly string[];
  readonly rest: readonly string[];
} {
  const parts = { list: [] as string[], rest: [] as string[] };
  let isListed = false;
  for (const [at, line] of lines.entries()) {
    if (/^={20,}$/.test(line) && FAILURE.test(lines[at + 1] ?? '')) isListed = true;
    else if (RAN.test(line)) isListed = false;
    (isListed ? parts.rest : parts.list).push(line);
  }
  return parts;
}

/** A subtest has its test's name, and its parameters behind it. */
function failureHeading(line: string): string | undefined {
  const named = FAILURE.exec(line)?.[1];
  return named && (/^[^\s()]{1,300} \([^\s()]{0,600}\)/.exec(named)?.[0] ?? named);
}

interface UnittestName {
  readonly text: string;
  readonly parts: readonly string[];
  /** Since Python 3.11 a method's name is repeated after its class, so that no other text looks like it. */
  readonly isRepeated: boolean;
  /** Where it begins and ends in its line. */
  readonly at: number;
  readonly end: number;
}

/** Everything in a line that may be a test's name: `name (module.Class)`, and ` ... ` or the end of the line. */
function unittestNamesIn(line: string): readonly UnittestName[] {
  const names: UnittestName[] = [];
  let from = 0;
  for (const found of line.matchAll(/ \(([^\s()]{0,600})\)(?: \.\.\. |$)/g)) {
    const [whole, where = ''] = found;
    const before = line.slice(from, found.index);
    from = found.index + whole.length;
    const word = (before.split(/[\s()]/).at(-1) ?? '').slice(-300);
    const starts = Array.from(word, (_, at) => word.slice(at));
    const method = starts.find((name) => where.endsWith(`.${name}`));
    const name = method ?? word;
    const holder = method === undefined ? where : where.slice(0, -method.length - 1);
    const dot = holder.lastIndexOf('.');
    const parts = dot < 0 ? [holder, name] : [holder.slice(0, dot), holder.slice(dot + 1), name];
    const isRepeated = method !== undefined;
    const at = found.index - name.length;
    if (name !== '') names.push({ text: `${name} (${where})`, parts, isRepeated, at, end: from });
  }
  return names;
}

const FIXTURE = /^(?:setUp|tearDown)(?:Class|Module) \(/;

/** Whether a test, or a fixture that failed or is skipped, begins in a line with this name. */
function isBegin({ text, isRepeated, at, end }: UnittestName, line: string, next: string): boolean {
  if (end === line.length && !line.endsWith(' ... ') && !next.includes(' ... ')) return false;
  if (isRepeated) return true;
  // Up to Python 3.10, a test of which a subtest failed does not end its line.
  if (at > 0 && !line.slice(0, at).endsWith(' ... ')) return false;
  return text.includes('.') || FIXTURE.test(text) || next.startsWith('Doctest: ');
}

interface Unittest {
  readonly text: string;
  readonly parts: readonly string[];
  /** Whether its class names it otherwise than unittest does. */
  readonly isRenamed: boolean;
  outcome: string | null;
  /** What ends the last line that ends like an outcome, behind the test's output. */
  glued: string | null;
}

const UNITTEST_OUTCOME = '(ok|FAIL|ERROR|skipped(?: .*)?|expected failure|unexpected success)$';
const WHOLE_OUTCOME = new RegExp(String.raw`(?:^|\.\.\. )${UNITTEST_OUTCOME}`);
const GLUED_OUTCOME = /(ok|FAIL|ERROR|skipped u?['"].*|expected failure|unexpected success)$/;
const RENAMED_TEST = new RegExp(String.raw`^(\S.{0,300}?) \.\.\. ${UNITTEST_OUTCOME}`);

function unittestsIn(lines: readonly string[]): readonly Unittest[] {
  const tests: Unittest[] = [];
  const begin = (text: string, parts: readonly string[], isRenamed: boolean) =>
    tests.push({ text, parts, isRenamed, outcome: null, glued: null });
  const read = (said: string) => {
    const test = tests.at(-1);
    if (!test || test.outcome !== null) return;
    test.outcome = WHOLE_OUTCOME.exec(said)?.[1] ?? null;
    test.glued = GLUED_OUTCOME.exec(said)?.[1] ?? test.glued;
  };
  for (const [i, line] of lines.entries()) {
    const names = unittestNamesIn(line).filter((name) => isBegin(name, line, lines[i + 1] ?? ''));
    let from = 0;
    for (const { text, parts, at, end } of names) {
      read(line.slice(from, at));
      begin(text, parts, false);
      from = end;
    }
    const renamed =
      names.length === 0 && tests.at(-1)?.outcome !== null ? RENAMED_TEST.exec(line)?.[1] : undefined;
    if (renamed !== undefined) begin(renamed, [renamed], true);
    read(line.slice(from));
  }
  return tests;
}

const wordOf = ({ outcome, glued }: Unittest): string => outcome ?? glued ?? '';

/** Null if the output does not say it. */
function unittestOutcome(word: string): TestOutcome | null {
  if (word === '') return null;
  if (word === 'ok') return 'passed';
  return word.startsWith('skipped') || word === 'expected failure' ? 'skipped' : 'failed';
}

/**
 * Those of the tests that are as many as ran. Since Python 3.11, a failure after another result repeats the name. Tests
 * that their class names otherwise are told from other output by their number alone.
 */
function thoseThatRan(tests: readonly Unittest[], lines: readonly string[]): readonly Unittest[] {
  const totals = lines.flatMap((line) => RAN.exec(line)?.[1] ?? []).map(Number);
  // One program may run after another, or inside of another one's test.
  const ran = [totals.at(-1), totals.reduce((sum, one) => sum + one, 0)];
  const named = tests.filter(({ isRenamed }) => !isRenamed);
  const fitting = [withoutRepeats(named), named, withoutRepeats(tests), tests].find((some) => {
    const own = some.filter(({ text }) => !FIXTURE.test(text));
    const skipped = own.filter((test) => wordOf(test).startsWith('skipped'));
    // Python 3.12.1 does not count skipped tests.
    return ran.includes(own.length) || ran.includes(own.length - skipped.length);
  });
  if (!fitting) throw new Error(`it names ${named.length} tests and says that ${ran[0]} ran`);
  return fitting;
}

const withoutRepeats = (tests: readonly Unittest[]): readonly Unittest[] =>
  tests.filter((test, at) => {
    const before = tests[at - 1];
    const isRepeat = before?.text === test.text && wordOf(before) !== 'ok';
    return !isRepeat || unittestOutcome(wordOf(test)) !== 'failed';
  });
