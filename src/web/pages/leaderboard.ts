import { Hono } from 'hono';
import { html } from 'hono/html';
import {
  type Leaderboard,
  leaderboardOf,
  type Standing,
  WORK_KINDS,
  type WorkKind,
} from '../../core/learning/index.ts';
import { counted, openTimedCache } from '../../core/model/index.ts';
import { contestantName, NONE_TOLD_APART, peopleNotes, standingTexts } from '../../core/reports/index.ts';
import { isLocalKey, repositoryKeyOf } from '../../runs/index.ts';
import type { Viewer, WebEnv, WebParts } from '../context.ts';
import { type Html, sendNotFound, sendPage, shownLine, shownText } from '../layout.ts';

/** Runs that are read of what is selected; the newest count. Our default, as for `runoff leaderboard`. */
const MAX_LEADERBOARD_RUNS = 5_000;

/** Milliseconds for which a calculated leaderboard is shown. Our default: thousands of runs take half a second. */
const LEADERBOARD_MS = 60_000;
/** Leaderboards that are kept. Our default. */
const MAX_LEADERBOARDS = 100;

interface Selection {
  /** Key of a repository; absent: all that the viewer may see. */
  readonly repository?: string;
  readonly kind?: WorkKind;
}

/** Which contestants win, from runs of repositories that the viewer may see, and of no others. */
export function leaderboardPages(parts: WebParts): Hono<WebEnv> {
  const app = new Hono<WebEnv>();
  const { clock, store } = parts.world;
  // By what is counted, so that nobody sees more than they may.
  const known = openTimedCache<Leaderboard>(clock.elapsed, LEADERBOARD_MS, MAX_LEADERBOARDS);
  const calculate = async (repositories: readonly string[], kind?: WorkKind): Promise<Leaderboard> => {
    const outcomes = await store.outcomes({ repositories, runs: MAX_LEADERBOARD_RUNS });
    return leaderboardOf(outcomes.filter((one) => kind === undefined || one.kind === kind));
  };
  app.get('/', async (c) => {
    const { viewer } = c.var;
    if (!viewer) return sendNotFound(c);
    const { names, complete } = await visibleRepositories(parts, viewer);
    const asked = { repository: c.req.query('repo'), kind: c.req.query('kind') };
    const kind = WORK_KINDS.find((one) => one === asked.kind);
    const repository = asked.repository && names.has(asked.repository) ? asked.repository : undefined;
    const selection = { ...(kind ? { kind } : {}), ...(repository ? { repository } : {}) };
    const repositories = repository ? [repository] : [...names.keys()].toSorted();
    const leaderboard = await known.get(JSON.stringify([kind, repositories]), () =>
      calculate(repositories, kind),
    );
    const table = leaderboardTable(leaderboard, names, selection);
    const body = complete
      ? table
      : html`${table}<p class="muted">Runs of some repositories may be missing: GitHub is asked about your rights to a few repositories a minute, those with the newest runs first. Load the page again in a minute.</p>`;
    return sendPage(c, { title: 'Leaderboard', body });
  });
  return app;
}

/** Repositories with outcomes that the viewer may see: key → the name of the newest run. */
async function visibleRepositories(
  { access, world }: WebParts,
  viewer: Viewer,
): Promise<{ readonly names: ReadonlyMap<string, string>; readonly complete: boolean }> {
  const oldestFirst = (await world.store.outcomeRepositories()).toReversed();
  const namesOf = (isVisible: (key: string) => boolean) =>
    new Map(
      oldestFirst.flatMap(({ repository, repositoryName }) =>
        isVisible(repository) ? [[repository, repositoryName] as const] : [],
      ),
    );
  if (viewer.kind === 'local') return { names: namesOf(isLocalKey), complete: true };
  const { repositories, complete } = await access.visibleRepositories(viewer);
  const visible = new Set(repositories.map((one) => repositoryKeyOf({ kind: 'github', ...one })));
  return { names: namesOf((key) => visible.has(key)), complete };
}

function leaderboardTable(
  leaderboard: Leaderboard,
  names: ReadonlyMap<string, string>,
  selection: Selection,
): Html {
  const { standings, runs } = leaderboard;
  const form = selectionForm(names, selection);
  if (standings.length === 0)
    return html`${form}<p>No run of these repositories has been decided yet. Outcomes are kept from each run on.</p>`;
  const notes = [
    '“Wins” is the estimated share of runs that a contestant wins; the fewer runs it has, the closer to the mean of all. The bar is the interval that contains this share with 90% probability. “Alone”: won against others of whom none passed without breaking a test.',
    standings.some(({ isAheadOfNext }) => isAheadOfNext)
      ? 'A line below a contestant separates it from the next one: they differ significantly. Differences without a line can be chance.'
      : NONE_TOLD_APART,
    ...peopleNotes(leaderboard),
  ];
  return html`${form}
<div class="wide" tabindex="0" role="region" aria-label="Leaderboard"><table class="board">
<caption>${counted(runs, 'run')}</caption>
<thead><tr><th scope="col">Contestant</th><th scope="col">Wins</th><th scope="col">90% interval</th><th scope="col">Runs</th><th scope="col">Won</th><th scope="col">Alone</th><th scope="col">Sound</th><th scope="col">Cost</th><th scope="col">Cost per win</th><th scope="col">Merged</th><th scope="col">Time</th></tr></thead>
<tbody>${standings.map(standingRow)}</tbody>
</table></div>
<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`;
}

function standingRow(one: Standing): Html {
  const { wins, interval, ...others } = standingTexts(one);
  return html`<tr${one.isAheadOfNext ? html` class="ahead"` : ''}>
<th scope="row">${shownText(contestantName(one), 200)}</th><td>${wins}</td>
<td>${bar(one)} ${interval}</td>${Object.values(others).map((text) => html`<td>${text}</td>`)}</tr>`;
}

/** The interval on a line from 0 to 100%; the numbers stand beside it. */
function bar({ interval: [low, high], estimate }: Standing): Html {
  const [from, to, at] = [low, high, estimate].map((share) => (100 * share).toFixed(1));
  return html`<svg class="interval" width="104" height="14" viewBox="-2 0 104 14" aria-hidden="true"><line class="scale" x1="0" x2="100" y1="7" y2="7"/><line class="range" x1="${from}" x2="${to}" y1="7" y2="7"/><circle cx="${at}" cy="7" r="3"/></svg>`;
}

const option = (value: string, label: string, chosen: boolean): Html =>
  html`<option value="${value}"${chosen ? html` selected` : ''}>${label}</option>`;

function selectionForm(names: ReadonlyMap<string, string>, { repository, kind }: Selection): Html {
  const repositories = [...names].toSorted(([, one], [, other]) => one.localeCompare(other));
  return html`<form class="filters" method="get" action="/leaderboard">
<label>Repository <select name="repo">${option('', 'all', repository === undefined)}${repositories.map(([key, name]) => option(key, shownLine(name), key === repository))}</select></label>
<label>Kind <select name="kind">${option('', 'all', kind === undefined)}${WORK_KINDS.map((one) => option(one, one, one === kind))}</select></label>
<button type="submit">Show</button></form>`;
}
