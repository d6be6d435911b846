import { html } from 'hono/html';
import { GATES } from '../../../core/evidence/index.ts';
import { byAlias } from '../../../core/model/index.ts';
import { failedGate } from '../../../core/ranking/index.ts';
import {
  CANDIDATE_STATE_LABELS,
  type CandidateView,
  contestantName,
  costText,
  elapsed,
  type RankReason,
  type RankRow,
  type RunView,
  rankRows,
  reasons,
  tokensText,
} from '../../../core/reports/index.ts';
import { codeText, type Html, shownSentence, shownText } from '../../layout.ts';
import { list, runAddress } from './frame.ts';

interface CandidateColumn {
  readonly title: string;
  readonly cell: (row: RankRow) => Html | string;
  readonly isNumber?: true;
  /** Left out if empty for all candidates. */
  readonly isOptional?: true;
}

/** The candidates with everything that was measured, best first; on narrow screens one block for each. */
export function candidateTable(view: RunView): Html | '' {
  if (view.candidates.length === 0) return '';
  return view.evidence.length === 0 ? workTable(view) : rankedTable(view);
}

const DASH = '–';

function rankedTable(view: RunView): Html {
  const columns: readonly CandidateColumn[] = [
    { title: 'Result', cell: ({ result, chosen }) => (chosen ? html`<strong>${result}</strong>` : result) },
    { title: 'Contestant', cell: ({ contestant }) => codeText(contestant, 80) },
    { title: 'Gates', cell: ({ alias }) => gatesText(view, alias) },
    { title: 'Types', cell: ({ types }) => types, isOptional: true },
    { title: 'Existing tests', cell: ({ baseTests }) => baseTests, isNumber: true },
    { title: 'New tests', cell: ({ newTests }) => newTests, isNumber: true },
    { title: 'Behaviour', cell: ({ behaviour }) => behaviour, isNumber: true, isOptional: true },
    { title: 'Same change', cell: ({ alike }) => alike, isOptional: true },
    { title: 'Judges W-T-L', cell: ({ judges }) => judges, isNumber: true, isOptional: true },
    { title: 'Scores', cell: ({ scores }) => scores, isOptional: true },
    { title: 'Lines', cell: ({ lines }) => lines, isNumber: true },
    { title: 'Cost', cell: ({ cost }) => cost, isNumber: true },
    { title: 'Time', cell: ({ time }) => time, isNumber: true },
  ];
  const rows = rankRows(view);
  const shown = columns.filter(
    ({ isOptional, cell }) => !isOptional || rows.some((row) => cell(row) !== DASH),
  );
  return cardTable(
    'Best first',
    shown.map(({ title }) => title),
    rows.map((row) => ({
      head: candidateLink(view, row.alias),
      isMarked: row.chosen,
      cells: shown.map(({ cell, isNumber }) => ({ text: cell(row), isNumber: isNumber ?? false })),
    })),
  );
}

/** While coders work: what each of them does. */
function workTable(view: RunView): Html {
  const inOrder = view.candidates.toSorted(byAlias);
  return cardTable(
    'Candidates',
    ['State', 'Contestant', 'Now', 'Time', 'Tokens', 'Cost'],
    inOrder.map((candidate) => ({
      head: candidateLink(view, candidate.alias),
      isMarked: false,
      cells: [
        { text: live(candidate, 'state', CANDIDATE_STATE_LABELS[candidate.state]), isNumber: false },
        { text: codeText(contestantName(candidate.contestant), 80), isNumber: false },
        { text: live(candidate, 'note', noteOf(candidate)), isNumber: false },
        { text: live(candidate, 'time', elapsed(candidate.ms)), isNumber: true },
        { text: tokensText(candidate.usage), isNumber: true },
        { text: live(candidate, 'usd', costText(candidate.usage)), isNumber: true },
      ],
    })),
  );
}

/** A text that the page's stream of events keeps up to date (`web/live`). */
const live = ({ alias }: CandidateView, name: string, text: Html | string): Html =>
  html`<span data-live-text="${alias}.${name}">${text}</span>`;

const noteOf = ({ note }: CandidateView): Html | string =>
  note.trim() === '' ? DASH : shownSentence(note, 300);

interface CardRow {
  readonly head: Html;
  readonly isMarked: boolean;
  readonly cells: readonly { readonly text: Html | string; readonly isNumber: boolean }[];
}

/** Roles are written out, because browsers drop those of tables whose parts are shown as blocks. */
const cardTable = (caption: string, titles: readonly string[], rows: readonly CardRow[]): Html =>
  html`<table class="cards" role="table"><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Candidate</th>${titles.map(
    (title) => html`<th role="columnheader" scope="col">${title}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">${rows.map(
    ({ head, isMarked, cells }) =>
      html`<tr role="row" class="${isMarked ? 'chosen' : ''}"><th role="rowheader" scope="row">${head}</th>${cells.map(
        ({ text, isNumber }, at) =>
          html`<td role="cell" class="${isNumber ? 'number' : ''}" data-title="${titles[at]}">${text}</td>`,
      )}</tr>`,
  )}</tbody></table>`;

const stepsAddress = (view: RunView, alias: string): string =>
  runAddress(view.id, `/steps/${encodeURIComponent(alias)}`);

/** Links to its diff, if there is one, and to what its coder does. */
const candidateLink = (view: RunView, alias: string): Html =>
  html`${diffLink(view, alias)} <a class="step-link" href="${stepsAddress(view, alias)}">steps<span class="hidden"> of candidate ${alias}</span></a>`;

function diffLink(view: RunView, alias: string): Html {
  const hasPatch = view.candidates.some((one) => one.alias === alias && one.patch);
  return hasPatch
    ? html`<a class="alias" href="${runAddress(view.id, `/candidates/${encodeURIComponent(alias)}`)}">${alias}<span class="hidden">: its diff</span></a>`
    : html`<span class="alias">${alias}</span>`;
}

/** `10 of 10 passed`, or the gate that stopped it. */
function gatesText(view: RunView, alias: string): Html | string {
  const evidence = view.evidence.find((one) => one.alias === alias);
  if (!evidence) return DASH;
  const failed = failedGate(evidence);
  if (failed)
    return html`<span class="mark-f"><span aria-hidden="true">✗</span> ${codeText(failed.gate)}</span>`;
  const passed = evidence.gates.filter((one) => one.passed).length;
  return html`<span class="mark-p"><span aria-hidden="true">✓</span> ${passed} of ${GATES.length}</span>`;
}

/** Why each candidate has its place: the sentence, failing tests, inputs, and the lines that failed a gate. */
export function reasonCards(view: RunView): Html | '' {
  if (view.evidence.length === 0) return '';
  const [first] = view.ranking;
  return html`<div class="grid">${reasons(view, true).map(
    (reason) => html`<article class="card"><h3>Candidate ${reason.alias}</h3>
${reasonBody(reason)}
<p class="links">${compareLinks(view, reason.alias, first?.alias)}<a href="${stepsAddress(view, reason.alias)}">Steps of ${reason.alias}</a></p></article>`,
  )}</div>`;
}

const reasonBody = ({
  because,
  failing,
  inputs,
  hunk,
}: RankReason): Html => html`<p>${shownSentence(because)}</p>
${failing.map(
  ({ of, names, more }) =>
    html`<p>Fails ${of}:</p>${list([...names.map((name) => codeText(name)), ...(more > 0 ? [html`and ${more} more`] : [])])}`,
)}
${list(
  inputs.map(
    ({ input, got, wanted, whose }) =>
      html`${input.trim() === '' ? 'One input' : html`Input ${codeText(input)}`} returns ${codeText(got)}, ${whose} ${codeText(wanted)}`,
  ),
)}
${hunk === undefined ? '' : html`<details><summary>The lines in question</summary><pre tabindex="0">${shownText(hunk, 6_000)}</pre></details>`}`;

function compareLinks(view: RunView, alias: string, first: string | undefined): Html | '' {
  const isShown = (one: string | undefined): one is string =>
    view.candidates.some((candidate) => candidate.alias === one && candidate.patch);
  if (!isShown(alias)) return '';
  const own = encodeURIComponent(alias);
  const others = view.candidates.filter((one) => one.alias !== alias && one.patch);
  const best = first !== alias && isShown(first) ? first : others[0]?.alias;
  return html`<a href="${runAddress(view.id, `/candidates/${own}`)}">Diff of ${alias}</a> · ${
    best === undefined
      ? ''
      : html`<a href="${runAddress(view.id, `/compare/${encodeURIComponent(best)}/${own}`)}">Compare ${best} with ${alias}</a> · `
  }`;
}
