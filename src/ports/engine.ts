import type { RunId } from '../core/model/index.ts';

/** What a durable flow may do. A flow's body must be deterministic: all effects happen inside `step`. */
export interface FlowContext {
  readonly id: string;
  /**
   * Runs `work` once and remembers its result: after a crash a finished step is not repeated, one that was in
   * flight is started again. `signal` aborts when the run is cancelled. Rejects with what `work` rejected with.
   */
  step<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /**
   * Sleeps until somebody signals this flow under `topic`, or `ms` milliseconds have passed, also across restarts.
   * Signals are buffered: one that came before the wait ends it at once. Each signal ends one wait.
   */
  wait(topic: string, ms: number): Promise<'signalled' | 'timeout'>;
  /**
   * Whether a change of the flow's body holds for this flow: false for one that an older version brought past this place,
   * whose further steps stand at other places. Remembered. Not while other steps are under way.
   */
  patched(name: string): Promise<boolean>;
  /**
   * Takes one of the slots for runs of this process; waits in the run queue while none is free. The flow keeps the slot
   * until it ends, and frees it while it waits for people. A flow that comes back after a crash, or from such a wait, goes
   * before those that never had a slot.
   */
  waitForSlot(entry: QueueEntry): Promise<void>;
  /**
   * Starts a flow once for each input, in order, on its queue, and waits for all; any process that serves the queue may
   * take it. Never rejects for one child: result i belongs to input i and says how it ended.
   */
  fanOut<T>(inputs: readonly ChildInput[]): Promise<readonly ChildResult<T>[]>;
}

/** What decides a run's position in the run queue. */
export interface QueueEntry {
  /** Whose work it is: slots are shared out evenly among these. */
  readonly share: string;
  /** 0 comes first. */
  readonly priority: number;
  /** When the work was asked for, milliseconds since 1970 UTC: of two that are otherwise alike the older comes first. */
  readonly since: number;
}

export interface ChildInput {
  /** Absent: `candidate`. */
  readonly flow?: 'candidate' | 'examination';
  /** Unique within the run; the child's id is `<run>-<key>`. */
  readonly key: string;
  /** Children with the same partition share the per-repository limit. */
  readonly partition: string;
  /** Within the partition; 0 (also where absent) comes first. */
  readonly priority?: number;
  readonly input: unknown;
}
export type ChildResult<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly why: string };

export interface Flows {
  readonly run: (context: FlowContext, input: unknown) => Promise<unknown>;
  readonly candidate: (context: FlowContext, input: unknown) => Promise<unknown>;
  /** Builds and tests all candidates of a run. */
  readonly examination: (context: FlowContext, input: unknown) => Promise<unknown>;
}

export type FlowStatus =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'running' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly why: string };

/** Durable execution of runs. One engine per process. */
export interface Engine {
  /** Starts work, and takes up the runs that this executor left unfinished when it stopped or died. */
  launch(flows: Flows): Promise<void>;
  /** Idempotent by id: a second start of the same id joins the first. Returns when the start is durable. */
  start(id: RunId, input: unknown): Promise<void>;
  /** Waits for the end of a run, however it ends, and of those of its steps that still work in this process. */
  settled(id: RunId): Promise<Exclude<FlowStatus, { kind: 'running' }>>;
  status(id: RunId): Promise<FlowStatus>;
  /** Cancels a run and its candidates: running steps get their signal, no further step starts. */
  cancel(id: RunId): Promise<void>;
  /** Wakes a flow that waits, or will wait, under `topic`; the same key wakes it once. Does nothing for a flow that is over. */
  signal(id: RunId, topic: string, key: string): Promise<void>;
  /** Forgets runs, with their candidates, that ended before a moment (milliseconds since 1970 UTC); how many they were. */
  forget(before: number): Promise<number>;
  /** Stops taking work and waits up to `graceMs` for running steps; what is unfinished goes on at the next launch. */
  shutdown(graceMs?: number): Promise<void>;
}

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
   * the earliest. `transfer` moves their work: until it is through, none of them can come back under its name; where
   * it rejects, they are expired all the same, and the next call finds them again. Returns their ids.
   */
  expire(staleMs: number, transfer: (ids: readonly string[]) => Promise<void>): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Stands before what cannot be taken back: a call of a model, a write to GitHub. */
export interface Fence {
  /**
   * Passes at once while the last heartbeat is fresh by every clock; else sends one first. Rejects with EXECUTOR_EXPIRED when
   * others have taken over, with DATABASE_UNAVAILABLE when that cannot be determined.
   */
  check(): Promise<void>;
}
