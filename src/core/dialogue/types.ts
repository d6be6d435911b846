import type { Actor, Question } from '../model/index.ts';

/** What a person said to a run that waits. */
export interface Reply {
  /** From 1, in the order in which they came to this run. */
  readonly number: number;
  readonly kind: 'answer' | 'approve' | 'revise';
  /** 1-based option of an answer; absent: `text` is the answer. */
  readonly option?: number;
  /** Bounded free text; empty for an approval. */
  readonly text: string;
  /** Null: somebody at the command line of this machine. */
  readonly by: Actor | null;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

export type NewReply = Omit<Reply, 'number'>;

/** What a run asked, and what came of it. */
export type Inquiry = {
  /** From 1. */
  readonly number: number;
  /** Milliseconds since 1970 UTC. */
  readonly askedAt: number;
  readonly until: number;
  /** Absent while it is open. */
  readonly settled?: Settled;
} & ({ readonly kind: 'answer'; readonly question: Question } | { readonly kind: 'approval' });

export type Settled =
  | { readonly kind: 'answered'; readonly text: string; readonly by: Actor | null; readonly at: number }
  | { readonly kind: 'approved'; readonly by: Actor | null; readonly at: number }
  | { readonly kind: 'revised'; readonly text: string; readonly by: Actor | null; readonly at: number }
  /** Nobody spoke in time: what the question assumes is taken. */
  | { readonly kind: 'assumed'; readonly text: string; readonly at: number }
  /** Nobody spoke in time, and the run ended. */
  | { readonly kind: 'expired'; readonly at: number };

/** What a run and its maintainers said to each other about the brief. */
export interface Dialogue {
  readonly inquiries: readonly Inquiry[];
  /** Number of the last reply that was looked at. */
  readonly taken: number;
  /** How many answers and wishes the brief takes into account. */
  readonly heard: number;
}

export const NO_DIALOGUE: Dialogue = { inquiries: [], taken: 0, heard: 0 };
