/** What a process takes: everything, or candidates and examinations only. */
export type ExecutorRole = 'app' | 'worker';

/** What people see of a process that shares the work. */
export interface ExecutorFacts {
  readonly role: ExecutorRole;
  /** Name of its machine. */
  readonly host: string;
  /** Of Runoff. */
  readonly version: string;
  /** Candidates it codes at a time; 0: none. */
  readonly coders: number;
  /** Runs whose candidates it builds and tests at a time; 0: none. */
  readonly examinations: number;
}

export interface ExecutorRecord extends ExecutorFacts {
  readonly id: string;
  /** Milliseconds since 1970 UTC, by the clock of its machine. */
  readonly startedAt: number;
  /** Milliseconds since its last heartbeat, by the clock of the database; null for one that has left. */
  readonly silentMs: number | null;
}

/** Who one process is among those that share the work. */
export interface Identity {
  /** The same after a restart. */
  readonly id: string;
  /** Another at each start: what an earlier process of the name left behind is not taken for this one's. */
  readonly incarnation: string;
}

/** The processes that share the work, as one of them sees them. Faults of all methods: DATABASE_UNAVAILABLE. */
export interface Executors {
  /** From now on this process is the one of its name; one that had the name before expires. */
  join(facts: ExecutorFacts, at: number): Promise<void>;
  /** Sends a heartbeat. `expired`: others have taken over the work of this process, and it must end. */
  beat(): Promise<'alive' | 'expired'>;
  /** Asks the others to take over at once. */
  leave(): Promise<void>;
  /**
   * Expires every other process that has left, or whose heartbeat this process has seen unchanged for `staleMs` by
   * its own monotonic clock, under one and the same start of the database server: so it is found by the second call at
   * the earliest. `handOn` moves their work: until it is through, none of them can come back under its name; where
   * it rejects, they are expired all the same, and the next call finds them again. Returns their ids.
   */
  expire(staleMs: number, handOn: (ids: readonly string[]) => Promise<void>): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Stands before what cannot be taken back: a call of a model, a write to GitHub. */
export interface Fence {
  /**
   * Passes at once while the last heartbeat is fresh by every clock; else sends one first. Rejects with EXECUTOR_EXPIRED when
   * others have taken over, with DATABASE_UNAVAILABLE when that cannot be told.
   */
  check(): Promise<void>;
}
