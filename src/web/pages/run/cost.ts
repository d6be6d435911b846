import { html } from 'hono/html';
import {
  counted,
  dollars,
  elapsed,
  HIDDEN,
  money,
  type RunView,
  sequencePlan,
  sequenceResult,
  spendingGroups,
  tokens,
} from '../../../core/reports/index.ts';
import type { ShownWork } from '../../../runs/index.ts';
import { codeText, type Html, shownLine, shownSentence } from '../../layout.ts';
import { facts } from './frame.ts';

/** Where the money went, by part of the run and by spender, from the ledger of the gateway. */
export function costBody(view: RunView, spent: Awaited<ReturnType<ShownWork['spending']>>): Html {
  const { budget, candidates, brief } = view;
  const groups = spendingGroups(
    spent,
    candidates.map(({ alias }) => alias),
  );
  const total = spent.reduce((sum, { usd }) => sum + usd, 0);
  const estimated = spent.reduce((sum, row) => sum + row.estimated, 0);
  const share = (usd: number) => (total > 0 ? `${Math.round((100 * usd) / total)}%` : '–');
  const head = facts([
    ['Spent', money(total)],
    ['Budget of the run', budget.run > 0 ? `$${dollars(budget.run)}` : 'none'],
    ['Budget of a candidate', budget.candidate === undefined ? '' : `$${dollars(budget.candidate)}`],
    ['Forecast', brief?.forecast ? `${money(brief.forecast.least)} to ${money(brief.forecast.most)}` : ''],
  ]);
  const field = sequencePlan(view) ?? sequenceResult(view);
  const course = field === null ? '' : html`<p>${shownSentence(field, 400)}</p>`;
  if (groups.length === 0) return html`${head}${course}<p>No model has been called yet.</p>`;
  return html`${head}${course}
${estimated > 0 ? html`<p>${counted(estimated, 'call')} without usage from the provider, or not finished: the cost is an upper estimate.</p>` : ''}
<div class="scroll" role="region" aria-label="Cost by part of the run" tabindex="0"><table class="cost"><caption>Cost by part of the run and by spender</caption>
<thead><tr><th scope="col">Spender</th><th scope="col">Model</th><th scope="col">Calls</th><th scope="col">Tokens</th><th scope="col">Time</th><th scope="col">Cost</th><th scope="col">Share</th></tr></thead>
${groups.map(
  ({ title, usd, tokens: used, calls, rows }) => html`<tbody>
<tr class="group"><th scope="rowgroup" colspan="2">${title}</th><td class="number">${calls}</td><td class="number">${tokens(used)}</td><td></td><td class="number"><strong>${money(usd)}</strong></td><td class="number"><meter min="0" max="${total}" value="${usd}" aria-hidden="true"></meter> ${share(usd)}</td></tr>
${rows.map(
  (row) =>
    html`<tr><th scope="row">${spenderName(row.spender, candidates)}</th><td>${row.model === null ? HIDDEN : codeText(row.model, 100)}</td><td class="number">${row.calls}</td><td class="number">${tokens(row.tokensIn + row.tokensOut)}</td><td class="number">${elapsed(row.ms)}</td><td class="number">${money(row.usd)}</td><td class="number">${share(row.usd)}</td></tr>`,
)}</tbody>`,
)}
</table></div>`;
}

const spenderName = (spender: string, candidates: RunView['candidates']): string =>
  candidates.some(({ alias }) => alias === spender) ? `Candidate ${spender}` : shownLine(spender, 80);
