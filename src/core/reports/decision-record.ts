import type { Evidence } from '../evidence/index.ts';
import type { Judgement } from '../judging/index.ts';
import type { Decision, Ranked } from '../ranking/index.ts';
import type { RunView } from './view.ts';

/** The complete basis of a decision as plain JSON: execution results, all scores, and the judges' verdicts. */
export interface DecisionRecord {
  /** Of all examined candidates. */
  readonly evidence: readonly Evidence[];
  /** Best first, with the scores of each strategy and what separates each candidate from the next. */
  readonly ranking: readonly Ranked[];
  readonly decision: Decision | null;
  /** Null if no judge was asked. */
  readonly judgement: Judgement | null;
}

/** Null until the run is decided. */
export const decisionRecord = ({ evidence, ranking, decision, judgement }: RunView): DecisionRecord | null =>
  decision ? { evidence, ranking, decision, judgement: judgement ?? null } : null;
