import { createHash } from 'node:crypto';
import type { CoderStep } from '../../core/model/index.ts';
import { CANDIDATE_STATE_LABELS, costText, elapsed, money } from '../../core/reports/index.ts';
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
 * `structure` changes when more than texts of the page changes: it must be loaded again then. `texts`: by the names that
 * pages give their `data-live-text`: `usd`, `A.note`, `A.state`, `A.usd`, `A.time`. Not markup.
 */
function pageFacts({ run, candidates, usage: { usd } }: FollowedRun): object {
  const { state, stages, updatedAt, title } = run;
  const parts = [
    state,
    updatedAt,
    title,
    stages,
    candidates.map((one) => [one.alias, one.state, one.contestant]),
  ];
  const texts = candidates.flatMap(({ alias, note, state: own, usage, ms }) => [
    [`${alias}.note`, shownLine(note, NOTE_CHARS)],
    [`${alias}.state`, CANDIDATE_STATE_LABELS[own]],
    [`${alias}.usd`, costText(usage)],
    [`${alias}.time`, elapsed(ms)],
  ]);
  return {
    state,
    structure: createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16),
    texts: { usd: money(usd), ...Object.fromEntries(texts) },
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
