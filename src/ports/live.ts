import type { Alias, CoderStep, CoderStepKind, Origin, RunId } from '../core/model/index.ts';

/** Which steps of a candidate to read. */
export interface StepQuery {
  readonly alias: Alias;
  /** Only steps with a higher number. */
  readonly after?: number;
  /** Only steps with a lower number: the last of them, if there are more than the limit. */
  readonly before?: number;
  readonly kinds?: readonly CoderStepKind[];
  /** Only steps whose text or detail contains this, ignoring case. */
  readonly text?: string;
  readonly limit: number;
}

/** What is stored of one candidate's steps. */
export interface StepTotals {
  readonly alias: Alias;
  /** Numbers of the first and the last stored step. */
  readonly first: number;
  readonly last: number;
  /** Number of starts of its coder. */
  readonly starts: number;
  /** UTF-16 units of all details. */
  readonly details: number;
}

/** What changes while a run is watched. */
export interface RunMark {
  readonly id: RunId;
  readonly origin: Origin;
  /** Differs after any change of the run, its candidates, stages, money, votes, picks or replies. */
  readonly version: string;
  /** Candidate → number of its last step. */
  readonly steps: Readonly<Record<Alias, number>>;
}

/**
 * What coders do, and what has changed, for those who watch a run from any process. Each method is one transaction.
 * Faults: DATABASE_UNAVAILABLE.
 */
export interface LiveRuns {
  /**
   * Stores steps of a run. A step whose number its candidate already has is not stored again, so a call may be repeated.
   * Only the newest steps of a candidate are kept (`CODER_STEP_LIMITS`). Fault: RUN_UNKNOWN.
   */
  appendSteps(runId: RunId, steps: readonly CoderStep[]): Promise<void>;
  /** In the order of their numbers. */
  steps(runId: RunId, query: StepQuery): Promise<readonly CoderStep[]>;
  /** By alias; candidates without steps are absent. */
  stepTotals(runId: RunId): Promise<readonly StepTotals[]>;
  /** Marks of these runs, or of those changed last. Cheap enough to be read every second. */
  runMarks(which: readonly RunId[] | { readonly newest: number }): Promise<readonly RunMark[]>;
}
