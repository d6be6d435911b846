import type { Dialogue, NewReply, Reply } from '../core/brief/index.ts';
import type { Debate } from '../core/debate/index.ts';
import type { Evidence } from '../core/evidence/index.ts';
import type { IndependentTestReport } from '../core/independent-tests/index.ts';
import type { Judgement, WinnerReview } from '../core/judging/index.ts';
import type {
  ArtifactRef,
  Brief,
  Candidate,
  FaultCode,
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
import type { ExecutorRecord, QueueEntry } from './engine.ts';
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
  PickRecord,
  Recipes,
  Retention,
  Vote,
  Whose,
} from './records.ts';

/** All that is kept of a run besides its candidates and artifacts. Times are milliseconds since 1970 UTC. */
export interface RunRecord {
  readonly id: RunId;
  readonly origin: Origin;
  readonly state: RunState;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly title: string;
  /** What the run was started with, as the run wrote it: plain JSON, opaque to the store. */
  readonly request: unknown;
  readonly task?: Task;
  readonly brief?: Brief;
  /** Absent where no debate was held. */
  readonly debate?: Debate;
  /** What was asked about the brief and answered; absent where nothing was asked. */
  readonly dialogue?: Dialogue;
  readonly evidence?: readonly Evidence[];
  /** Tests that models wrote and what became of them; absent where none was asked. */
  readonly independentTests?: IndependentTestReport;
  readonly ranking?: readonly Ranked[];
  /** What blind judges said; absent where none were asked. */
  readonly judgement?: Judgement;
  readonly decision?: Decision;
  /** Reviews of those who had the first place, in order; absent where nobody was reviewed. */
  readonly review?: readonly WinnerReview[];
  readonly outcome?: RunOutcome;
  /** Why the run was refused or failed: what happened, and what to do next. */
  readonly trouble?: {
    readonly code: FaultCode | 'REFUSED';
    readonly message: string;
    readonly advice: string;
  };
  readonly stages: readonly StageTiming[];
  /** For display. */
  readonly checks?: ChecksView;
  /** Where candidates were executed. */
  readonly sandbox?: SandboxView;
  /** Its entry in the run queue, also after it left it; absent before it is known that it may start. */
  readonly queueEntry?: QueueEntry;
}

export interface StageTiming {
  readonly stage: Stage;
  readonly startedAt: number;
  readonly endedAt?: number;
}

/** What a run left behind where its users look. */
export type RunOutcome = OutcomeView;

/** Fields of a run that stages may set; `undefined` leaves a field as it is. */
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
  /** False when the provider did not report usage and we estimated it. */
  readonly exact: boolean;
  readonly status: number;
  readonly ms: number;
  readonly at: number;
}

/** Whose caps a call counts against. */
export interface Booker {
  readonly runId: RunId;
  readonly spender: string;
  readonly repository: string;
  /** The start of the day; milliseconds since 1970 UTC. */
  readonly dayFrom: number;
  /** A call booked before this and not settled counts as one whose process is gone; milliseconds since 1970 UTC. */
  readonly underWayFrom: number;
}

export interface Booked {
  /** All that the ledger holds, settled or not. */
  readonly booked: number;
  /** Part of `booked`: of calls under way. */
  readonly held: number;
}

/** Dollars, or tokens in and out, that count against each cap of a call. */
export interface LedgerSums {
  readonly spender: Booked;
  readonly spenderTokens: Booked;
  readonly run: Booked;
  readonly repositoryDay: Booked;
  readonly day: Booked;
  /** What the run may spend by its record as it is now; null for work that is no run, or has no task yet. */
  readonly runCap: Usd | null;
}

/** Our database. Every method is one transaction; all reject with DATABASE_UNAVAILABLE when it cannot be reached. */
export interface Store extends AnswerStore, Recipes, Retention {
  /** False when a run with this id exists; nothing is changed then. */
  createRun(run: {
    id: RunId;
    origin: Origin;
    title: string;
    request: unknown;
    at: number;
  }): Promise<boolean>;
  /** Inbox: the delivery, its semantic key and the run in one transaction. False when either was seen before. */
  acceptDelivery(
    delivery: Delivery,
    run: { origin: Origin; title: string; request: unknown; at: number },
  ): Promise<boolean>;
  run(id: RunId): Promise<RunRecord | null>;
  /** Newest first. */
  runs(limit: number): Promise<readonly RunRecord[]>;
  /** Runs of an issue that are not in a final state, oldest first. */
  activeRuns(repositoryId: number, issue: number): Promise<readonly RunRecord[]>;
  /** Runs on GitHub that wait for a slot, and those that have one: at work, and not waiting for people. */
  queuedRuns(): Promise<{ readonly waiting: readonly WaitingRun[]; readonly holders: readonly SlotHolder[] }>;
  /**
   * Runs on GitHub that came to their end from a moment on (milliseconds since 1970 UTC) and whose intent of this key is
   * not fulfilled with `true`, oldest change first. Left out: those that ended before anything was said of them.
   */
  endedWithout(key: string, since: number, limit: number): Promise<readonly RunRecord[]>;
  /** All runs that are not in a final state. */
  unfinished(): Promise<readonly RunRecord[]>;
  /** Ids of the runs in one of these states, oldest first: for who looks often, and needs nothing else of them. */
  idsIn(states: readonly RunState[]): Promise<readonly RunId[]>;
  updateRun(id: RunId, patch: RunPatch, at: number): Promise<void>;
  /** Moves a run if `core/model/run.ts` allows it from the state it has now; returns the state it then has. Asking for the state it is in changes nothing. What is refused, cancelled, merged or closed is audited with it. */
  transition(id: RunId, to: RunState, cause: string, at: number): Promise<RunState>;
  transitions(id: RunId): Promise<readonly Transition[]>;
  markStage(id: RunId, stage: Stage, mark: 'start' | 'end', at: number): Promise<void>;

  /** Inserts or replaces by (run, alias). */
  putCandidate(candidate: Candidate): Promise<void>;
  /** By alias. */
  candidates(id: RunId): Promise<readonly Candidate[]>;

  /**
   * Books what `decide` makes of the sums, before the call goes out: with what it may cost at most (`exact` false, `status`
   * 0), so that a crash cannot lose it. Returns its number; null where `decide` returned null. Nobody else books between
   * the look and the booking, whatever their process.
   */
  bookCall(whose: Booker, decide: (sums: LedgerSums) => LedgerRow | null): Promise<number | null>;
  /** Writes what the call came to over what was booked; its answer, where it is to be kept, in the same transaction. */
  settleCall(call: number, row: LedgerRow, answer?: KeptAnswer): Promise<void>;
  usage(id: RunId, spender?: string): Promise<Usage>;

  /**
   * Keeps what somebody said to a run: once for a key, whatever was said under it then (I8). Null when the key is taken.
   */
  addReply(runId: RunId, key: string, reply: NewReply): Promise<Reply | null>;
  /** In the order in which they came. */
  replies(runId: RunId): Promise<readonly Reply[]>;

  /** An answer that was kept under a key for work that is no run; null where there is none. */
  kept(scope: string, key: string): Promise<ArtifactRef | null>;
  /** Keeps an answer; the first one under a key stays. */
  keep(scope: string, key: string, answer: ArtifactRef): Promise<void>;

  /** Runs whose issue is this number, or whose pull request is, newest first; at most 50. */
  runsAt(repositoryId: number, thread: number): Promise<readonly RunRecord[]>;
  /** Runs on GitHub created from a moment on that got as far as a task (milliseconds since 1970 UTC). */
  startedSince(at: number, whose: Whose): Promise<number>;
  /** Dollars booked from a moment on for runs on GitHub. */
  spentBySince(at: number, whose: Whose): Promise<Usd>;
  /** Whether a label event of this issue was taken whose time is `at` or later. */
  isLabelRecorded(repositoryId: number, issue: number, at: number): Promise<boolean>;

  /** Inbox of commands: false when this one was received before. */
  recordCommand(command: NewCommand): Promise<boolean>;
  command(id: string): Promise<CommandRecord | null>;
  /** Writes what became of a command, and its row of the audit; the first outcome stands. */
  settleCommand(id: string, outcome: CommandOutcome, at: number, runId?: RunId): Promise<void>;
  /** Commands that nothing has become of yet, oldest first. */
  unsettledCommands(): Promise<readonly CommandRecord[]>;
  /** The newest commands of a repository, newest first. */
  commands(repositoryId: number, limit: number): Promise<readonly CommandRecord[]>;

  /** One for each person: the later one counts. */
  vote(runId: RunId, vote: Vote): Promise<void>;
  /** By time. */
  votes(runId: RunId): Promise<readonly Vote[]>;
  /** Adds a pick, or finds the one with this key. */
  addPick(runId: RunId, pick: Omit<PickRecord, 'number'>): Promise<PickRecord>;
  picks(runId: RunId): Promise<readonly PickRecord[]>;

  /**
   * Writes a planned intent unless the key has one; returns what stands there now. The scope is a run's id, that of a
   * command which concerns no run, or a name of what is done once for many runs.
   */
  intend(scope: string, key: string): Promise<{ readonly fresh: boolean; readonly intent: Intent }>;
  fulfil(scope: string, key: string, result: unknown): Promise<void>;
  /** What stands there, without planning anything; null where nothing was planned. */
  intent(scope: string, key: string): Promise<Intent | null>;
  /** The processes that share the work, by name. */
  executors(): Promise<readonly ExecutorRecord[]>;

  /** Adds a row to the audit. Nothing ever changes one. */
  audit(entry: AuditEntry, place: AuditPlace): Promise<void>;
  /** The newest rows, newest first; of one run where it is named. */
  audited(options: { readonly run?: RunId; readonly limit: number }): Promise<readonly AuditRecord[]>;
  census(): Promise<Census>;
  close(): Promise<void>;
}

/** What a sweep took away. */
export interface Swept {
  readonly files: number;
  readonly bytes: number;
}

export interface SweepOptions {
  /** By SHA-256 in hexadecimal: true for what somebody still refers to. Asked once for each old artifact. */
  readonly keep: (sha256: string) => boolean;
  /** Milliseconds since 1970 by the store's clock: what was put at this time or later stays, whoever refers to it. */
  readonly before: number;
}

/** Content-addressed texts. Written whole or not at all; `get` checks the hash. */
export interface Artifacts {
  /** Kept for good when it resolves. What is there already counts as put now. Faults: DISK_FULL, ARTIFACTS_UNAVAILABLE. */
  put(content: string): Promise<ArtifactRef>;
  /** Rejects with STORED_DATA_DAMAGED when the artifact is gone or is not what was put, with ARTIFACTS_UNAVAILABLE in an outage. */
  get(ref: ArtifactRef): Promise<string>;
  /**
   * Removes what is old and wanted by nobody, also drafts that a crash left. An artifact that is put again meanwhile
   * is there afterwards. May be repeated after a failure. Faults as for `put`.
   */
  sweep(options: SweepOptions): Promise<Swept>;
}
