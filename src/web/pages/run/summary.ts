import { html, raw } from 'hono/html';
import { STAGES, upperFirst } from '../../../core/model/index.ts';
import { pickOf } from '../../../core/ranking/index.ts';
import {
  dollars,
  elapsed,
  money,
  PAGE,
  type RunView,
  runSummary,
  shortSha,
  stageOf,
  stepTime,
} from '../../../core/reports/index.ts';
import { codeText, type Html, moment, shownSentence } from '../../layout.ts';
import { facts, list, markedUp } from './frame.ts';

/** The decision and the next thing to do, in the words of GitHub's comments and the terminal. */
export function summaryBox(view: RunView, actions: Html | ''): Html {
  const { title, outcome, comparison, waits, warnings, next } = runSummary(view, PAGE);
  const blocks = [...outcome, comparison, ...waits].filter((block) => block !== '');
  return html`<section class="summary ${toneOf(view)}" aria-labelledby="decision">
<h2 id="decision">${markedUp(upperFirst(title))}</h2>
${blocks.map((block) => html`<p>${markedUp(block)}</p>`)}
${warnings.map((block) => html`<p class="warning">${markedUp(block)}</p>`)}
${next === '' ? '' : html`<p>${markedUp(next)}</p>`}
${confidence(view)}
${actions}</section>`;
}

function toneOf({ state, decision }: RunView): 'good' | 'bad' | 'open' {
  if (state === 'failed' || state === 'refused' || state === 'cancelled') return 'bad';
  if (state === 'awaiting_pick' || state === 'awaiting_answer' || state === 'awaiting_approval')
    return 'open';
  return decision && decision.kind === 'winner' ? 'good' : 'open';
}

/** How sure the decision is, what limits it, and what earlier runs of the repository changed. */
function confidence({ decision, learned = [], picks = [] }: RunView): Html | '' {
  if (!decision || decision.kind === 'none') return '';
  const word = decision.kind === 'winner' ? decision.confidence : 'toss-up';
  // A person may have picked another candidate than the one that the estimate is about.
  const pick = picks.length > 0 ? `ranking ${pickOf(decision) ?? 'a candidate'} first` : 'the pick';
  const percent = Math.round(decision.chance * 100);
  const limits = (decision.caps ?? []).map(
    ({ most, because }) => html`At most ${Math.round(most * 100)}%: ${shownSentence(because, 600)}`,
  );
  const notes = learned.map((note) => shownSentence(note, 600));
  return html`<details><summary>Confidence: ${word}, an estimated chance of ${percent}% that ${pick} is right</summary>
<p>The estimate adds up what was executed: tests, behaviour, agreement between model families, and judges if they were asked. ${
    limits.length === 0 ? 'Nothing limits it in this run.' : 'These limit it:'
  }</p>
${list(limits)}${list(notes)}</details>`;
}

/** The stages with their times, and what the current one is doing. */
export function stageList(view: RunView): Html {
  const current = stageOf(view);
  const items = STAGES.map((stage) => {
    const timing = view.stages.find((one) => one.stage === stage);
    const isCurrent = stage === current && timing !== undefined;
    const [mark, state] = isCurrent
      ? (['▶', 'under way'] as const)
      : timing?.endedAt === undefined
        ? (['○', 'not reached'] as const)
        : (['●', 'done'] as const);
    const time = isCurrent
      ? elapsed(view.now - timing.startedAt)
      : timing?.endedAt === undefined
        ? ''
        : elapsed(timing.endedAt - timing.startedAt);
    return html`<li class="${isCurrent ? 'current' : ''}"${isCurrent ? raw(' aria-current="step"') : ''}><span aria-hidden="true">${mark}</span> ${stage} <span class="hidden">${state}</span><span class="muted">${time}</span></li>`;
  });
  return html`<ol class="stages" aria-label="Stages">${items}</ol>${timeOfStep(view)}`;
}

/** The title says which step it is. */
function timeOfStep(view: RunView): Html | '' {
  const time = stepTime(view);
  return time === null ? '' : html`<p class="muted">This step: ${time}.</p>`;
}

export function factsOfRun({ base, budget, requestedBy, startedAt, now, sandbox, brief }: RunView): Html {
  const spent = budget.run > 0 ? `${money(budget.spent)} of $${dollars(budget.run)}` : money(budget.spent);
  const forecast = brief?.forecast;
  return facts([
    ['Started', moment(startedAt)],
    ['Time', elapsed(now - startedAt)],
    ['Spent', spent],
    ['Forecast', forecast ? `${money(forecast.least)} to ${money(forecast.most)}` : ''],
    ['Requested by', requestedBy ? codeText(requestedBy.login, 80) : ''],
    ['Base', base ? html`${codeText(shortSha(base.sha))} (${codeText(base.ref)})` : ''],
    ['Sandbox', sandbox ? codeText(`${sandbox.backend}: ${sandbox.detail}`) : ''],
  ]);
}
