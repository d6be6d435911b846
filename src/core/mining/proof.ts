/** How often the tests of a change run without it and with it. All results must agree. */
export const PROOF_TIMES = 3;

type Refuted = 'flaky' | 'passes-before' | 'fails-after';

/**
 * Why a change is no task, by whether its tests passed without it and with it, each time; null if nothing speaks against
 * it so far. Twice the same is enough to drop a change: only what is kept runs three times.
 */
export function verdictOn(before: readonly boolean[], after: readonly boolean[]): Refuted | null {
  if (isMixed(before) || isMixed(after)) return 'flaky';
  if (before.length < 2) return null;
  if (before.every(Boolean)) return 'passes-before';
  return after.every(Boolean) ? null : 'fails-after';
}

const isMixed = (results: readonly boolean[]): boolean => new Set(results).size > 1;

/** `failures`: a sentence about the tests that fail with the change. */
export function verdictText(
  verdict: Refuted,
  {
    before,
    after,
    failures,
  }: {
    readonly before: readonly boolean[];
    readonly after: readonly boolean[];
    readonly failures: string;
  },
): string {
  const times = (results: readonly boolean[]) =>
    `${results.filter(Boolean).length} of ${results.length} times`;
  switch (verdict) {
    case 'flaky':
      return `Its tests passed ${times(before)} without the change, and ${times(after)} with it.`;
    case 'passes-before':
      return 'Its tests pass without the change, so they prove nothing.';
    case 'fails-after':
      return failures;
  }
}
