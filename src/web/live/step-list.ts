import { html } from 'hono/html';
import type { CoderStep, CoderStepKind } from '../../core/model/index.ts';
import { elapsed, money, tokens } from '../../core/reports/index.ts';
import type { ShownCall } from '../../runs/index.ts';
import { type Html, moment, shownText } from '../layout.ts';

const STEP_WORDS = {
  start: 'Runoff',
  says: 'says',
  command: 'command',
  edit: 'edit',
  tool: 'tool',
  result: 'result',
  output: 'output',
  end: 'ends',
  exit: 'Runoff',
  cut: 'Runoff',
} as const satisfies Record<CoderStepKind, string>;

/** One step as an item of the list; its id is Runoff's own. */
export const stepItem = (step: CoderStep): Html =>
  html`<li id="step-${step.alias}-${step.number}" class="step step-${step.kind}">
<span class="step-time">${moment(step.at)}</span> <b class="step-kind">${STEP_WORDS[step.kind]}</b> ${stepBody(step)}</li>`;

function stepBody({ kind, text, detail, ok, exitCode }: CoderStep): Html {
  const line =
    kind === 'command' || kind === 'edit' || kind === 'tool'
      ? html`<code>${shownText(text)}</code>`
      : shownText(text);
  const result =
    kind === 'result'
      ? html`<span class="${ok === false ? 'bad' : 'good'}">${resultText(ok, exitCode)}</span>`
      : line;
  if (detail === undefined) return result;
  const summary = kind === 'result' ? html`${result} · output` : text === '' ? 'text' : line;
  return html`<details><summary>${summary}</summary><pre tabindex="0">${shownText(detail)}</pre></details>`;
}

function resultText(ok: boolean | undefined, exitCode: number | undefined): string {
  if (exitCode !== undefined) return `exit code ${exitCode}`;
  return ok === false ? 'failed' : 'done';
}

/** One call of a model, from the ledger. */
export function callItem(call: ShownCall): Html {
  const { number, at, status, ms } = call;
  const how = status === 0 ? 'not finished' : status === 200 ? elapsed(ms) : `HTTP ${status}, ${elapsed(ms)}`;
  return html`<li id="call-${number}" class="step step-call">
<span class="step-time">${moment(at)}</span> <b class="step-kind">model</b> ${call.model === null ? 'answer' : modelOf(call)}, ${how}</li>`;
}

function modelOf({ model, tokensIn, tokensOut, usd, exact }: Exclude<ShownCall, { model: null }>): Html {
  const used = `${tokens(tokensIn)} tokens in, ${tokens(tokensOut)} out`;
  return html`${shownText(model, 200)}: ${used}, ${exact ? '' : 'at most '}${money(usd)}`;
}

/** Steps and calls by time; steps in the order of their numbers. */
export function stepsWithCalls(steps: readonly CoderStep[], calls: readonly ShownCall[]): readonly Html[] {
  const items: Html[] = [];
  let next = 0;
  for (const step of steps) {
    for (let call = calls[next]; call && call.at <= step.at; call = calls[next]) {
      items.push(callItem(call));
      next += 1;
    }
    items.push(stepItem(step));
  }
  return [...items, ...calls.slice(next).map(callItem)];
}
