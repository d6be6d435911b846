import type { RunId } from '../core/model/index.ts';

/** What is no longer kept, before which moment; milliseconds since 1970 UTC. */
export interface Expiry {
  /** Runs that are over, by the time of their last change. */
  readonly runs: number;
  /** Calls through the gateway and the audit, by their time. */
  readonly ledger: number;
  /** Runs that stay all the same, with their rows of all kinds but the ledger's. */
  readonly except?: readonly RunId[];
}

export interface Expired {
  /** Ids; gone with all their rows. */
  readonly runs: readonly RunId[];
  /** Rows. */
  readonly calls: number;
  readonly audit: number;
  /** Rows: answers of models that were kept for a repetition, of runs that are over. */
  readonly answers: number;
}

/** What the database lets go of. Each method is one transaction. Faults: DATABASE_UNAVAILABLE. */
export interface Retention {
  /**
   * Removes what has expired; `dry`: only says what would be. A run stays while it is at work, while it waits for a pick,
   * while its pull request is open, and for good where somebody has picked: that is what contestants are compared by.
   */
  expire(before: Expiry, dry: boolean): Promise<Expired>;
  /** Every name of an artifact that any row speaks of, the engine's rows too where they stand in the same database. */
  artifactsInUse(): Promise<ReadonlySet<string>>;
}
