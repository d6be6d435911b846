import type { TestOutcome, TestRun } from './evidence.ts';
import { EXIT_CODE } from './test-runs.ts';

/**
 * Parts of a test's name that change from run to run: UUIDs, dates and times, addresses in memory, paths of temporary
 * files, durations, other decimals, and numbers of four digits or more, such as ports. Our default. Small whole numbers
 * are cases of a table, and stay.
 */
const CHANGING = new RegExp(
  [
    String.raw`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`,
    String.raw`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?`,
    String.raw`\b\d\d?:\d\d:\d\d(?:\.\d+)?`,
    String.raw`\b0x[0-9a-f]{4,}\b`,
    String.raw`/(?:tmp|var/folders)/[\w./-]+`,
    String.raw`\b\d+(?:\.\d+)?(?:e[-+]?\d+)? ?(?:ns|µs|us|ms|s|sec|seconds?)\b`,
    String.raw`\b\d+\.\d+(?:e[-+]?\d+)?`,
    String.raw`\b\d{4,}`,
    String.raw`(?<=\bms[=:] ?)\d+`,
  ].join('|'),
  'gi',
);

const constantPart = (name: string): string => name.replace(CHANGING, '…');

/**
 * A run in which tests have the names that they had in another run (`known`), where the two names differ only in parts
 * that change from run to run. Names that both runs have are left, and so is a test that the other run lacks. Several
 * names with the same constant part are paired in their order.
 */
export function withNamesOf(known: readonly string[], run: TestRun): TestRun {
  const ids = Object.keys(run.tests);
  const others = new Set(known);
  const added = ids.filter((id) => id !== EXIT_CODE && !others.has(id));
  if (added.length === 0) return run;
  const absent = Map.groupBy(
    known.filter((id) => !Object.hasOwn(run.tests, id)),
    constantPart,
  );
  const renamed = new Map<string, string>();
  for (const [part, names] of Map.groupBy(added, constantPart))
    for (const [at, before] of (absent.get(part) ?? []).entries()) {
      const name = names[at];
      if (name !== undefined) renamed.set(name, before);
    }
  return renamed.size === 0 ? run : withNames(run, (id) => renamed.get(id) ?? id);
}

function withNames(run: TestRun, nameOf: (id: string) => string): TestRun {
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
