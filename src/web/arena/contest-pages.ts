import { html } from 'hono/html';
import type { ContestRecords, Standing } from '../../core/arena/index.ts';
import { counted } from '../../core/model/index.ts';
import type { Voting } from '../../runs/index.ts';
import { codeText, type Html, shownLine, shownSentence } from '../layout.ts';
import type { ListedContest } from './contests.ts';

export const contestAddress = (name: string, path = ''): string =>
  `/arena/${encodeURIComponent(name)}${path}`;

/** In place of a contest, which names no repository either. */
export const WITHHELD =
  'Its tasks and answers are not shown, because they are from a repository that you have no access to, or that is not on GitHub.';

/** All contests of the data folder. */
export const contestList = (contests: readonly ListedContest[]): Html =>
  contests.length === 0
    ? html`<p>There is no contest yet. <code>runoff arena init NAME</code> writes one into the data folder of this server.</p>`
    : html`<div class="scroll" role="region" aria-label="Contests" tabindex="0"><table>
<caption class="hidden">Contests of this installation</caption>
<thead><tr><th scope="col">Contest</th><th scope="col">Tasks</th><th scope="col">Contestants</th><th scope="col">Answers</th><th scope="col">Votes of people</th></tr></thead>
<tbody>${contests.map(contestRow)}</tbody></table></div>`;

function contestRow(listed: ListedContest): Html {
  const head = html`<th scope="row"><a href="${contestAddress(listed.name)}">${shownLine(listed.name)}</a></th>`;
  if (listed.kind === 'withheld') return html`<tr>${head}<td colspan="4">${WITHHELD}</td></tr>`;
  if (listed.kind === 'unreadable')
    return html`<tr>${head}<td colspan="4">cannot be read: ${shownLine(listed.why, 500)}</td></tr>`;
  const { records, standing } = listed;
  return html`<tr>${head}<td class="number">${records.contest.tasks.length}</td><td class="number">${records.contest.contestants.length}</td><td class="number">${standing.samples.length}</td><td class="number">${votesOfPeople(standing)}</td></tr>`;
}

const votesOfPeople = ({ people }: Standing): number => people.filter(({ score }) => score !== null).length;

/** What a contest consists of, and what can be done with it. Names nobody who competes: voters come through here. */
export function contestPage(name: string, { contest }: ContestRecords, voting: Voting): Html {
  const { standing } = voting;
  const { done, open } = voting.progress();
  const facts: readonly (readonly [string, string | number])[] = [
    ['Tasks', contest.tasks.length],
    ['Contestants', contest.contestants.length],
    ['Rounds', contest.rounds],
    ['Answers that count', standing.samples.length],
    ['Votes of people', votesOfPeople(standing)],
    ['Judges', standing.judges.length],
  ];
  return html`<p><a href="/arena">All contests</a></p>
<dl class="figures">${facts.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
<p>You have voted on or skipped ${counted(done, 'pair')}; ${counted(open, 'pair')} ${open === 1 ? 'is' : 'are'} left.</p>
<p class="links"><a href="${contestAddress(name, '/vote')}">Vote on pairs</a> · <a href="${contestAddress(name, '/report')}">Report</a></p>
<p class="muted">The report names the contestants. Vote first, so that their names do not influence you.</p>
${remarks(standing)}`;
}

function remarks({ leftOut, notes }: Standing): Html | '' {
  if (leftOut.length + notes.length === 0) return '';
  return html`<h2>What does not count</h2><ul>${leftOut.map(
    ({ task, why }) => html`<li>Task ${codeText(task)}: ${shownSentence(why, 600)}</li>`,
  )}${notes.map((note) => html`<li>${shownSentence(note, 600)}</li>`)}</ul>`;
}
