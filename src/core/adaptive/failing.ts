import { type Evidence, GATES, type GateName } from '../evidence/index.ts';

/** What a patch cannot be mended from: it is not there, or its entries must not be applied. */
const BEYOND_REPAIR: ReadonlySet<GateName> = new Set(['collected', 'safe']);

/**
 * Failing candidates that left a patch to go on from, the one that came furthest first: past the most gates, then with the
 * fewest regressions, then by the hash of the patch. Of equal patches one stands for all.
 */
export function repairable(evidence: readonly Evidence[]): readonly Evidence[] {
  const sorted = evidence
    .filter(
      (one) =>
        one.patchSha256 !== '' && !one.gates.some(({ gate, passed }) => !passed && BEYOND_REPAIR.has(gate)),
    )
    .toSorted(
      (a, b) =>
        reached(b) - reached(a) ||
        broken(a) - broken(b) ||
        byText(a.patchSha256, b.patchSha256) ||
        byText(a.alias, b.alias),
    );
  return sorted.filter(
    (one, i) => sorted.findIndex(({ patchSha256 }) => patchSha256 === one.patchSha256) === i,
  );
}

/** Both failed the same gate, or break a test in common. */
export function sameReason(a: Evidence, b: Evidence): boolean {
  const gate = failedGate(a);
  if (gate !== null && gate === failedGate(b)) return true;
  const theirs = new Set(b.baseTests?.regressions ?? []);
  return (a.baseTests?.regressions ?? []).some((id) => theirs.has(id));
}

/** The first gate that a candidate failed; null for a survivor. */
const failedGate = ({ gates }: Evidence): GateName | null =>
  GATES.find((name) => gates.some(({ gate, passed }) => gate === name && !passed)) ?? null;

/** Place of the first gate that was failed; past the last for a survivor. */
function reached(one: Evidence): number {
  const gate = failedGate(one);
  return gate === null ? GATES.length : GATES.indexOf(gate);
}

/** What was never tested may break anything. */
const broken = ({ baseTests }: Evidence): number =>
  baseTests ? baseTests.regressions.length : Number.MAX_SAFE_INTEGER;

export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
