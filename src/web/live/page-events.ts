import { createHash } from 'node:crypto';
import type { CoderStep } from '../../core/model/index.ts';
import { CANDIDATE_STATE_LABELS, costText, elapsed, money, type RunView } from '../../core/reports/index.ts';
import type { RunRecord } from '../../ports/index.ts';
import type { ShownCall } from '../../runs/index.ts';
import { shownLine } from '../layout.ts';
import type { FollowedRun, StreamForm } from './run-streams.ts';
import { callItem, stepItem } from './step-list.ts';

/** Characters of a candidate's note in an event. */
const NOTE_CHARS = 300;

/** Events in the words of the run's pages. */
export const PAGE_EVENTS: StreamForm = {
  name: 'page',
  run: pageFacts,
  steps: stepsAsMarkup,
};

/**
 * Differs after every change of a run by which more than texts of its pages change: a page with another one must be
 * loaded again.
 */
export function structureOf(
  { state, updatedAt, title, stages }: RunRecord,
  { candidates, votes = [], picks = [] }: Pick<RunView, 'candidates' | 'picks' | 'votes'>,
): string {
  const parts = [
    state,
    updatedAt,
    title,
    stages,
    candidates.map((one) => [one.alias, one.state, one.contestant]),
    votes.map(({ by, alias }) => [by.id, alias]),
    picks.map(({ alias }) => alias),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/** `texts`, not markup: by the names that pages give their `data-live-text`, such as `usd` and `A.note`. */
function pageFacts(followed: FollowedRun): object {
  const { run, candidates, usage } = followed;
  const texts = candidates.flatMap(({ alias, note, state, usage: own, ms }) => [
    [`${alias}.note`, shownLine(note, NOTE_CHARS)],
    [`${alias}.state`, CANDIDATE_STATE_LABELS[state]],
    [`${alias}.usd`, costText(own)],
    [`${alias}.time`, elapsed(ms)],
  ]);
  return {
    state: run.state,
    structure: structureOf(run, followed),
    texts: { usd: money(usage.usd), ...Object.fromEntries(texts) },
  };
}

/** Server-rendered, escaped. */
async function stepsAsMarkup(
  alias: string,
  steps: readonly CoderStep[],
  calls: readonly ShownCall[],
): Promise<object> {
  const shown = [
    ...(await Promise.all(steps.map(async (one) => ({ at: one.at, html: String(await stepItem(one)) })))),
    ...(await Promise.all(calls.map(async (one) => ({ at: one.at, html: String(await callItem(one)) })))),
  ].toSorted((a, b) => a.at - b.at);
  return {
    alias,
    numbers: steps.map(({ number }) => number),
    html: shown.map(({ html }) => html).join(''),
  };
}
