import type { TestOutcome, TestRun } from './evidence.ts';
import { EXIT_CODE, outcomeIn } from './test-runs.ts';

/**
 * Parts of a test's name that nobody chooses, and that therefore change from run to run: UUIDs, points in time, addresses
 * in memory, paths of temporary files, ports behind a host, and measured durations. Our default. Versions, years, short
 * decimals and other numbers are cases that somebody chose: one that is missing is missing.
 */
const CHANGING = new RegExp(
  [
    String.raw`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`,
    String.raw`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?`,
    String.raw`\b0x[0-9a-f]{6,}\b`,
    String.raw`/(?:tmp|var/folders)/[\w./-]+`,
    String.raw`(?<=\b(?:localhost|127\.0\.0\.1|\[::1?\]):)\d{4,5}\b`,
    String.raw`(?<=\bms[=:] ?|\btook |\()\d+(?:\.\d+)?(?:e-\d+)?(?= ?(?:ms|s)\b| ?$|[ ,;)])`,
    String.raw`\b\d+\.\d{6,}(?:e-\d+)?\b`,
  ].join('|'),
  'gi',
);

const constantPart = (name: string): string => name.replace(CHANGING, '…');

/**
 * A run in which tests have the names that they had in another run (`known`), where the two names differ only in parts
 * that change from run to run. Names that both runs have are left, and so is a test that the other run lacks. Of several
 * names with the same constant part, those with the same outcome are paired first, in the order of the reports.
 */
export function withNamesOf(known: Pick<TestRun, 'tests' | 'flaky'>, run: TestRun): TestRun {
  const names = new Set([...Object.keys(known.tests), ...(known.flaky ?? [])]);
  const added = Object.keys(run.tests).filter((id) => id !== EXIT_CODE && !names.has(id));
  if (added.length === 0) return run;
  const absent = Map.groupBy(
    [...names].filter((id) => outcomeIn(run, id) === undefined),
    constantPart,
  );
  const renamed = new Map<string, string>();
  for (const [part, left] of Map.groupBy(added, constantPart)) {
    const before = Map.groupBy(absent.get(part) ?? [], (name) => outcomeIn(known, name));
    const alike = left.map((id) => before.get(outcomeIn(run, id))?.shift());
    const others = [...before.values()].flat();
    for (const [at, id] of left.entries()) {
      const name = alike[at] ?? others.shift();
      if (name !== undefined) renamed.set(id, name);
    }
  }
  return renamed.size === 0 ? run : withNames(run, (id) => renamed.get(id) ?? id);
}

/** A run in which tests have other names. */
export function withNames(run: TestRun, nameOf: (id: string) => string): TestRun {
  const named = <T>(of: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(of).map(([id, value]) => [nameOf(id), value]));
  const { messages, flaky } = run;
  return {
    ...run,
    tests: named<TestOutcome>(run.tests),
    ...(messages ? { messages: named(messages) } : {}),
    ...(flaky ? { flaky: flaky.map(nameOf) } : {}),
  };
}

/**
 * The names that the base's tests give to those of candidates. A test that fails there gives its name to none: whether a
 * candidate makes it pass must not follow from a likeness of names.
 */
export const namesOfBase = ({ tests, flaky }: TestRun): Pick<TestRun, 'tests' | 'flaky'> => ({
  tests: Object.fromEntries(Object.entries(tests).filter(([, outcome]) => outcome !== 'failed')),
  ...(flaky ? { flaky } : {}),
});
