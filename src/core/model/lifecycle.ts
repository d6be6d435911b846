import type { RunState } from './run.ts';

/** From each state, the states that may follow. `failed` and `cancelled` may follow any state that is not final. */
const NEXT: Readonly<Record<RunState, readonly RunState[]>> = {
  queued: ['admitted', 'refused'],
  admitted: ['briefed', 'awaiting_answer', 'awaiting_approval'],
  refused: [],
  // An answer leads to a new brief, which may ask again.
  awaiting_answer: ['briefed', 'admitted', 'awaiting_approval'],
  awaiting_approval: ['briefed', 'admitted', 'awaiting_answer'],
  briefed: ['coded'],
  coded: ['examined'],
  // Back to the coders for a further round.
  examined: ['judged', 'briefed'],
  judged: ['published', 'awaiting_pick'],
  // Nobody codes or judges any more: a person picks one, or none.
  awaiting_pick: ['published', 'closed'],
  published: ['merged', 'closed'],
  merged: [],
  closed: [],
  failed: [],
  cancelled: [],
};

/** A run in a final state holds no resources and takes no further step; `published` still waits for its pull request. */
export const isFinal = (state: RunState): boolean => NEXT[state].length === 0;

/** The work of the run itself is over, whatever people do with its result later. */
export const isOver = (state: RunState): boolean =>
  isFinal(state) || state === 'published' || state === 'awaiting_pick';

export type Move =
  | { readonly kind: 'moved' }
  | { readonly kind: 'same' }
  | { readonly kind: 'refused'; readonly why: string };

/** May a run go from one state to another? Asking for the state it is in is `same`: steps are repeated after a crash. */
export function move(from: RunState, to: RunState): Move {
  if (from === to) return { kind: 'same' };
  if (NEXT[from].includes(to)) return { kind: 'moved' };
  if ((to === 'failed' || to === 'cancelled') && !isOver(from)) return { kind: 'moved' };
  return { kind: 'refused', why: `A run that is ${from} cannot become ${to}.` };
}

interface AtWork {
  readonly state: RunState;
  /** Milliseconds since 1970 UTC. */
  readonly stages: readonly { readonly startedAt: number }[];
}

const PREPARES_AGAIN: ReadonlySet<RunState> = new Set(['queued', 'awaiting_answer', 'awaiting_approval']);

/**
 * Since when runs at work hold what they prepared, milliseconds since 1970 UTC; infinity where none is at work. A stage
 * prepares what it needs anew, and then opens areas on it for hours, with times between in which no area stands on it.
 */
export const heldSince = (runs: readonly AtWork[]): number =>
  Math.min(
    ...runs
      .filter(({ state }) => !isOver(state) && !PREPARES_AGAIN.has(state))
      .map(({ stages }) => Math.max(0, ...stages.map(({ startedAt }) => startedAt))),
  );
