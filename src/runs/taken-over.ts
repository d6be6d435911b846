import type { Candidate } from '../core/model/index.ts';

const START = 'taken over from run ';

/** The note of a candidate of a retry that an earlier run coded. `how`: what it was there. */
export const takenOverNote = ({ runId, alias }: Pick<Candidate, 'runId' | 'alias'>, how: string): string =>
  `${START}${runId}, where it was ${alias}${how}`;

/**
 * Whether an earlier run coded a candidate of a retry. No calls alone say nothing: the candidate that is rerun has none
 * either if its program asks no model through Runoff.
 */
export const isTakenOver = ({ usage, note }: Pick<Candidate, 'usage' | 'note'>): boolean =>
  usage.calls === 0 && (note ?? '').startsWith(START);
