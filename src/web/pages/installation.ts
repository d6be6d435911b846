import { Hono } from 'hono';
import { html } from 'hono/html';
import { elapsed, money } from '../../core/reports/index.ts';
import { sized } from '../../core/settings/index.ts';
import type { ExecutorRecord, ListedRun } from '../../ports/index.ts';
import type { InstallationFacts, WebEnv, WebParts } from '../context.ts';
import { type Html, moment, sendNotFound, sendPage, shownText } from '../layout.ts';

/** The status page, for operators only. For all others there is no such page. */
export function installationPage({ installation }: WebParts): Hono<WebEnv> {
  const app = new Hono<WebEnv>();
  app.get('/installation', async (c) => {
    const { viewer } = c.var;
    if (!installation || viewer?.kind !== 'github' || !viewer.operator) return sendNotFound(c);
    return sendPage(c, { title: 'Installation', body: statusBody(await installation()) });
  });
  return app;
}

const statusBody = (facts: InstallationFacts): Html => html`${warnings(facts)}
<h2>Money today (UTC)</h2>
<p><meter min="0" max="${facts.capDay}" value="${facts.spentToday}"></meter> ${money(facts.spentToday)} of ${money(facts.capDay)} spent; at most ${money(facts.capRepositoryDay)} for one repository.</p>
<h2>Work</h2>
<dl class="figures">${Object.entries(facts.census.runs)
  .filter(([, count]) => count > 0)
  .map(([state, count]) => html`<div><dt>${state.replaceAll('_', ' ')}</dt><dd>${count}</dd></div>`)}
<div><dt>in the run queue</dt><dd>${facts.census.queuedRuns}</dd></div>
<div><dt>coders that wait</dt><dd>${facts.census.codersWaiting}</dd></div></dl>
${facts.queue.length > 0 ? html`<p>Next in line: ${facts.queue.slice(0, 10).map((id) => html`<code>${id}</code> `)}</p>` : ''}
<h2>Processes</h2>
${processTable(facts.executors)}
<h2>Disk</h2>
<p>${facts.disk ? html`${sized(facts.disk.free)} of ${sized(facts.disk.size)} free in the file system of the data folder.` : 'The disk of the data folder could not be read.'}</p>
<h2>Last faults</h2>
${faultTable(facts.failed)}
<p class="muted">Runoff ${facts.version}</p>`;

function warnings({ shortage, unclaimed }: InstallationFacts): Html | '' {
  const all = [...(shortage === null ? [] : [shortage]), ...unclaimed];
  return all.length === 0 ? '' : html`<ul class="warnings">${all.map((one) => html`<li>${one}</li>`)}</ul>`;
}

const processTable = (executors: readonly ExecutorRecord[]): Html | string =>
  executors.length === 0
    ? html`<p>No process shares the work.</p>`
    : html`<div class="wide" tabindex="0" role="region" aria-label="Processes"><table>
<thead><tr><th scope="col">Process</th><th scope="col">Role</th><th scope="col">Machine</th><th scope="col" class="number">Coders</th><th scope="col" class="number">Examinations</th><th scope="col">Last heartbeat</th><th scope="col">Started</th></tr></thead>
<tbody>${executors.map(
        (
          one,
        ) => html`<tr><td>${shownText(one.id, 80)}</td><td>${one.role}</td><td>${shownText(one.host, 80)}</td>
<td class="number">${one.coders}</td><td class="number">${one.examinations}</td>
<td>${one.silentMs === null ? 'has left' : html`${elapsed(one.silentMs)} ago`}</td><td>${moment(one.startedAt)}</td></tr>`,
      )}</tbody></table></div>`;

/** Titles are left out: an operator may lack the right to read the repository. */
const faultTable = (failed: readonly ListedRun[]): Html =>
  failed.length === 0
    ? html`<p>No run that is kept has failed.</p>`
    : html`<div class="wide" tabindex="0" role="region" aria-label="Last faults"><table>
<thead><tr><th scope="col">Run</th><th scope="col">Fault</th><th scope="col">When</th></tr></thead>
<tbody>${failed.map(
        ({ id, trouble, updatedAt }) =>
          html`<tr><td><code>${id}</code></td><td>${trouble?.code ?? ''}</td><td>${moment(updatedAt)}</td></tr>`,
      )}</tbody></table></div>`;
