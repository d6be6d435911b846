import type { Actor, ArtifactRef, RunId } from '../core/model/index.ts';

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

/** One command of a person, as it was heard. */
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
