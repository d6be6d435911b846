import type { CandidateState, FaultCode, Usd } from '../core/model/index.ts';

/** What came of something that we asked of somebody else. */
export type Asked = 'done' | 'refused' | 'failed';

/** Counts what happens, for whoever runs Runoff. Nothing here rejects or throws. Times are seconds. */
export interface Metrics {
  /** One execution of a durable step; what is replayed after a crash is not executed again. */
  stage(name: string, seconds: number): void;
  /** One delivery, answered. `event`: GitHub's word. */
  webhook(event: string, status: number, seconds: number): void;
  /** One call that was settled in the ledger. */
  modelCall(call: {
    readonly model: string;
    readonly status: number;
    readonly usd: Usd;
    readonly tokensIn: number;
    readonly tokensOut: number;
  }): void;
  /** A model call that the gateway refused. `kind`: what was wrong with it, one of a few words. */
  gatewayRefusal(kind: string): void;
  /** `kind`: a method of the publisher, or `push`. */
  githubWrite(kind: string, outcome: Asked): void;
  /** What a stage met and could not mend. */
  fault(code: FaultCode): void;
  /** How a coder's work on a candidate ended. */
  candidate(state: CandidateState): void;
  /** All figures as text for a scrape. Rejects where the store cannot be read: half an answer would look like a calm. */
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>;
}
