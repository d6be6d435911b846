import type { ArtifactRef, RunId } from '../core/model/index.ts';

/** A finished answer of a model, as it was passed on to whoever asked. */
export interface KeptAnswer {
  /** SHA-256, hex, of what was asked. */
  readonly question: string;
  /** 0 for the first answer to this question, then 1, 2, …: who asks the same twice gets both answers again. */
  readonly number: number;
  readonly status: number;
  /** Those that were passed on. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ArtifactRef;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

/**
 * Answers that are paid for: whoever starts over in a run is given them again. Nobody else is. They go when the run is over
 * (`Retention`).
 */
export interface AnswerStore {
  keptAnswers(runId: RunId, spender: string): Promise<readonly KeptAnswer[]>;
}
