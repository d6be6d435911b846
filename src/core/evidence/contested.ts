import { EXIT_CODE, sorted } from './compare.ts';
import type { Evidence } from './evidence.ts';

/** Two of three survivors must break a test, and these come from two families, before the test is in question. */
const SHARE = { of: 3, breaking: 2 } as const;
const FAMILIES = 2;

/**
 * Takes contested tests out of the survivors' regressions: a steady test that passes on the base and is broken by two
 * thirds of the survivors or more, these being of two model families or more, is rather in the way of the task than
 * broken by mistake, and a person is asked (notes on selection, S2). Whose family nobody knows counts as no family. With
 * one survivor there is no contest, and the exit code alone is never contested: it stands for all tests at once.
 *
 * Same evidence in any order, same contest.
 */
export function contest(evidence: readonly Evidence[]): readonly Evidence[] {
  const survivors = evidence.filter((one) => one.survivor && one.baseTests);
  const contested = new Set(contestedTests(survivors));
  if (contested.size === 0) return evidence;
  return evidence.map((one) => {
    const tests = one.baseTests;
    const own = tests?.regressions.filter((id) => contested.has(id)) ?? [];
    if (!one.survivor || !tests || own.length === 0) return one;
    const regressions = tests.regressions.filter((id) => !contested.has(id));
    return { ...one, baseTests: { ...tests, regressions, contested: own } };
  });
}

/** The ids of contested tests, sorted. */
export function contestedTests(survivors: readonly Evidence[]): readonly string[] {
  if (survivors.length < 2) return [];
  const ids = sorted(survivors.flatMap((one) => one.baseTests?.regressions ?? []));
  return ids.filter((id) => {
    const breaking = survivors.filter((one) => one.baseTests?.regressions.includes(id));
    const families = new Set(breaking.flatMap(({ family }) => family ?? []));
    const many = breaking.length * SHARE.of >= survivors.length * SHARE.breaking;
    return id !== EXIT_CODE && many && families.size >= FAMILIES;
  });
}
