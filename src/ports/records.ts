import type { CandidateOutcome, MergeFacts } from '../core/learning/index.ts';
import type { Actor, Alias, ArtifactRef, FaultCode, RunId, RunState, Stage } from '../core/model/index.ts';
import type { Recipe } from '../core/settings/index.ts';

export interface Delivery {
  /** GitHub's delivery id. */
  readonly id: string;
  readonly event: string;
  /** Identifies the event independently of the delivery id, so that a replay is detected (I8). */
  readonly semanticKey: string;
  readonly runId: RunId;
}

/** Why a run was rejected or failed, or was not published in full: what happened, and what to do next. */
export interface RunTrouble {
  readonly code: FaultCode | 'REFUSED';
  readonly message: string;
  readonly advice: string;
}

/** When a stage of a run began and ended, milliseconds since 1970 UTC. */
export interface StageTiming {
  readonly stage: Stage;
  readonly startedAt: number;
  readonly endedAt?: number;
}

/** The vote of one person with write access; a later vote replaces it. */
export interface Vote {
  readonly by: Actor;
  readonly alias: Alias;
  readonly at: number;
}

/** A person's pick, including `none`. */
export interface PickRecord {
  /** 1-based, in chronological order. */
  readonly number: number;
  /** Null: none of them. */
  readonly alias: Alias | null;
  /** Null: the person at this machine. */
  readonly by: Actor | null;
  readonly at: number;
  /** The command that made the pick; repeating it has no effect. */
  readonly key: string;
  /** What the person saw. */
  readonly shown: {
    /** In the order of the ranking. */
    readonly aliases: readonly Alias[];
    /** The candidate in first place, if any. */
    readonly first: Alias | null;
    readonly votes: Readonly<Record<Alias, number>>;
  };
}

/** All test results of a run, for people: a `TestTable` and its `TestOutputs`, as JSON. */
export interface TestResults {
  readonly table: ArtifactRef;
  readonly outputs: ArtifactRef;
}

/** Whose runs count against a cap. */
export type Whose =
  | { readonly kind: 'repository'; readonly id: number }
  | { readonly kind: 'installation'; readonly id: number }
  | { readonly kind: 'user'; readonly id: number };

export type Intent = { readonly state: 'planned' } | { readonly state: 'done'; readonly result: unknown };

/** A complete response of a model, as delivered to the caller. */
export interface KeptAnswer {
  /** SHA-256 of the request, in hexadecimal. */
  readonly question: string;
  /**
   * 0 for the first response to this request, then 1, 2, …: repeating an identical request returns the responses in
   * order.
   */
  readonly number: number;
  readonly status: number;
  /** The headers that were delivered. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ArtifactRef;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

/**
 * Caches paid responses, so that a stage restarted within its run receives them again. Not shared between runs.
 * Deleted after the run is over (`Retention`).
 */
export interface AnswerStore {
  keptAnswers(runId: RunId, spender: string): Promise<readonly KeptAnswer[]>;
}

/** Counts at one moment, for metrics. */
export interface Census {
  readonly runs: Readonly<Record<RunState, number>>;
  /** Runs on GitHub in the run queue. */
  readonly queuedRuns: number;
  /** Candidates of active runs whose coder has not started. */
  readonly codersWaiting: number;
  /** Processes with a heartbeat in the last two minutes, by role. */
  readonly executors: Readonly<Record<string, number>>;
}

/** A record of an action, by Runoff or a person, that says who did what and why. */
export type AuditEntry =
  /** A command, with its outcome. */
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly by: Actor;
      /** Id of the token of the API that it came by; absent for all others. */
      readonly token?: string;
      /** As written, truncated. */
      readonly text: string;
      readonly thread: number;
      readonly outcome: CommandOutcome;
    }
  /** A run that was rejected, or that people ended or changed. */
  | {
      readonly kind: 'refusal' | 'transition';
      readonly from: RunState;
      readonly to: RunState;
      readonly cause: string;
    }
  /**
   * A token of the API. `by`: of a new one the person that it acts for, of a revoked one who revoked it; null: somebody at
   * the command line.
   */
  | {
      readonly kind: 'token';
      readonly what: 'created' | 'revoked';
      readonly token: string;
      readonly by: Actor | null;
    }
  /** One write to GitHub, recorded immediately after it. `what`: a method of the publisher, or `push`. */
  | {
      readonly kind: 'write';
      readonly what: string;
      readonly repository: string;
      /** Number of the issue or pull request, if any. */
      readonly thread?: number;
      readonly branch?: string;
      readonly outcome: 'done' | 'refused' | 'failed';
      /** HTTP status; absent without a response, and for pushes. */
      readonly status?: number;
    };

/** The repository, run and time of an entry. */
export interface AuditPlace {
  readonly repositoryId?: number;
  readonly run?: RunId;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

export interface AuditRecord extends AuditPlace {
  /** Increases with every entry. */
  readonly number: number;
  readonly entry: AuditEntry;
}

/** The place of a command. Bounded copies of GitHub's data: names are for display, decisions use ids. */
export interface CommandPlace {
  readonly installationId: number;
  readonly repositoryId: number;
  readonly owner: string;
  readonly name: string;
  /** Number of the issue or pull request. */
  readonly thread: number;
  readonly isPull: boolean;
  /** The comment that contains the command, or Runoff's comment in which a box was ticked; 0 for `page`. */
  readonly comment: number;
  /** `line`: a comment on a line of a pull request. `page`: no comment, but a page of Runoff or a request to its API. */
  readonly on: 'conversation' | 'line' | 'page';
}

/** A person's command, as received. */
export interface NewCommand {
  /** Identical for every delivery of the same command, e.g. `comment:991` (I8). */
  readonly id: string;
  readonly place: CommandPlace;
  readonly by: Actor;
  /** GitHub's author association, such as `MEMBER`. Used for queue order only. */
  readonly association?: string;
  /** As written, truncated to the maximum length of a command. */
  readonly text: string;
  /** When it was written. Milliseconds since 1970 UTC. */
  readonly at: number;
  /** When it reached Runoff, which may be days later. Milliseconds since 1970 UTC; absent: stored by an earlier version. */
  readonly receivedAt?: number;
  /** Text of the issue or pull request at that time; kept if the command may start a run (I5). */
  readonly issue?: { readonly title: string; readonly body: ArtifactRef };
  /** The run whose comparison or question contains the ticked box; absent for a written command. */
  readonly ticked?: RunId;
  /** Id of the token of the API that it came by; absent for all others, and for tokens of GitHub users. */
  readonly token?: string;
  /** Absent for commands in comments, and for those from a page or the API that name no run. */
  readonly page?: PageContext;
}

/** The run whose page a command was given on, and what that page showed. */
export interface PageContext {
  readonly run: RunId;
  /** Number of the inquiry that the page showed as open; absent if unknown. */
  readonly inquiry?: number;
  /** How many picks of the run the page knew; absent if unknown. */
  readonly picks?: number;
}

/** The outcome of a command; for the audit. */
export type CommandOutcome =
  | { readonly kind: 'done'; readonly note: string }
  /** `why`: a sentence. */
  | { readonly kind: 'refused'; readonly why: string }
  /** From a person without permission, or not addressed to Runoff: not answered. */
  | { readonly kind: 'ignored'; readonly why: string };

export interface CommandRecord extends NewCommand {
  readonly outcome?: CommandOutcome;
  readonly runId?: RunId;
  readonly settledAt?: number;
}

/** What to delete, and the time before which; milliseconds since 1970 UTC. */
export interface Expiry {
  /** Runs that are over, by the time of their last change. */
  readonly runs: number;
  /** Gateway calls and audit entries, by their time. */
  readonly ledger: number;
  /** Idempotency keys, by the time of their first use. */
  readonly keys: number;
  /** Runs to keep, with all their rows except the ledger's. */
  readonly except?: readonly RunId[];
}

export interface Expired {
  /** Ids of deleted runs; all their rows are deleted, too. */
  readonly runs: readonly RunId[];
  /** Number of rows. */
  readonly calls: number;
  readonly audit: number;
  /** Number of rows: cached model responses of runs that are over. */
  readonly answers: number;
}

/** Setup, build and test commands that worked for a repository. */
export interface Recipes {
  /**
   * Returns the recipe stored last for a repository and key, and marks it as used; null if there is none or it cannot
   * be read. The key, in hexadecimal, is derived from everything that a recipe depends on. `at`: milliseconds since
   * 1970 UTC.
   */
  recipe(repository: string, key: string, at: number): Promise<Recipe | null>;
  keepRecipe(repository: string, key: string, recipe: Recipe, at: number): Promise<void>;
}

/**
 * What became of candidates, for the comparison of contestants. Kept when runs are deleted, so it contains no code and
 * no text of issues. Each method is one transaction. Faults: DATABASE_UNAVAILABLE.
 */
export interface Outcomes {
  /**
   * Replaces what is known of a run by these outcomes, except for its merge facts, which stay. `at`: when the run was
   * read, milliseconds since 1970 UTC.
   */
  keepOutcomes(runId: RunId, outcomes: readonly CandidateOutcome[], at: number): Promise<void>;
  /** Stores what was found out about the merge of a run's pull request. Without outcomes of the run, nothing. */
  keepMerge(runId: RunId, merge: MergeFacts): Promise<void>;
  /** Outcomes by run, oldest run first, of repositories (their keys), at most of this many of the newest runs. */
  outcomes(options: {
    readonly repositories?: readonly string[];
    readonly runs: number;
  }): Promise<readonly CandidateOutcome[]>;
  /**
   * Outcomes of the candidates in merged pull requests, oldest run first, of all runs that exist and have changed at or
   * after a time (milliseconds since 1970 UTC).
   */
  mergesSince(at: number): Promise<readonly CandidateOutcome[]>;
  /** Each repository of which outcomes are kept, with each name that it had and its newest run of then; newest first. */
  outcomeRepositories(): Promise<readonly Pick<CandidateOutcome, 'repository' | 'repositoryName' | 'at'>[]>;
  /** Deletes the outcomes of a repository (its key), for good unless one of its runs changes. Returns their number. */
  deleteOutcomes(repository: string): Promise<number>;
  /** Ids of judged runs (of `among`) that are over and have changed, or got a pick, since their outcomes were kept. */
  outcomesDue(limit: number, among?: readonly RunId[]): Promise<readonly RunId[]>;
}

/** Deletes expired data. Each method is one transaction. Faults: DATABASE_UNAVAILABLE. */
export interface Retention {
  /**
   * Deletes what has expired; `dry` only reports it. A run is kept while it is active, waits for a pick or has an open
   * pull request, and for good if a person picked: people come back to what they chose. Outcomes stay.
   */
  expire(before: Expiry, dry: boolean): Promise<Expired>;
  /** All artifact names that any row references, including the engine's rows if they are in the same database. */
  artifactsInUse(): Promise<ReadonlySet<string>>;
  /** Its name, also of its copies. If it has none: a random one that it keeps if nobody owns the artifacts, else ''. */
  databaseName(owner: string | null): Promise<string>;
}
