import type { Evidence } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';

/** What put one candidate behind the one above it. */
export type Separator = 'gates' | 'regressions' | 'peer-tests' | 'metrics' | 'hash';

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
  /** A = (1/2 + sum of shares over authors) / (1 + authors), in [0, 1]; 1/2 without peer tests. */
  readonly peerShare: number;
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
  readonly peerShare: number;
  readonly metrics: Metrics;
}
