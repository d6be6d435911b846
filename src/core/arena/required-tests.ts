import { compareBase, isExitCode, isTestOf, outcomeIn, succeeded, type TestRun } from '../evidence/index.ts';
import { counted } from '../model/index.ts';
import { grammarOf } from '../source/index.ts';

/** A file of hidden tests. */
interface HiddenFile {
  readonly path: string;
  /** Number of tests in its text, at least; 0 if unknown. */
  readonly declared: number;
  /** Whether its text can skip tests. */
  readonly maySkip: boolean;
}

/** What is known of a test run without the answer that is verified. */
export interface ExpectedTests {
  /** The same commands and files on the base. */
  readonly base: TestRun;
  /** The same with the task's reference, if it has one that solves the task; else null. */
  readonly reference: TestRun | null;
  readonly hidden: readonly HiddenFile[];
}

const SKIPS = /skip|todo|pending|\bx(?:it|test|describe)\b|\b(?:f|\w+\.)only\b|disabled|ignore|assum/i;

/** Languages whose runners report every test that a text declares. */
const COUNTED_GRAMMARS: ReadonlySet<string | null> = new Set(['typescript', 'tsx', 'python']);

/** A file of hidden tests; `declared`: tests that its text declares. */
export const hiddenFile = (path: string, text: string, declared: number): HiddenFile => ({
  path,
  declared: COUNTED_GRAMMARS.has(grammarOf(path)) ? declared : Math.min(declared, 1),
  maySkip: SKIPS.test(text),
});

/**
 * Why a run in which no test fails does not count, as a sentence: code can end the test program, skip tests or replace its
 * report, and a diff can delete tests. Null if every test that is known without the answer was run and passed.
 */
export function whyIncomplete(run: TestRun, expected: ExpectedTests): string | null {
  const { base, reference, hidden } = expected;
  const known = reference ?? base;
  if (run.source !== 'report')
    return known.source === 'report'
      ? 'The tests wrote no report, although they write one without this answer.'
      : null;
  if (named(run).length === 0) return 'No test was run.';
  const passed = reference ? idsOf(reference, 'passed') : idsOf(base, 'passed');
  const lost = passed.filter((id) => outcomeIn(run, id) !== 'passed');
  if (lost.length > 0) return lostText(lost, run);
  const skipped = idsOf(run, 'skipped').filter((id) => !maySkip(id, expected));
  if (skipped.length > 0)
    return `${counted(skipped.length, 'test was', 'tests were')} skipped, such as ${cut(skipped[0])}.`;
  return reference ? null : (whyFewer(run, base) ?? whyUndeclared(run, base, hidden));
}

/** Why an answer breaks tests of the base that passed, as a sentence; null if it breaks none. */
export function whyBroken(base: TestRun, run: TestRun, reference: TestRun | null): string | null {
  const excused = (id: string) =>
    reference !== null && (isExitCode(id) ? !succeeded(reference) : outcomeIn(reference, id) !== 'passed');
  const lost = compareBase(base, run).regressions.filter((id) => !excused(id));
  if (lost.length === 0) return null;
  return lost.every(isExitCode)
    ? 'Commands that succeed on the base fail with this answer.'
    : lostText(lost, run);
}

function lostText(lost: readonly string[], run: TestRun): string {
  const missing = lost.filter((id) => outcomeIn(run, id) === undefined).length;
  const how = missing === lost.length ? 'not run' : missing === 0 ? 'not passed' : 'not run or not passed';
  return `${counted(lost.length, 'test that passes', 'tests that pass')} without this answer ${lost.length === 1 ? 'was' : 'were'} ${how}, such as ${cut(lost[0])}.`;
}

const cut = (id = ''): string => id.slice(0, 400);

const idsOf = ({ tests }: TestRun, outcome: string): readonly string[] =>
  Object.entries(tests).flatMap(([id, one]) => (one === outcome && !isFile(id) ? [id] : []));

/** node:test reports a file that ends early, or that has no tests, as one passed test with the file's name. */
const isFile = (id: string): boolean => !id.includes(' > ') && grammarOf(id) !== null;
const named = ({ tests }: TestRun): readonly string[] => Object.keys(tests).filter((id) => !isFile(id));
/** A test that was skipped was not run. */
const ran = (run: TestRun): readonly string[] => named(run).filter((id) => outcomeIn(run, id) !== 'skipped');

function maySkip(id: string, { base, reference, hidden }: ExpectedTests): boolean {
  if (reference !== null && outcomeIn(reference, id) === 'skipped') return true;
  const before = outcomeIn(base, id);
  if (before !== undefined) return before === 'skipped';
  return reference === null && (hidden.length === 0 || hidden.some((file) => file.maySkip));
}

/** A file that cannot be loaded is reported as one failed test, in place of which others stand later. */
function whyFewer(run: TestRun, base: TestRun): string | null {
  const now = byFile(ran(run));
  for (const [file, ids] of byFile(ran(base))) {
    const left = now.get(file)?.length ?? 0;
    if (left < ids.length)
      return `${counted(left, 'test', 'tests')} of ${cut(file)} ran; on the base, ${ids.length} did.`;
  }
  return null;
}

function byFile(ids: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const [file = ''] = id.split(' > ', 1);
    groups.set(file, [...(groups.get(file) ?? []), id]);
  }
  return groups;
}

function whyUndeclared(run: TestRun, base: TestRun, hidden: readonly HiddenFile[]): string | null {
  const ids = named(run);
  const all = [...Object.keys(base.tests), ...Object.keys(run.tests)];
  const isNamed = hidden.some(({ path }) => all.some((id) => isTestOf(id, path)));
  if (!isNamed) {
    const declared = hidden.reduce((sum, file) => sum + file.declared, 0);
    return ids.length < declared
      ? `${counted(ids.length, 'test')} ran; the hidden tests alone are ${declared}.`
      : null;
  }
  for (const { path, declared } of hidden) {
    // The base has run this file to its end: what it reported there is known better than what its text declares.
    const isKnown = idsOf(base, 'passed').some((id) => isTestOf(id, path));
    const here = ids.filter((id) => isTestOf(id, path)).length;
    if (!isKnown && here < declared)
      return `${counted(here, 'hidden test')} of ${path} ran; the file holds ${declared}.`;
  }
  return null;
}
