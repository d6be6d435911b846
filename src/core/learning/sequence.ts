import { familyOf } from '../judging/index.ts';
import { counted, type RunId, type SequencedContestant, type Usd } from '../model/index.ts';
import { fnv1a, mulberry32 } from '../settings/index.ts';
import { bestOf, type Drawn, drawAll, expectedUsd, historyOf, type Option, ownOf } from './field.ts';
import type { CandidateOutcome } from './outcome.ts';
import type { WorkKind } from './work-kind.ts';

interface SequenceRequest {
  /** The contestants of the run, in the order of the settings. */
  readonly contestants: readonly Option[];
  /** Of this repository, in any order. */
  readonly outcomes: readonly CandidateOutcome[];
  readonly kind: WorkKind;
  /** US dollars that one of them may spend. */
  readonly candidateUsd: Usd;
  /** The same run gets the same order from the same outcomes. */
  readonly runId: RunId;
  /** Nobody may conclude from the order who is who: the settings can be read. */
  readonly isBlind: boolean;
}

export interface SequenceChoice {
  /** In the order in which they start; positions are those in the request. */
  readonly sequence: readonly SequencedContestant[];
  /** Runs of the repository that tell something. */
  readonly runs: number;
  readonly isBlind: boolean;
}

/**
 * The order in which contestants of a sequential field start: as places are given by `coders: auto`, by draws from what
 * is known about each, so that nobody who starts last stays unknown; without any earlier run in the order of the
 * settings, or in blind mode by chance. Each further contestant of a model family counts less: its mistakes are probably
 * the same.
 */
export function sequenceOf(request: SequenceRequest): SequenceChoice {
  const { contestants, outcomes, kind, candidateUsd, runId, isBlind } = request;
  const known = historyOf(outcomes, kind);
  const drawn = drawAll(contestants, known, mulberry32(fnv1a(`${runId}:order`)));
  const equal = drawn.map((one) => ({ ...one, value: 1 }));
  const sequence: SequencedContestant[] = [];
  const families: string[] = [];
  const open = new Map((known.runs > 0 || isBlind ? drawn : equal).entries());
  while (open.size > 0) {
    const best = bestOf([...open.values()], families);
    const [at] = [...open].find(([, one]) => one === best) as [number, Drawn];
    open.delete(at);
    const isPriced = best.option.forecastUsd !== null || ownOf(known, best.option) !== undefined;
    const usd = isPriced ? expectedUsd(best, known, candidateUsd) : null;
    sequence.push({ position: at, wins: best.mean, usd });
    families.push(familyOf(best.option.model));
  }
  return { sequence, runs: known.runs, isBlind };
}

/** Why this order, for the comparison. */
export function sequenceReason({ runs, isBlind }: SequenceChoice): string {
  const order = isBlind ? 'by chance' : 'as the settings do';
  return `\`adaptive.field: sequential\` orders the contestants ${
    runs === 0
      ? `${order}, different model families first: no run of this repository has been decided yet`
      : `by ${counted(runs, 'earlier run')} in this repository, different model families first`
  }.`;
}
