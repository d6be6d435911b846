import { Hono } from 'hono';
import { html } from 'hono/html';
import type { RunRecord } from '../../ports/index.ts';
import { viewOf } from '../../runs/index.ts';
import { actions } from '../actions/index.ts';
import type { WebContext, WebEnv, WebParts } from '../context.ts';
import { type Html, moment, sendPage, shownLine, shownText } from '../layout.ts';

/** Runs on the list. */
const RUNS_ON_A_PAGE = 50;

/** The list of runs that the viewer may see. */
export function runList({ world, access }: WebParts): Hono<WebEnv> {
  const app = new Hono<WebEnv>();
  app.get('/', async (c) => {
    const { viewer } = c.var;
    const newest = await world.store.runs(RUNS_ON_A_PAGE);
    const seen = await Promise.all(
      newest.map(async ({ id }) => (await access.visibleRun(viewer, id))?.run ?? []),
    );
    return sendPage(c, { title: 'Runs', body: runTable(seen.flat()) });
  });
  app.get('/:id', (c) => sendRun(c));
  return app;
}

async function sendRun(c: WebContext): Promise<Response> {
  const { run } = c.var.visible;
  const forms = await actions(c, await viewOf(c.var.parts.world, run));
  return sendPage(c, { title: shownLine(run.title), body: html`<p>${run.state}</p>${forms}` });
}

const runTable = (runs: readonly RunRecord[]): Html => html`<table>
<thead><tr><th scope="col">Run</th><th scope="col">Title</th><th scope="col">State</th><th scope="col">Started</th></tr></thead>
<tbody>${runs.map(
  ({ id, title, state, createdAt }) =>
    html`<tr><td><a href="/runs/${id}">${id}</a></td><td>${shownText(title, 200)}</td><td>${state}</td><td>${moment(createdAt)}</td></tr>`,
)}</tbody>
</table>`;
