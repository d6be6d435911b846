import type { RunId } from '../core/model/index.ts';

/** Operations of a durable flow. A flow's body must be deterministic: all effects happen inside `step`. */
export interface FlowContext {
  readonly id: string;
  /**
   * Runs `work` once and stores its result. After a crash, finished steps are not repeated; interrupted ones start
   * again. `signal` aborts when the run is cancelled. Rejects with the error of `work`.
   */
  step<T>(name: string, work: (signal: AbortSignal) => Promise<T>, options?: StepOptions): Promise<T>;
  /**
   * Sleeps until this flow is signalled under `topic` or `ms` milliseconds have passed, also across restarts. Signals
   * are buffered: one sent before the wait ends it at once. Each signal ends one wait.
   */
  wait(topic: string, ms: number): Promise<'signalled' | 'timeout'>;
  /**
   * Whether a change of the flow's body applies to this flow: false if an older version had already passed this
   * point, so that its recorded steps differ. The answer is stored. Must not be called while other steps are running.
   */
  patched(name: string): Promise<boolean>;
  /**
   * Acquires one of this process's slots for runs; waits in the run queue until one is free. The flow keeps the slot
   * until it ends, and releases it while it waits for people. A flow that resumes after a crash or such a wait goes
   * before flows that never had a slot.
   */
  waitForSlot(entry: QueueEntry): Promise<void>;
  /**
   * Starts one flow per input, in order, on its queue, and waits for all. Any process that serves the queue may run
   * them. Never rejects for a single child: result i belongs to input i and says how it ended.
   */
  fanOut<T>(inputs: readonly ChildInput[]): Promise<readonly ChildResult<T>[]>;
}

export interface StepOptions {
  /**
   * True: a shutdown aborts `signal` at once instead of waiting for the step to end by itself, for steps that wait for
   * others or lose little. It starts again at the next launch, like every interrupted step. Default: false.
   */
  readonly abortOnShutdown?: boolean;
}

/** Determines a run's position in the run queue. */
export interface QueueEntry {
  /** The key for fair sharing: slots are distributed evenly among shares. */
  readonly share: string;
  /** Lower values come first; 0 is the highest priority. */
  readonly priority: number;
  /** When the work was requested, milliseconds since 1970 UTC. Breaks ties: older first. */
  readonly since: number;
}

export interface ChildInput {
  /** Default: `candidate`. */
  readonly flow?: 'candidate' | 'examination';
  /** Unique within the run; the child's id is `<run>-<key>`. */
  readonly key: string;
  /** Children with the same partition share the per-repository limit. */
  readonly partition: string;
  /** Within the partition; lower values come first. Default: 0. */
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
  /** Starts processing, and resumes runs that this executor left unfinished when it stopped or crashed. */
  launch(flows: Flows): Promise<void>;
  /** Starts a run. Idempotent by id: a second start joins the first. Resolves when the start is durable. */
  start(id: RunId, input: unknown): Promise<void>;
  /** Waits until a run has ended in any way, and until its steps in this process have finished. */
  settled(id: RunId): Promise<Exclude<FlowStatus, { kind: 'running' }>>;
  status(id: RunId): Promise<FlowStatus>;
  /** Those of these names of executors under which a process works at the moment. Needs no launch. */
  activeExecutors(executors: readonly string[]): Promise<ReadonlySet<string>>;
  /** Cancels a run and its candidates: running steps are signalled, no further step starts. */
  cancel(id: RunId): Promise<void>;
  /** Wakes a flow that waits, or will wait, under `topic`; a key wakes it only once. No effect on a finished flow. */
  signal(id: RunId, topic: string, key: string): Promise<void>;
  /**
   * Deletes runs that ended before a time (milliseconds since 1970 UTC), with their candidates; returns their number.
   */
  forget(before: number): Promise<number>;
  /**
   * Stops accepting work and waits up to `graceMs` for running steps; those with `abortOnShutdown` are aborted first.
   * Unfinished work resumes at the next launch.
   */
  shutdown(graceMs?: number): Promise<void>;
}

/** The work that a process accepts: everything, or candidates and examinations only. */
export type ExecutorRole = 'app' | 'worker';

/** Public information about a process that shares the work. */
export interface ExecutorFacts {
  readonly role: ExecutorRole;
  /** Name of its machine. */
  readonly host: string;
  /** Version of Runoff. */
  readonly version: string;
  /** Maximum candidates that it codes at a time; 0: none. */
  readonly coders: number;
  /** Maximum runs whose candidates it examines at a time; 0: none. */
  readonly examinations: number;
}

export interface ExecutorRecord extends ExecutorFacts {
  readonly id: string;
  /** Milliseconds since 1970 UTC, by the clock of its machine. */
  readonly startedAt: number;
  /** Milliseconds since its last heartbeat, by the clock of the database; null for one that has left. */
  readonly silentMs: number | null;
}

/** The identity of one process among those that share the work. */
export interface Identity {
  /** Stable across restarts. */
  readonly id: string;
  /** New at each start, so that leftovers of an earlier process with the same name are recognized. */
  readonly incarnation: string;
}

/** The processes that share the work, as seen by one of them. Faults of all methods: DATABASE_UNAVAILABLE. */
export interface Executors {
  /** Registers this process under its name; an earlier process with the same name expires. */
  join(facts: ExecutorFacts, at: number): Promise<void>;
  /** Sends a heartbeat. `expired`: others have taken over the work of this process, and it must end. */
  beat(): Promise<'alive' | 'expired'>;
  /** Asks the others to take over immediately. */
  leave(): Promise<void>;
  /**
   * Expires every other process that has left, or whose heartbeat this process has seen unchanged for `staleMs` by
   * its own monotonic clock, within one uptime of the database server; detection thus takes at least two calls.
   * `transfer` moves their work: until it completes, none of them can rejoin under its name; if it rejects, they are
   * still expired, and the next call finds them again. Returns their ids.
   */
  expire(staleMs: number, transfer: (ids: readonly string[]) => Promise<void>): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Guards irreversible actions: calls of a model, writes to GitHub. */
export interface Fence {
  /**
   * Resolves at once while the last heartbeat is recent by every clock; otherwise sends a heartbeat first. Rejects
   * with EXECUTOR_EXPIRED if others have taken over, with DATABASE_UNAVAILABLE if that cannot be determined.
   */
  check(): Promise<void>;
}
