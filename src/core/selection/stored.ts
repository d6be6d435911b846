import { comparePatches, type PatchLikeness } from '../likeness/index.ts';
import type { SelectAnswer } from './answer.ts';
import { confidenceOf } from './confidence.ts';
import { couldBeRight, type DecidedBy, type Placed, rivalOf } from './placed.ts';
import { becauseOf, verdictOf } from './reasons.ts';
import type { SelectCandidate, StoredRequest } from './request.ts';

export interface SelectOptions {
  /** Picks the first of the ranking even where nothing speaks for it. */
  readonly alwaysPick?: boolean;
}

/**
 * Answers a request from the texts of its patches and its signals alone, without executing anything. A candidate's
 * place in the request has no effect, nor has its id, unless two patches are the same to the letter.
 */
export function selectStored(
  request: StoredRequest,
  { alwaysPick = false }: SelectOptions = {},
): SelectAnswer {
  const placed = rankStored(request.candidates);
  const [best] = placed;
  const abstains = best === undefined || (!alwaysPick && !couldBeRight(best));
  const decidedBy = abstains ? 'none' : separatorOf(best, rivalOf(placed), placed.length);
  return {
    id: request.id,
    pick: abstains ? null : best.id,
    confidence: abstains ? 0 : confidenceOf(placed),
    ranking: placed.map((one) => ({
      id: one.id,
      score: scoreOf(one),
      because: becauseOf(one, placed.length - 1),
    })),
    decidedBy,
    because: verdictOf(decidedBy, placed),
  };
}

function rankStored(candidates: readonly SelectCandidate[]): readonly Placed[] {
  const pool = comparePatches(
    candidates.map(({ id, patch, family, signals }) => ({
      id,
      text: patch,
      family: family ?? undefined,
      applies: signals?.applied ?? undefined,
    })),
  );
  return candidates
    .map(({ id, patch, signals }, i) => ({
      id,
      patch,
      agreement: pool[i] as PatchLikeness,
      against: againstOf(signals),
      testsKept: signals?.p2p_ok === true,
    }))
    .sort(
      (a, b) =>
        STANDING[a.against] - STANDING[b.against] ||
        b.agreement.score - a.agreement.score ||
        b.agreement.share - a.agreement.share ||
        a.agreement.classIndex - b.agreement.classIndex ||
        byText(a.patch, b.patch) ||
        byText(a.id, b.id),
    );
}

const STANDING: Readonly<Record<Placed['against'], number>> = {
  nothing: 0,
  'breaks-tests': 1,
  'does-not-apply': 2,
};

const againstOf = (signals: SelectCandidate['signals']): Placed['against'] => {
  if (signals?.applied === false) return 'does-not-apply';
  return signals?.p2p_ok === false ? 'breaks-tests' : 'nothing';
};

/** By code units: a language's own order would depend on where it runs. */
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const scoreOf = ({ against, agreement }: Placed): number => (against === 'nothing' ? agreement.score : 0);

function separatorOf(best: Placed, rival: Placed | undefined, candidates: number): DecidedBy {
  if (candidates === 1) return 'only-candidate';
  if (!rival) return 'hash';
  if (best.against !== rival.against) return 'signals';
  return best.agreement.score === rival.agreement.score ? 'hash' : 'agreement';
}
