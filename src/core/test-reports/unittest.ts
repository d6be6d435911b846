import type { TestOutcome } from '../evidence/index.ts';
import { Outcomes, reportLines } from './outcomes.ts';

/**
 * What `python -m unittest -v` writes to standard error (Lib/unittest/runner.py in python/cpython). A test is a line
 * that names it, and the word for its outcome at the end of that line or, where a docstring or something printed
 * stands between, of a later one. The list of failures at the end is believed over the word. Throws an Error where
 * nothing says that tests ran.
 */
export function readUnittest(text: string): Outcomes {
  const lines = reportLines(text);
  const end = lines.findLastIndex((line) => /^Ran \d+ tests? in [\d.]+s$/.test(line));
  if (end < 0) throw new Error('it does not say how many tests ran');
  const failures = failuresOf(lines.slice(0, end));
  const found: { parts: readonly string[]; key: string; outcome: TestOutcome | null }[] = [];
  for (const line of lines.slice(0, end)) {
    if (line.startsWith('======')) break;
    const named = TEST_NAME_LINE.exec(line);
    // A subtest is told by two spaces; its failure counts for its test.
    if (named && !line.startsWith('  ')) {
      const parts = testIdParts(named[1] as string, named[2] as string);
      found.push({ parts, key: parts.join(' '), outcome: null });
    }
    const last = found.at(-1);
    if (last && last.outcome === null) last.outcome = unittestOutcome(line);
  }
  const outcomes = new Outcomes();
  for (const { parts, key, outcome } of found) {
    const said = failures.get(key);
    outcomes.add(parts, said === undefined ? (outcome ?? 'failed') : 'failed', said);
    failures.delete(key);
  }
  // Fixtures of classes and modules fail under names of their own.
  for (const [key, said] of failures) outcomes.add(key.split(' '), 'failed', said);
  return outcomes;
}

const TEST_NAME_LINE = /^ {0,2}(\w[\w.]{0,300}) \(([\w.<>]{1,600})\)/;

/** Since Python 3.11 the name stands behind its class once more. */
function testIdParts(name: string, where: string): readonly string[] {
  const holder = where.endsWith(`.${name}`) ? where.slice(0, -name.length - 1) : where;
  const at = holder.lastIndexOf('.');
  return at < 0 ? [holder, name] : [holder.slice(0, at), holder.slice(at + 1), name];
}

function unittestOutcome(line: string): TestOutcome | null {
  const word =
    /(?:^|\.\.\. )(ok|FAIL|ERROR|skipped(?: .*)?|expected failure|unexpected success)$/.exec(line)?.[1] ?? '';
  if (word === '') return null;
  if (word === 'ok') return 'passed';
  return word.startsWith('skipped') || word === 'expected failure' ? 'skipped' : 'failed';
}

/** Lines of one failure that are kept. */
const MAX_FAILURE_LINES = 30;

/** Blocks of the list of failures, by the test's parts. */
function failuresOf(lines: readonly string[]): Map<string, string> {
  const blocks = new Map<string, string[]>();
  let own: string[] | null = null;
  for (const line of lines) {
    const head = /^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\w[\w.]{0,300}) \(([\w.<>]{1,600})\)/.exec(line);
    if (head) {
      const key = testIdParts(head[1] as string, head[2] as string).join(' ');
      own = blocks.get(key) ?? [];
      blocks.set(key, own);
    } else if (own && !/^[-=]{20,}$/.test(line) && own.length < MAX_FAILURE_LINES) own.push(line);
  }
  return new Map([...blocks].map(([key, text]) => [key, text.join('\n')]));
}
