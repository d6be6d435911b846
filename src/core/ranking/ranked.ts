import type { Evidence } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import type { Signals } from './support.ts';

/** What put one candidate behind the one above it. */
export const SEPARATORS = [
  'gates',
  'regressions',
  'objections',
  'tests',
  'behaviour',
  'agreement',
  'judges',
  'vote',
  'score',
  'metrics',
  'hash',
] as const;
export type Separator = (typeof SEPARATORS)[number];

export interface Metrics {
  /** All ratios in [0, 1]; `total` in [0, 100]. Null where there is no evidence: the weights are then shared out anew. */
  readonly tests: number | null;
  readonly simplicity: number;
  readonly speed: number;
  readonly total: number;
}

export interface Ranked {
  readonly alias: Alias;
  /** 1-based. */
  readonly place: number;
  readonly survivor: boolean;
  readonly regressions: number;
  readonly signals: Signals;
  /** The signals as one number: natural logarithm of odds, of use only within the pool. */
  readonly support: number;
  readonly metrics: Metrics;
  /** What decided between this one and the next; absent on the last. */
  readonly aheadBy?: Separator;
  /** One sentence: why it stands here. */
  readonly because: string;
}

/** A candidate's evidence with what is compared; `reasons.ts` puts it into words. */
export interface Standing {
  readonly evidence: Evidence;
  readonly gatesPassed: number;
  readonly regressions: number;
  readonly signals: Signals;
  readonly support: number;
  readonly metrics: Metrics;
  /** Bradley-Terry strength; null where judges said nothing of it. */
  readonly judged: number | null;
  /** Model families whose candidates changed the same, itself included. */
  readonly votes: number;
}
