import { Hono } from 'hono';
import { html } from 'hono/html';
import { aliasOf } from '../../core/commands/index.ts';
import type { CoderStep, CoderStepKind, RunId } from '../../core/model/index.ts';
import { blindNote, CANDIDATE_STATE_LABELS, type CandidateView } from '../../core/reports/index.ts';
import type { RunRecord, StepTotals } from '../../ports/index.ts';
import { type ShownCall, type ShownWork, shownWork, type World } from '../../runs/index.ts';
import type { WebContext, WebEnv, WebParts } from '../context.ts';
import { type Html, sendNotFound, sendPage, shownLine, shownText } from '../layout.ts';
import { callPosition, isUnderWay, MAX_NUMBER } from './position.ts';
import { stepsWithCalls } from './step-list.ts';

/** Steps on a page. Our default: some screens full. */
const STEPS_ON_A_PAGE = 200;
/** Calls of one candidate that a page may show; more than any coder makes. */
const MAX_CALLS = 2_000;
/** UTF-16 units of a search. */
const MAX_SEARCH = 200;

/** What a page can be restricted to. */
const STEP_FILTERS = {
  all: { title: 'Everything', kinds: null },
  commands: { title: 'Commands', kinds: ['command', 'result'] },
  edits: { title: 'Edits', kinds: ['edit'] },
  words: { title: 'Its words', kinds: ['says', 'output', 'end'] },
  calls: { title: 'Model calls', kinds: [] },
} as const satisfies Record<string, { title: string; kinds: readonly CoderStepKind[] | null }>;
type StepFilter = keyof typeof STEP_FILTERS;

interface StepPageQuery {
  readonly filter: StepFilter;
  readonly text: string;
  /** Steps before or after this number; null: the newest. */
  readonly before: number | null;
  readonly after: number | null;
}

interface StepPage {
  readonly runId: RunId;
  readonly candidate: CandidateView;
  /** A sentence; empty if nothing is hidden. */
  readonly note: string;
  readonly query: StepPageQuery;
  readonly steps: readonly CoderStep[];
  /** There are more that match in the direction of the page: later ones after a number, earlier ones otherwise. */
  readonly hasMore: boolean;
  readonly calls: readonly ShownCall[];
  readonly totals: StepTotals | null;
  /** Where the stream of calls begins; some of those after it may be shown already. */
  readonly callPosition: number;
  readonly isLive: boolean;
}

/** The steps of one candidate's coder. */
export function stepPages({ world }: WebParts): Hono<WebEnv> {
  const app = new Hono<WebEnv>();
  app.get('/:id/steps/:alias', async (c) => {
    const { run } = c.var.visible;
    const alias = aliasOf(c.req.param('alias'));
    const work = await shownWork(world.store, run);
    const candidate = work.candidates.find((one) => one.alias === alias);
    if (!candidate) return sendNotFound(c);
    const page = await loadPage(world, { run, work, candidate }, queryOf(c));
    return sendPage(c, {
      title: `What candidate ${candidate.alias} did: ${shownLine(run.title)}`,
      body: stepPageBody(page),
      assets: ['live.css'],
    });
  });
  return app;
}

function queryOf(c: WebContext): StepPageQuery {
  const show = c.req.query('show') ?? '';
  const number = (name: string): number | null => {
    const text = c.req.query(name) ?? '';
    return /^\d{1,9}$/.test(text) ? Number(text) : null;
  };
  return {
    filter: Object.hasOwn(STEP_FILTERS, show) ? (show as StepFilter) : 'all',
    text: (c.req.query('q') ?? '').slice(0, MAX_SEARCH).trim(),
    before: number('before'),
    after: number('after'),
  };
}

async function loadPage(
  { clock, store }: Pick<World, 'clock' | 'store'>,
  of: { readonly run: RunRecord; readonly work: ShownWork; readonly candidate: CandidateView },
  query: StepPageQuery,
): Promise<StepPage> {
  const { run, work, candidate } = of;
  const { alias } = candidate;
  const { kinds } = STEP_FILTERS[query.filter];
  const which = query.after === null ? { before: query.before ?? MAX_NUMBER } : { after: query.after };
  // First: a step that is stored meanwhile must not look like one that the page leaves out.
  const totals = (await store.stepTotals(run.id)).find((one) => one.alias === alias) ?? null;
  const found = await work.steps({
    alias,
    ...which,
    ...(kinds === null ? {} : { kinds }),
    ...(query.text === '' ? {} : { text: query.text }),
    limit: STEPS_ON_A_PAGE + 1,
  });
  const hasMore = found.length > STEPS_ON_A_PAGE;
  const steps = query.after === null ? found.slice(-STEPS_ON_A_PAGE) : found.slice(0, STEPS_ON_A_PAGE);
  const all = await work.calls(alias, { after: 0, limit: MAX_CALLS });
  const now = clock.now();
  const calls = shownCalls(
    all.filter((one) => !isUnderWay(one, now)),
    { query, steps, totals },
  );
  const isLive = query.filter === 'all' && query.text === '' && isNewest(steps, totals);
  const note = blindNote({ state: run.state, ...(work.namesHidden ? { namesHidden: true } : {}) });
  return {
    runId: run.id,
    candidate,
    note,
    query,
    steps,
    hasMore,
    calls,
    totals,
    callPosition: callPosition(all, 0, now),
    isLive,
  };
}

const isNewest = (steps: readonly CoderStep[], totals: StepTotals | null): boolean =>
  (steps.at(-1)?.number ?? 0) >= (totals?.last ?? 0);

/** The calls made between the first and the last step of a page. */
function shownCalls(
  calls: readonly ShownCall[],
  { query, steps, totals }: Pick<StepPage, 'query' | 'steps' | 'totals'>,
): readonly ShownCall[] {
  const found = calls.filter(({ model }) => (model ?? '').toLowerCase().includes(query.text.toLowerCase()));
  if (query.filter === 'calls') return found;
  if (query.filter !== 'all') return [];
  const first = steps[0];
  const from = first === undefined || first.number === totals?.first ? 0 : first.at;
  const until =
    isNewest(steps, totals) || query.text !== '' ? Number.POSITIVE_INFINITY : (steps.at(-1)?.at ?? 0);
  return found.filter(({ at }) => at >= from && at <= until);
}

function stepPageBody(page: StepPage): Html {
  const { runId, candidate, query, steps, calls, totals, isLive } = page;
  const { alias, note, patch } = candidate;
  const items = stepsWithCalls(steps, calls);
  return html`<p><a href="/runs/${runId}">Overview of the run</a>${patch ? html` · <a href="/runs/${runId}/candidates/${alias}">Diff of ${alias}</a>` : ''}</p>
<p>Candidate ${alias}: <strong data-live-text="${alias}.state">${CANDIDATE_STATE_LABELS[candidate.state]}</strong> <span data-live-text="${alias}.note">${shownText(note, 300)}</span></p>
<p class="note">Commands, edits and words are as the agent reports them; they prove nothing. Model calls are from Runoff's own ledger. ${page.note}</p>
${stepForm(query)}
${firstNote(totals)}
${earlierLink(page)}
<ol class="steps" id="steps"${isLive ? html` data-steps="/runs/${runId}/events?steps=${alias}&amp;after=${steps.at(-1)?.number ?? 0}&amp;call=${page.callPosition}"` : ''}>${items}</ol>
${items.length === 0 ? html`<p id="no-steps">${noSteps(page)}</p>` : ''}
${laterLink(page)}
<p role="status" class="note" data-live-status></p>`;
}

function noSteps({ query, candidate: { state } }: StepPage): string {
  if (query.filter !== 'all' || query.text !== '') return 'No step matches.';
  return state === 'queued' || state === 'coding'
    ? 'Nothing has been reported yet.'
    : 'No step of this coder is kept.';
}

const stepForm = ({
  filter,
  text,
}: StepPageQuery): Html => html`<form method="get" class="filters" role="search">
<label>Show <select name="show">${Object.entries(STEP_FILTERS).map(
  ([name, { title }]) =>
    html`<option value="${name}"${name === filter ? html` selected` : ''}>${title}</option>`,
)}</select></label>
<label>Containing <input type="search" name="q" value="${text}" maxlength="${MAX_SEARCH}"></label>
<button>Search</button>
</form>`;

const firstNote = (totals: StepTotals | null): Html | '' =>
  totals && totals.first > 1
    ? html`<p class="note">Steps 1 to ${totals.first - 1} are no longer kept: only the newest are.</p>`
    : '';

const addressOf = ({ filter, text }: StepPageQuery, more: Readonly<Record<string, string>>): string =>
  `?${new URLSearchParams({ ...(filter === 'all' ? {} : { show: filter }), ...(text === '' ? {} : { q: text }), ...more })}`;

function earlierLink({ steps, hasMore, query, totals }: StepPage): Html | '' {
  const first = steps[0]?.number;
  if (first === undefined)
    return query.before === null && query.after === null
      ? ''
      : html`<p><a href="${addressOf(query, {})}">The newest steps</a></p>`;
  if (first === totals?.first || (query.after === null && !hasMore)) return '';
  return html`<p><a href="${addressOf(query, { before: String(first) })}">Earlier steps</a></p>`;
}

function laterLink({ steps, hasMore, query, totals }: StepPage): Html | '' {
  const last = steps.at(-1)?.number;
  const isLast = query.after === null ? query.before === null || last === totals?.last : !hasMore;
  if (last === undefined || isLast) return '';
  return html`<p><a href="${addressOf(query, { after: String(last) })}">Later steps</a></p>`;
}
