import type { Alias } from './run.ts';

/**
 * Kinds of a coder's steps. `start`, `exit` and `cut` are Runoff's own words: the coder was started, has ended, or
 * reported more than is kept. All others are what the agent reports about itself; they prove nothing.
 */
export const CODER_STEP_KINDS = [
  'start',
  'says',
  'command',
  'edit',
  'tool',
  'result',
  'output',
  'end',
  'exit',
  'cut',
] as const;
export type CoderStepKind = (typeof CODER_STEP_KINDS)[number];

/** What one line of an agent's output reports. Texts are data of unknown origin. */
export interface CoderEvent {
  /**
   * `says`: its own words. `command`, `edit`, `tool`: a call of a tool, when it begins. `result`: how that call ended.
   * `output`: a line of a program with a format of its own. `end`: the agent says that it is done.
   */
  readonly kind: Exclude<CoderStepKind, 'start' | 'exit' | 'cut'>;
  /** One short line without control characters; may be empty for a result. */
  readonly text: string;
  /** What does not fit in the line: the whole text, the change, or the output of a call. Several lines, cut. */
  readonly detail?: string;
  /** The agent's name of a call, the same for its result. */
  readonly call?: string;
  /** Of a result: exit code of a command, if the agent reports one. */
  readonly exitCode?: number;
  /** Of a result or end: whether it succeeded. */
  readonly ok?: boolean;
  /** A piece of a text that arrives in pieces: continues the event before it if that has the same kind. */
  readonly piece?: true;
}

/** One stored step of a coder. */
export interface CoderStep extends Omit<CoderEvent, 'kind' | 'piece'> {
  readonly alias: Alias;
  /** 1, 2, 3, … for each candidate, also across restarts. Missing first numbers were deleted: only the newest are kept. */
  readonly number: number;
  /** When Runoff read it, milliseconds since 1970 UTC. */
  readonly at: number;
  readonly kind: CoderStepKind;
}

/** Limits of what is kept of one coder's steps. Our defaults. */
export const CODER_STEP_LIMITS = {
  /** UTF-16 units of the line. */
  text: 300,
  /** UTF-16 units of the detail. */
  detail: 4_000,
  /** Details that have this many units in all; after that, details of a candidate are shortened to `shortDetail`. */
  details: 1_500_000,
  shortDetail: 200,
  /** Steps of a candidate that are kept: the newest. */
  steps: 2_000,
  /** Steps a second over a longer time, and at once. */
  perSecond: 5,
  burst: 200,
} as const;

/** The first and the last half of a text, with a note of what is missing between. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  const half = Math.floor(most / 2);
  const missing = text.length - 2 * half;
  const [first, last] = [text.slice(0, half), text.slice(text.length - half)];
  return `${first.toWellFormed()}\n[… ${missing} characters left out …]\n${last.toWellFormed()}`;
}
