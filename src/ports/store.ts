import type { Dialogue, NewReply, Reply } from '../core/brief/index.ts';
import type { Debate } from '../core/debate/index.ts';
import type { Evidence } from '../core/evidence/index.ts';
import type { IndependentTestReport } from '../core/independent-tests/index.ts';
import type { Judgement, WinnerReview } from '../core/judging/index.ts';
import type {
  ArtifactRef,
  Brief,
  Candidate,
  FieldEnd,
  Origin,
  RunId,
  RunState,
  SlotHolder,
  Stage,
  Task,
  Usage,
  Usd,
  WaitingRun,
} from '../core/model/index.ts';
import type { Decision, Ranked } from '../core/ranking/index.ts';
import type { ChecksView, OutcomeView, SandboxView } from '../core/reports/index.ts';
import type { ApiTokens, IdempotencyKeys } from './api.ts';
import type { ExecutorRecord, QueueEntry } from './engine.ts';
import type { LiveRuns } from './live.ts';
import type { RunLists, Sessions } from './pages.ts';
import type {
  AnswerStore,
  AuditEntry,
  AuditPlace,
  AuditRecord,
  Census,
  CommandOutcome,
  CommandRecord,
  Delivery,
  Intent,
  KeptAnswer,
  NewCommand,
  Outcomes,
  PickRecord,
  Recipes,
  Retention,
  RunTrouble,
  StageTiming,
  TestResults,
  Vote,
  Whose,
} from './records.ts';

/** The stored data of a run, without its candidates and artifacts. Times are milliseconds since 1970 UTC. */
export interface RunRecord {
  readonly id: RunId;
  readonly origin: Origin;
  readonly state: RunState;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly title: string;
  /** The run's input as plain JSON, opaque to the store. */
  readonly request: unknown;
  readonly task?: Task;
  readonly brief?: Brief;
  /** Absent if there was no debate. */
  readonly debate?: Debate;
  /** Questions about the brief and their answers; absent if none were asked. */
  readonly dialogue?: Dialogue;
  readonly evidence?: readonly Evidence[];
  /** Tests written by models, with their results; absent if none were requested. */
  readonly independentTests?: IndependentTestReport;
  readonly testResults?: TestResults;
  /** Of a sequential field; absent while further contestants may start. */
  readonly fieldEnd?: FieldEnd;
  readonly ranking?: readonly Ranked[];
  /** The verdict of the blind judges; absent if none were asked. */
  readonly judgement?: Judgement;
  readonly decision?: Decision;
  /** Reviews of the candidates in first place, in order; absent if there were none. */
  readonly review?: readonly WinnerReview[];
  readonly outcome?: RunOutcome;
  readonly trouble?: RunTrouble;
  readonly stages: readonly StageTiming[];
  /** For display. */
  readonly checks?: ChecksView;
  /** Where candidates were executed. */
  readonly sandbox?: SandboxView;
  /** Its entry in the run queue, kept after it leaves the queue; absent until the run is admitted. */
  readonly queueEntry?: QueueEntry;
}

/** The published results of a run. */
export type RunOutcome = OutcomeView;

/** Fields of a run that stages may set; `undefined` leaves a field unchanged. */
export type RunPatch = Partial<
  Omit<RunRecord, 'id' | 'origin' | 'state' | 'createdAt' | 'updatedAt' | 'stages'>
>;

export interface Transition {
  readonly from: RunState;
  readonly to: RunState;
  readonly cause: string;
  readonly at: number;
}

/** One call through the gateway. */
export interface LedgerRow {
  readonly runId: RunId;
  readonly spender: string;
  /** As in the grant. */
  readonly repository: string;
  readonly model: string;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly tokensCached: number;
  /** Part of `tokensOut`. */
  readonly tokensReasoning: number;
  readonly usd: number;
  /** False when the provider reported no usage, so that it was estimated. */
  readonly exact: boolean;
  readonly status: number;
  readonly ms: number;
  readonly at: number;
}

/** One call with its number, which increases in the order of booking. */
export interface NumberedCall extends LedgerRow {
  readonly number: number;
}

/** The spender, run and repository whose caps apply to a call. */
export interface Booker {
  readonly runId: RunId;
  readonly spender: string;
  readonly repository: string;
  /** The start of the day; milliseconds since 1970 UTC. */
  readonly dayFrom: number;
  /** An unsettled call booked before this time counts as abandoned by its process; milliseconds since 1970 UTC. */
  readonly underWayFrom: number;
}

export interface Booked {
  /** The ledger's total, settled or not. */
  readonly booked: number;
  /** The part of `booked` for calls in progress. */
  readonly held: number;
}

/** Dollars, or tokens in and out, that count against each cap of a call. */
export interface LedgerSums {
  readonly spender: Booked;
  readonly spenderTokens: Booked;
  readonly run: Booked;
  readonly repositoryDay: Booked;
  readonly day: Booked;
  /** The run's current spending limit; null for work outside a run, or before the run has a task. */
  readonly runCap: Usd | null;
}

/** The database. Every method is one transaction; all reject with DATABASE_UNAVAILABLE when it cannot be reached. */
export interface Store
  extends AnswerStore,
    ApiTokens,
    IdempotencyKeys,
    LiveRuns,
    Outcomes,
    Recipes,
    Retention,
    RunLists,
    Sessions {
  /** False if a run with this id exists; it is then unchanged. */
  createRun(run: {
    id: RunId;
    origin: Origin;
    title: string;
    request: unknown;
    at: number;
  }): Promise<boolean>;
  /**
   * Inbox: stores the delivery, its semantic key and the run in one transaction. False if either was already
   * received.
   */
  acceptDelivery(
    delivery: Delivery,
    run: { origin: Origin; title: string; request: unknown; at: number },
  ): Promise<boolean>;
  run(id: RunId): Promise<RunRecord | null>;
  /** Newest first. */
  runs(limit: number): Promise<readonly RunRecord[]>;
  /** Runs of an issue that are not in a final state, oldest first. */
  activeRuns(repositoryId: number, issue: number): Promise<readonly RunRecord[]>;
  /** Runs on GitHub that wait for a slot, and those that hold one: active, and not waiting for people. */
  queuedRuns(): Promise<{ readonly waiting: readonly WaitingRun[]; readonly holders: readonly SlotHolder[] }>;
  /**
   * Runs on GitHub that ended at or after a time (milliseconds since 1970 UTC) and whose intent with this key is not
   * fulfilled with `true`, oldest change first. Excludes runs that ended before anything was published about them.
   */
  endedWithout(key: string, since: number, limit: number): Promise<readonly RunRecord[]>;
  /**
   * Runs in one of these states, oldest first, with all that is stored of them: for states that few runs are in.
   * Others accumulate, such as `published`, in which a local run stays.
   */
  runsIn(states: readonly RunState[]): Promise<readonly RunRecord[]>;
  /** Ids of the runs in one of these states, oldest first. Cheap enough for frequent polling. */
  idsIn(states: readonly RunState[]): Promise<readonly RunId[]>;
  /**
   * Sets fields of a run. As a function, the patch is made of the run as it is stored, and no other writer changes the
   * run meanwhile: for a new value that contains the old one. It must not wait for anything.
   */
  updateRun(id: RunId, patch: RunPatch | ((stored: RunRecord) => RunPatch), at: number): Promise<void>;
  /**
   * Changes the state of a run if `core/model/run.ts` allows it; returns the resulting state. A transition to the
   * current state has no effect. The states refused, cancelled, merged and closed are also written to the audit.
   */
  transition(id: RunId, to: RunState, cause: string, at: number): Promise<RunState>;
  transitions(id: RunId): Promise<readonly Transition[]>;
  markStage(id: RunId, stage: Stage, mark: 'start' | 'end', at: number): Promise<void>;

  /** Inserts or replaces by (run, alias). */
  putCandidate(candidate: Candidate): Promise<void>;
  /** By alias. */
  candidates(id: RunId): Promise<readonly Candidate[]>;

  /**
   * Books a call before it is sent, as `decide` determines from the current sums: with its maximum cost (`exact`
   * false, `status` 0), so that a crash cannot lose it. Returns the call's number, or null if `decide` returned null.
   * Atomic across processes: no other booking happens between reading the sums and booking.
   */
  bookCall(whose: Booker, decide: (sums: LedgerSums) => LedgerRow | null): Promise<number | null>;
  /** Replaces a booking by the call's actual cost, and stores its response if it is to be kept. */
  settleCall(call: number, row: LedgerRow, answer?: KeptAnswer): Promise<void>;
  usage(id: RunId, spender?: string): Promise<Usage>;
  /** Calls of one spender with a higher number, in order: what the gateway metered, whatever an agent says. */
  callsOf(
    runId: RunId,
    spender: string,
    options: { readonly after: number; readonly limit: number },
  ): Promise<readonly NumberedCall[]>;

  /** Stores a person's reply to a run: once per key, whatever its text (I8). Null if the key already exists. */
  addReply(runId: RunId, key: string, reply: NewReply): Promise<Reply | null>;
  /** In order of arrival. */
  replies(runId: RunId): Promise<readonly Reply[]>;

  /** A value stored under a key outside of runs; null if there is none. */
  kept(scope: string, key: string): Promise<ArtifactRef | null>;
  /** Stores a value; the first one under a key is kept. */
  keep(scope: string, key: string, answer: ArtifactRef): Promise<void>;

  /**
   * Runs whose issue or pull request has this number, newest first; at most 50. If there are more: first those that are
   * not final, then those whose requester has write access, so that requests of others hide none of them.
   */
  runsAt(repositoryId: number, thread: number): Promise<readonly RunRecord[]>;
  /** Number of runs on GitHub created since a time (milliseconds since 1970 UTC) that have a task. */
  startedSince(at: number, whose: Whose): Promise<number>;
  /**
   * Dollars booked since a time (milliseconds since 1970 UTC): for one owner's runs on GitHub, or without an owner for
   * all runs and for work outside of runs.
   */
  spentSince(at: number, whose?: Whose): Promise<Usd>;
  /** Whether a label event of this issue at this time or later was received. */
  isLabelRecorded(repositoryId: number, issue: number, at: number): Promise<boolean>;

  /** Inbox of commands: false if this one was already received. */
  recordCommand(command: NewCommand): Promise<boolean>;
  command(id: string): Promise<CommandRecord | null>;
  /** Stores a command's outcome and its audit entry; the first outcome is kept. */
  settleCommand(id: string, outcome: CommandOutcome, at: number, runId?: RunId): Promise<void>;
  /** Commands without an outcome, oldest first. */
  unsettledCommands(): Promise<readonly CommandRecord[]>;
  /** The newest commands of a repository, newest first. */
  commands(repositoryId: number, limit: number): Promise<readonly CommandRecord[]>;

  /** One per person: the latest counts. */
  vote(runId: RunId, vote: Vote): Promise<void>;
  /** By time. */
  votes(runId: RunId): Promise<readonly Vote[]>;
  /** Adds a pick, or returns the existing one with this key. */
  addPick(runId: RunId, pick: Omit<PickRecord, 'number'>): Promise<PickRecord>;
  picks(runId: RunId): Promise<readonly PickRecord[]>;

  /**
   * Creates a planned intent unless the key already exists; returns the current intent. The scope is a run's id, the
   * id of a command outside of runs, or a name for a task done once for many runs.
   */
  intend(scope: string, key: string): Promise<{ readonly fresh: boolean; readonly intent: Intent }>;
  fulfil(scope: string, key: string, result: unknown): Promise<void>;
  /** The current intent, without creating one; null if there is none. */
  intent(scope: string, key: string): Promise<Intent | null>;
  /** The processes that share the work, by name. */
  executors(): Promise<readonly ExecutorRecord[]>;

  /** Adds an entry to the audit. Entries are never changed. */
  audit(entry: AuditEntry, place: AuditPlace): Promise<void>;
  /** The newest entries, newest first; restricted to `run` if given. */
  audited(options: { readonly run?: RunId; readonly limit: number }): Promise<readonly AuditRecord[]>;
  census(): Promise<Census>;
  close(): Promise<void>;
}
