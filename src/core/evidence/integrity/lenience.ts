import { ownerOf } from './cases.ts';
import type { Suspicion } from './finding.ts';
import type { Matched } from './matching.ts';
import { lineOf, type Side } from './view.ts';

interface Allowance {
  readonly what: string;
  /** Finds the number in a line; a match without one counts as one. */
  readonly pattern: RegExp;
}

const ALLOWANCES: readonly Allowance[] = [
  {
    what: 'a failing test is tried again',
    pattern:
      /\b(?:retryTimes|retries|retry|reruns|max_retries|maxRetries|max_runs|repeats?OnFailure)\s*[:(=]\s*(\d+)|@(?:Retry\w*|RepeatedIfExceptions\w*|RetryingTest|Flaky)\b|\bmark\.flaky\b|^\s*@flaky\b/,
  },
  {
    what: 'a test may take longer',
    pattern:
      /\b(?:jest\.setTimeout|this\.timeout|mark\.timeout|vi\.setConfig|@Timeout)\s*\(\D{0,30}([\d_]+)|\b(?:timeout|testTimeout|hookTimeout)\s*[:=]\s*([\d_]+)|^\s*\}\s*,\s*([\d_]{4,})\s*\)/,
  },
];

/** More time or more tries for tests of the base. */
export function lenient({ view, kept }: Matched): readonly Suspicion[] {
  if (view.file.change === 'added') return [];
  const { before, after } = view;
  const known = new Set(before.cases.map(({ name }) => name));
  const counts = (offset: number) => {
    const owner = ownerOf(after.side, after.cases, offset);
    return (
      owner === null || known.has(owner.name) || kept.some(([, { at }]) => at >= owner.at && at < owner.end)
    );
  };
  return ALLOWANCES.flatMap(({ what, pattern }) => {
    const old = amounts(before.side, pattern, () => true).map(({ amount }) => amount);
    const [found] = amounts(after.side, pattern, counts).filter(
      ({ amount }) => !old.some((one) => one >= amount),
    );
    return found
      ? [{ kind: 'assertion-weakened', what, at: after.side.changes[found.index] ?? null } as const]
      : [];
  });
}

function amounts(
  side: Side,
  pattern: RegExp,
  counts: (offset: number) => boolean,
): readonly { readonly index: number; readonly amount: number }[] {
  return side.changes.flatMap((change, index) => {
    if (!change) return [];
    const line = lineOf(side, index).slice(0, 1_000);
    const match = pattern.exec(line);
    if (!match || !counts((side.starts[index] as number) + match.index)) return [];
    const digits = match.slice(1).find((one) => one !== undefined);
    return [{ index, amount: digits === undefined ? 1 : Number(digits.replaceAll('_', '')) }];
  });
}
