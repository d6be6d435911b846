import { html } from 'hono/html';
import type { DifferingInput } from '../../../core/evidence/index.ts';
import { counted, type Inputs, type RunView } from '../../../core/reports/index.ts';
import { codeText, type Html } from '../../layout.ts';
import { runAddress } from './frame.ts';
import { pageLinks } from './paging.ts';

const INPUTS_ON_A_PAGE = 25;
/** Longest input and result that are shown, in code points. */
const MAX_VALUE_SHOWN = 300;

export function behaviourBody(view: RunView, inputs: Inputs, wanted: number): Html {
  const { columns, rows, isPartial } = inputs;
  const pages = Math.max(1, Math.ceil(rows.length / INPUTS_ON_A_PAGE));
  const page = Math.min(Math.max(1, wanted), pages);
  const shown = rows.slice((page - 1) * INPUTS_ON_A_PAGE, page * INPUTS_ON_A_PAGE);
  const links = pageLinks({ page, pages }, (to) =>
    runAddress(view.id, `/behaviour${to === 1 ? '' : `?page=${to}`}`),
  );
  if (rows.length === 0)
    return html`<p>No input is known on which candidates differ. Inputs come from tests and the issue.</p>`;
  return html`<p>${counted(rows.length, 'input')} from tests and the issue on which candidates differ. Equal letters stand for equal results.</p>
${isPartial ? html`<p class="warning">The full results of this run are not kept or cannot be read. Only some inputs are known, and not every result.</p>` : ''}
<div class="scroll" role="region" aria-label="Results by input and candidate" tabindex="0"><table class="inputs"><caption class="hidden">What each candidate returns for each input</caption>
<thead><tr><th scope="col">Input</th>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${shown.map(inputRow)}</tbody></table></div>${links}`;
}

function inputRow({ input, results }: DifferingInput): Html {
  const kinds = [...new Set(results.filter((result) => result !== null))];
  return html`<tr><th scope="row">${
    // Runs of earlier versions have inputs without a text.
    input === '' ? html`<span class="muted">input not kept</span>` : codeText(input, MAX_VALUE_SHOWN)
  }</th>${results.map((result) =>
    result === null
      ? html`<td class="mark-none"><span aria-hidden="true">·</span><span class="hidden">unknown</span></td>`
      : html`<td><span class="kind">${letterOf(kinds.indexOf(result))}</span> ${codeText(result, MAX_VALUE_SHOWN)}</td>`,
  )}</tr>`;
}

/** a, b, …: results that look alike are told apart by it, and long ones compared. */
const letterOf = (kind: number): string => String.fromCodePoint(97 + (kind % 26));
