import { Hono } from 'hono';
import { html } from 'hono/html';
import { fullNameOf, RUN_STATES, type RunState } from '../../core/model/index.ts';
import { elapsed, money } from '../../core/reports/index.ts';
import type { ListedRun, RunFilter } from '../../ports/index.ts';
import type { WebContext, WebEnv, WebParts } from '../context.ts';
import { type Html, moment, sendPage, shownLine, shownText } from '../layout.ts';
import { listCursor, readListCursor } from '../list-cursor.ts';

/** Runs on one page of the list. */
const RUNS_ON_A_PAGE = 50;

/** The list of runs that the viewer may see. */
export function runList(parts: WebParts): Hono<WebEnv> {
  const app = new Hono<WebEnv>();
  app.get('/', (c) => sendList(c, parts));
  return app;
}

/** What somebody looks for, as in the address. Empty: all. */
interface Asked {
  /** `owner/name`. */
  readonly repo: string;
  readonly state: string;
  readonly by: string;
  readonly q: string;
  readonly after: string;
}

async function sendList(c: WebContext, { world, access }: WebParts): Promise<Response> {
  const { viewer } = c.var;
  const asked: Asked = { repo: '', state: '', by: '', q: '', after: '', ...shortened(c.req.query()) };
  const named = asked.repo === '' ? null : await access.visibleNamed(viewer, asked.repo, 'lately');
  const seen = named
    ? { repositories: named.repository ? [named.repository] : [], complete: true }
    : await access.visibleRepositories(viewer);
  const filter = filterOf(
    asked,
    viewer?.kind === 'local' ? 'local' : seen.repositories.map((one) => one.repositoryId),
  );
  const found = await world.store.listRuns({ ...filter, limit: RUNS_ON_A_PAGE + 1 });
  const runs = found.slice(0, RUNS_ON_A_PAGE);
  const last = found.length > runs.length ? runs.at(-1) : undefined;
  return sendPage(c, {
    title: 'Runs',
    body: html`${viewer?.kind === 'local' ? '' : filterForm(asked)}
${viewer?.kind === 'github' ? html`<p><a href="/new${asked.repo === '' ? '' : `?${new URLSearchParams({ repo: asked.repo })}`}">Start a run on an issue</a></p>` : ''}
<div id="runs" data-live>${runs.length > 0 ? runTable(runs, world.clock.now()) : emptyList(asked, viewer?.kind === 'local', named?.renamed)}</div>
${last ? html`<p><a rel="next" href="/runs?${query({ ...asked, after: listCursor(last) })}">Older runs</a></p>` : ''}
${seen.complete ? '' : html`<p class="muted">This list is not complete: GitHub is asked about your rights to a few repositories a minute, those with the newest runs first. Load the page again in a minute, or enter the name of a repository to see its runs.</p>`}`,
  });
}

/** Longest value of a filter, characters. */
const MAX_ASKED = 200;

const shortened = (given: Readonly<Record<string, string>>): Partial<Asked> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value.trim().slice(0, MAX_ASKED)]));

function filterOf({ state, by, q, after }: Asked, of: RunFilter['of']): Omit<RunFilter, 'limit'> {
  const states = RUN_STATES.filter((one) => one === state);
  const place = readListCursor(after);
  return {
    of,
    ...(states.length > 0 ? { states } : {}),
    ...(by === '' ? {} : { by }),
    ...(q === '' ? {} : { text: q }),
    ...(place ? { after: place } : {}),
  };
}

const query = (asked: Asked): string =>
  new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== '')).toString();

const stateName = (state: RunState): string => state.replaceAll('_', ' ');

const filterForm = ({
  repo,
  state,
  by,
  q,
}: Asked): Html => html`<form class="filters" method="get" action="/runs">
<label>Repository <input name="repo" value="${repo}" placeholder="owner/name"></label>
<label>State <select name="state"><option value="">all</option>${RUN_STATES.map(
  (one) => html`<option value="${one}"${one === state ? html` selected` : ''}>${stateName(one)}</option>`,
)}</select></label>
<label>Requested by <input name="by" value="${by}" placeholder="login"></label>
<label>Title <input name="q" type="search" value="${q}"></label>
<button>Filter</button></form>`;

function emptyList(asked: Asked, local: boolean, renamed?: string): Html {
  if (renamed !== undefined)
    return html`<p>The repository that was ${shownText(asked.repo, 200)} is now <a href="/runs?${query({ ...asked, repo: renamed })}">${shownText(renamed, 200)}</a>.</p>`;
  if (query(asked) !== '') return html`<p>No run matches. <a href="/runs">Show all runs</a></p>`;
  return local
    ? html`<p>There is no run yet. Start one with <code>runoff run "What should change" --repo FOLDER</code>.</p>`
    : html`<p>There is no run in a repository that you may read. Label an issue <code>auto-dev</code>, or comment <code>/auto-dev run</code> on it, to start one.</p>`;
}

const runTable = (
  runs: readonly ListedRun[],
  now: number,
): Html => html`<div class="wide"><table class="runs">
<thead><tr><th scope="col">Run</th><th scope="col">Where</th><th scope="col">State</th><th scope="col">Winner</th><th scope="col" class="number">Cost</th><th scope="col">Age</th></tr></thead>
<tbody>${runs.map(
  (run) => html`<tr>
<td><a href="/runs/${run.id}">${shownText(run.title, 200)}</a></td>
<td>${whereOf(run)}</td><td><span class="state" data-state="${run.state}">${stateName(run.state)}</span></td>
${winnerCell(winnerOf(run))}<td class="number">${money(run.usd)}</td>
<td title="${shownLine(run.id)}">${moment(run.createdAt, `${elapsed(now - run.createdAt)} ago`)}</td></tr>`,
)}</tbody></table></div>`;

function whereOf({ origin }: ListedRun): Html {
  if (origin.kind === 'local') return html`<code>${shownText(origin.path, 200)}</code>`;
  const { issue, requestedBy } = origin;
  return html`${shownText(`${fullNameOf(origin)}#${issue}`, 200)} <span class="muted">by ${shownText(requestedBy.login, 60)}</span>`;
}

const NO_WINNER = '–';

/** On a phone, where no heading says what it is, nothing stands for nothing. */
const winnerCell = (winner: string): Html =>
  winner === NO_WINNER
    ? html`<td class="unknown">${winner}</td>`
    : html`<td data-title="Winner">${winner}</td>`;

/** What a person picked, else what the evidence decided. */
function winnerOf({ decision, pick }: ListedRun): string {
  if (pick) return pick.alias === null ? 'none, picked' : `${pick.alias}, picked`;
  if (!decision) return NO_WINNER;
  if (decision.kind === 'none') return 'none';
  return decision.kind === 'winner'
    ? `${decision.alias}, ${decision.confidence}`
    : `${decision.alias}, toss-up`;
}
