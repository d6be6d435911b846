import type { Actor, RunId, RunState } from '../core/model/index.ts';
import type { CommandOutcome } from './commands.ts';

/** How much there is of what, at one moment. */
export interface Census {
  readonly runs: Readonly<Record<RunState, number>>;
  /** Runs on GitHub that may start and wait for a place. */
  readonly inLine: number;
  /** Candidates of living runs whose coder has not begun. */
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
