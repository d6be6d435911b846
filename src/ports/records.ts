import type { Actor, Alias, ArtifactRef, RunId, RunState } from '../core/model/index.ts';
import type { Recipe } from '../core/settings/index.ts';

export interface Delivery {
  /** GitHub's delivery id. */
  readonly id: string;
  readonly event: string;
  /** Says the same for the same happening, whatever the delivery id: a replay finds it taken (I8). */
  readonly semanticKey: string;
  readonly runId: RunId;
}

/** One writer's vote; a later one of the same person takes its place. */
export interface Vote {
  readonly by: Actor;
  readonly alias: Alias;
  readonly at: number;
}

/** A person's pick, `none` included; kept for the leaderboard. */
export interface PickRecord {
  /** 1-based, in the order in which they were made. */
  readonly number: number;
  /** Null: none of them. */
  readonly alias: Alias | null;
  /** Null: the person at this machine. */
  readonly by: Actor | null;
  readonly at: number;
  /** The command that made it; a repeated one adds nothing. */
  readonly key: string;
  /** What the person was shown. */
  readonly shown: {
    /** In the order of the ranking. */
    readonly aliases: readonly Alias[];
    /** Who stood first, if anybody. */
    readonly first: Alias | null;
    readonly votes: Readonly<Record<Alias, number>>;
  };
}

/** Whose runs are counted against a cap. */
export type Whose =
  | { readonly kind: 'repository'; readonly id: number }
  | { readonly kind: 'installation'; readonly id: number }
  | { readonly kind: 'user'; readonly id: number };

export type Intent = { readonly state: 'planned' } | { readonly state: 'done'; readonly result: unknown };

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

/** How much there is of what, at one moment. */
export interface Census {
  readonly runs: Readonly<Record<RunState, number>>;
  /** Runs on GitHub in the run queue. */
  readonly queuedRuns: number;
  /** Candidates of active runs whose coder has not started. */
  readonly codersWaiting: number;
  /** Processes that gave a sign of life in the last two minutes, by role. */
  readonly executors: Readonly<Record<string, number>>;
}

/** What is kept of a deed, of ours or of a person, for whoever asks later who did what and why. */
export type AuditEntry =
  /** A command, with what became of it. */
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly by: Actor;
      /** As it was written, cut. */
      readonly text: string;
      readonly thread: number;
      readonly outcome: CommandOutcome;
    }
  /** A run that was refused, or that people ended or changed. */
  | {
      readonly kind: 'refusal' | 'transition';
      readonly from: RunState;
      readonly to: RunState;
      readonly cause: string;
    }
  /** One write to GitHub, right after it. `what`: a method of the publisher, or `push`. */
  | {
      readonly kind: 'write';
      readonly what: string;
      readonly repository: string;
      /** Number of the issue or pull request, where it is about one. */
      readonly thread?: number;
      readonly branch?: string;
      readonly outcome: 'done' | 'refused' | 'failed';
      /** HTTP; absent where there was no answer, and for pushes. */
      readonly status?: number;
    };

/** Where an entry belongs. */
export interface AuditPlace {
  readonly repositoryId?: number;
  readonly run?: RunId;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

export interface AuditRecord extends AuditPlace {
  /** Rises with every entry. */
  readonly number: number;
  readonly entry: AuditEntry;
}

/** Where a command was given. Bounded copies of what GitHub said: names are for display, ids decide. */
export interface CommandPlace {
  readonly installationId: number;
  readonly repositoryId: number;
  readonly owner: string;
  readonly name: string;
  /** Number of the issue or pull request. */
  readonly thread: number;
  readonly isPull: boolean;
  /** What carries the command, or the comment of ours that was ticked. */
  readonly comment: number;
  /** `line`: a comment on a line of a pull request. */
  readonly on: 'conversation' | 'line';
}

/** One command of a person, as it was received. */
export interface NewCommand {
  /** The same for the same command however often it is delivered, e.g. `comment:991` (I8). */
  readonly id: string;
  readonly place: CommandPlace;
  readonly by: Actor;
  /** GitHub's word for their relation to the repository, as `MEMBER`: says whose turn comes first, nothing else. */
  readonly association?: string;
  /** As it was written, cut to what a command can need. */
  readonly text: string;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  /** What the issue or pull request said then; kept where the command may start a run (I5). */
  readonly issue?: { readonly title: string; readonly body: ArtifactRef };
  /** Whose comparison the ticked box stands in; absent for what was written. */
  readonly ticked?: RunId;
}

/** What became of a command; for the audit. */
export type CommandOutcome =
  | { readonly kind: 'done'; readonly note: string }
  /** `why`: a sentence. */
  | { readonly kind: 'refused'; readonly why: string }
  /** Of a person without the right, or to nobody: not answered. */
  | { readonly kind: 'ignored'; readonly why: string };

export interface CommandRecord extends NewCommand {
  readonly outcome?: CommandOutcome;
  readonly runId?: RunId;
  readonly settledAt?: number;
}

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

/** How repositories were set up, built and tested when that worked. */
export interface Recipes {
  /**
   * What was kept last for a repository under a key, and marks it as used; null for nothing, and for what cannot be read.
   * The key, in hexadecimal, is made of everything that a recipe depends on. `at`: milliseconds since 1970 UTC.
   */
  recipe(repository: string, key: string, at: number): Promise<Recipe | null>;
  keepRecipe(repository: string, key: string, recipe: Recipe, at: number): Promise<void>;
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
