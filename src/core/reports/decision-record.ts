import type { Evidence } from '../evidence/index.ts';
import type { Judgement } from '../judging/index.ts';
import type { Decision, Ranked } from '../ranking/index.ts';
import type { RunView } from './view.ts';

/** All that a decision follows from, as plain JSON: what was executed, all scores, and what the judges said. */
export interface DecisionRecord {
  /** Of every candidate that was examined. */
  readonly evidence: readonly Evidence[];
  /** Best first, with the scores of each strategy and what separates each from the next. */
  readonly ranking: readonly Ranked[];
  readonly decision: Decision | null;
  /** Null where no judge was asked. */
  readonly judgement: Judgement | null;
}

/** Null before the run is decided. */
export const decisionRecord = ({ evidence, ranking, decision, judgement }: RunView): DecisionRecord | null =>
  decision ? { evidence, ranking, decision, judgement: judgement ?? null } : null;
