import { uniqueSorted } from '../model/index.ts';

/** Origins of tests that no competing model wrote. */
export const INDEPENDENT_TEST_ORIGINS = ['issue', 'writer', 'distinguishing', 'reviewer'] as const;
export type IndependentTestOrigin = (typeof INDEPENDENT_TEST_ORIGINS)[number];

/** Independent tests that were admitted by execution, run on one candidate's production code. */
export interface IndependentTests {
  readonly passed: number;
  readonly total: number;
  readonly failing: readonly {
    readonly id: string;
    readonly origin: IndependentTestOrigin;
    /** Model family of its writer; absent: no model wrote it, or an unknown one. */
    readonly family?: string;
    /** Its name for people, in its writer's words; absent: the id. */
    readonly title?: string;
    /** The end of the runner's message, bounded; absent for none. */
    readonly message?: string;
  }[];
  /** The passed ones; absent: an earlier version stored only their number. */
  readonly passing?: readonly PassedTest[];
  /** How many of the passed ones are guards: they pass on the base, too, and show nothing that is done; absent: none. */
  readonly guards?: number;
  /** The part of these counts that is of tests written by models, not of the issue's examples; absent: none. */
  readonly written?: WrittenTestCounts;
}

interface PassedTest {
  readonly id: string;
  readonly origin: IndependentTestOrigin;
  /** It passes on the base, too. */
  readonly guard?: true;
}

interface WrittenTestCounts {
  readonly passed: number;
  readonly total: number;
  readonly guards: number;
  /** Known model families of the writers of those passed that are no guards, sorted; absent: none is known. */
  readonly families?: readonly string[];
}

const NONE_WRITTEN: WrittenTestCounts = { passed: 0, total: 0, guards: 0 };

/** How many passed tests show that the task is done: they fail on the base. By who states the requirement. */
export function shownBy({ passed, guards = 0, written = NONE_WRITTEN }: IndependentTests): {
  readonly issue: number;
  readonly written: number;
} {
  const byModels = written.passed - written.guards;
  return { issue: passed - guards - byModels, written: byModels };
}

/** The issue's own examples alone. */
export const withoutWritten = ({
  passed,
  total,
  failing,
  passing,
  guards = 0,
  written = NONE_WRITTEN,
}: IndependentTests): IndependentTests => ({
  passed: passed - written.passed,
  total: total - written.total,
  failing: failing.filter(({ origin }) => origin === 'issue'),
  ...(passing ? { passing: passing.filter(({ origin }) => origin === 'issue') } : {}),
  ...(guards > written.guards ? { guards: guards - written.guards } : {}),
});

/** Results of independent tests of two origins on the same candidate. */
export function joinTests(
  a: IndependentTests = NO_INDEPENDENT_TESTS,
  b: IndependentTests = NO_INDEPENDENT_TESTS,
): IndependentTests {
  const guards = (a.guards ?? 0) + (b.guards ?? 0);
  const [one, other] = [a.written ?? NONE_WRITTEN, b.written ?? NONE_WRITTEN];
  const families = uniqueSorted([...(one.families ?? []), ...(other.families ?? [])]);
  return {
    passed: a.passed + b.passed,
    total: a.total + b.total,
    failing: [...a.failing, ...b.failing],
    ...(a.passing && b.passing ? { passing: [...a.passing, ...b.passing] } : {}),
    ...(guards > 0 ? { guards } : {}),
    ...(a.written || b.written
      ? {
          written: {
            passed: one.passed + other.passed,
            total: one.total + other.total,
            guards: one.guards + other.guards,
            ...(families.length > 0 ? { families } : {}),
          },
        }
      : {}),
  };
}

/** The names of independent tests that a candidate fails, as every report and page has them. */
export const failingNames = ({ failing }: Pick<IndependentTests, 'failing'>): readonly string[] =>
  failing.map(({ id, title }) => title ?? id);

export const NO_INDEPENDENT_TESTS: IndependentTests = { passed: 0, total: 0, failing: [], passing: [] };

/**
 * How many independent tests one candidate fails and the other passes; only those that count. A test without a result on
 * one of them is no evidence.
 */
export function failsAgainst(
  own: IndependentTests = NO_INDEPENDENT_TESTS,
  theirs: IndependentTests = NO_INDEPENDENT_TESTS,
  counts: (test: Pick<PassedTest, 'origin' | 'guard'>) => boolean = () => true,
): number {
  const { passing } = theirs;
  if (passing === undefined) return failsMoreThan(own, theirs, counts);
  return own.failing.filter(({ id }) => {
    const there = passing.find((one) => one.id === id);
    return there !== undefined && counts(there);
  }).length;
}

/** As far as the numbers of an earlier version tell. */
function failsMoreThan(
  own: IndependentTests,
  theirs: IndependentTests,
  counts: (test: Pick<PassedTest, 'origin'>) => boolean,
): number {
  const failingThere = new Set(theirs.failing.map(({ id }) => id));
  return theirs.total < own.total
    ? 0
    : own.failing.filter((test) => counts(test) && !failingThere.has(test.id)).length;
}

/** Whether an independent test has a result on `theirs` and none on `own`. */
export function lacksResultOf(
  own: IndependentTests = NO_INDEPENDENT_TESTS,
  theirs: IndependentTests = NO_INDEPENDENT_TESTS,
): boolean {
  if (own.passing === undefined || theirs.passing === undefined) return theirs.total > own.total;
  const known = new Set([...own.failing, ...own.passing].map(({ id }) => id));
  return [...theirs.failing, ...theirs.passing].some(({ id }) => !known.has(id));
}
