import { exactKey, type Likeness, type ProbeComparison, type ProbedCandidate } from './votes.ts';

/** A narrow patch is not penalized if another one has some breadth, at most this many times as much. */
const SIMILAR_BREADTH = { times: 4, more: 4 } as const;

/**
 * How broadly each candidate changes the behaviour of the base, relative to the broadest sound one: 0 to 1, on a
 * logarithmic scale of changed probes. A patch that only handles the example changes almost none. If several
 * sound candidates change little, they are not narrow: the broad one is then the outlier.
 */
export function breadths(
  probes: readonly ProbeComparison[],
  candidates: readonly ProbedCandidate[],
  likeness: Likeness,
): readonly number[] {
  const changed = candidates.map((_, at) => probes.filter((probe) => changesBase(probe, at)).length);
  const most = Math.max(...changed.filter((_, at) => candidates[at]?.passesTests), 0);
  return changed.map((own, at) => {
    const company = changed.some(
      (others, other) =>
        candidates[other]?.passesTests &&
        candidates[other].run !== null &&
        others <= SIMILAR_BREADTH.times * own + SIMILAR_BREADTH.more &&
        other !== at &&
        likeness(at, other) < 1,
    );
    if (most === 0 || (candidates[at]?.passesTests && company)) return 1;
    return Math.min(1, Math.log1p(own) / Math.log1p(most));
  });
}

function changesBase({ base, observations }: ProbeComparison, at: number): boolean {
  const own = observations[at];
  return (
    base !== undefined && own !== undefined && own.variation !== 'as-is' && exactKey(own) !== exactKey(base)
  );
}
