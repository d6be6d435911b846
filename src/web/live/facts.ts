import { createHash } from 'node:crypto';
import type { Candidate, Usage } from '../../core/model/index.ts';
import { CANDIDATE_STATE_LABELS, elapsed, money } from '../../core/reports/index.ts';
import type { RunMark, RunRecord } from '../../ports/index.ts';
import { shownLine } from '../layout.ts';

/** Characters of a candidate's note in an event. */
const NOTE_CHARS = 300;

/** What changes while a run works, in the words of its page. */
export interface RunFacts {
  readonly state: RunRecord['state'];
  /** Changes when more than texts of the page changes: it must be loaded again then. */
  readonly structure: string;
  /** By the names that pages give their `data-live-text`: `usd`, `A.note`, `A.state`, `A.usd`, `A.time`. Not markup. */
  readonly texts: Readonly<Record<string, string>>;
}

export function runFacts(run: RunRecord, candidates: readonly Candidate[], { usd }: Usage): RunFacts {
  const { state, stages, updatedAt, title } = run;
  const parts = [state, updatedAt, title, stages, candidates.map((one) => [one.alias, one.state])];
  const texts = candidates.flatMap(({ alias, note, state: own, usage, ms }) => [
    [`${alias}.note`, shownLine(note, NOTE_CHARS)],
    [`${alias}.state`, CANDIDATE_STATE_LABELS[own]],
    [`${alias}.usd`, money(usage.usd)],
    [`${alias}.time`, elapsed(ms)],
  ]);
  return {
    state,
    structure: createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16),
    texts: { usd: money(usd), ...Object.fromEntries(texts) },
  };
}

/** Only letters and digits, so that it can be an event's id. */
export const markVersion = ({ version }: RunMark): string =>
  createHash('sha256').update(version).digest('hex').slice(0, 16);
