import { html, raw } from 'hono/html';
import type { TestMark, TestOutputs } from '../../../core/evidence/index.ts';
import {
  counted,
  elapsed,
  howEnded,
  type Matrix,
  type MatrixRow,
  type RunView,
} from '../../../core/reports/index.ts';
import { codeText, type Html, shownLine, shownSentence, shownText } from '../../layout.ts';
import { facts, runAddress } from './frame.ts';
import {
  MATRIX_FILTERS,
  type MatrixFilter,
  type MatrixPage,
  type MatrixQuery,
  matrixPage,
} from './matrix.ts';
import { pageLinks } from './paging.ts';

/** Each mark is read without colour: a sign of its own, and its name for those who do not see it. */
const MARKS = {
  p: { sign: '✓', name: 'passed' },
  f: { sign: '✗', name: 'failed' },
  s: { sign: '⤼', name: 'skipped' },
  m: { sign: '∅', name: 'did not run, though the base runs it' },
  n: { sign: '∕', name: 'not applicable: needs a name that only its author has' },
  u: { sign: '≈', name: 'gave different results on the base, excluded' },
  '-': { sign: '·', name: 'not run' },
} as const satisfies Record<TestMark, { readonly sign: string; readonly name: string }>;

const markOf = (letter: string | undefined) => MARKS[(letter ?? '-') as TestMark] ?? MARKS['-'];
const classOf = (letter: string | undefined): string =>
  letter !== undefined && letter !== '-' && letter in MARKS ? `mark-${letter}` : 'mark-none';

const FILTER_LABELS = {
  differs: 'with different results',
  fails: 'that a candidate fails',
  all: 'all',
} as const satisfies Record<MatrixFilter, string>;

/** The matrix with its filter; the address has the query, so that a page can be sent to others. */
export function matrixBody(view: RunView, matrix: Matrix, query: MatrixQuery): Html {
  const shown = matrixPage(matrix, query);
  return html`${matrix.isPartial ? partialNote(view) : ''}
${filterForm(view, query)}
<p role="status">${counted(shown.found, 'test')} of ${shown.total}.</p>
${matrixTable(view, matrix, shown)}
${pageLinks(shown, (page) => matrixAddress(view, { ...query, page }))}
${legend()}`;
}

const partialNote = (view: RunView): Html =>
  html`<p class="warning">${
    view.evidence.length === 0
      ? 'No test results are known yet.'
      : 'The full results of this run are not kept or cannot be read. This page shows the tests that decided.'
  }</p>`;

const matrixAddress = (view: RunView, { show, text, page }: MatrixQuery): string => {
  const query = new URLSearchParams({
    ...(show === 'differs' ? {} : { show }),
    ...(text === '' ? {} : { q: text }),
    ...(page === 1 ? {} : { page: String(page) }),
  }).toString();
  return runAddress(view.id, `/tests${query === '' ? '' : `?${query}`}`);
};

const filterForm = (
  view: RunView,
  { show, text }: MatrixQuery,
): Html => html`<form class="filters" method="get" action="${runAddress(view.id, '/tests')}">
<label>Tests <select name="show">${MATRIX_FILTERS.map(
  (name) =>
    html`<option value="${name}"${name === show ? raw(' selected') : ''}>${FILTER_LABELS[name]}</option>`,
)}</select></label>
<label>Name contains <input type="search" name="q" value="${shownLine(text)}" maxlength="200"></label>
<button type="submit">Show</button>
</form>`;

/** Above as many rows as are given; also a part of the overview. */
export function matrixTable(view: RunView, { columns }: Pick<Matrix, 'columns'>, shown: MatrixPage): Html {
  if (shown.groups.length === 0) return html`<p>No test matches.</p>`;
  return html`<div class="scroll" role="region" aria-label="Tests by candidate" tabindex="0"><table class="matrix">
<caption class="hidden">Results of each test on the base and on each candidate</caption>
<thead><tr><th scope="col">Test</th>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
${shown.groups.map(
  ({
    title,
    rows,
    more,
  }) => html`<tbody><tr><th class="group" scope="rowgroup" colspan="${columns.length + 1}">${title}${
    more > 0 ? ` (and ${more} more that are not kept)` : ''
  }</th></tr>
${rows.map((row) => matrixRow(view, columns, row))}</tbody>`,
)}
</table></div>`;
}

/** Longest name of a test in the matrix; its own page has all of it. */
const MAX_NAME_SHOWN = 160;

// One template string for each row: a page has up to 1,300 cells.
function matrixRow(view: RunView, columns: readonly string[], { key, name, marks, note }: MatrixRow): Html {
  const address = runAddress(view.id, `/tests/${encodeURIComponent(key)}`);
  const cells = columns.map((column, at) => {
    const letter = marks[at];
    const { sign, name: meaning } = markOf(letter);
    return html`<td class="${classOf(letter)}"><a href="${address}#${column}" aria-label="${column}: ${meaning}">${sign}</a></td>`;
  });
  return html`<tr><th scope="row"><a href="${address}">${shownLine(name, MAX_NAME_SHOWN) || '(no name)'}</a>${
    note === undefined ? '' : html`<br><span class="muted">${shownSentence(note, 300)}</span>`
  }</th>${cells}</tr>`;
}

const legend = (): Html =>
  html`<details class="legend" open><summary>What the marks mean</summary><ul>${Object.entries(MARKS).map(
    ([letter, { sign, name }]) =>
      html`<li><span class="${classOf(letter)}" aria-hidden="true">${sign}</span> ${name}</li>`,
  )}</ul><p>Each mark leads to what the test printed there. Existing tests are the base commit's own, run on each candidate's production code.</p></details>`;

interface TestPageData {
  readonly matrix: Matrix;
  /** Null if they cannot be read. */
  readonly outputs: TestOutputs | null;
}

/** One test on every tree, with what it printed; null if there is no such test. */
export function testBody(view: RunView, key: string, data: TestPageData): Html | null {
  const { columns, groups } = data.matrix;
  const group = groups.find(({ rows }) => rows.some((row) => row.key === key));
  const row = group?.rows.find((one) => one.key === key);
  if (!group || !row) return null;
  return html`<p>${group.title}</p>
<p class="test-name">${shownText(row.name, 2_000)}</p>
${row.note === undefined ? '' : html`<p class="warning">${shownSentence(row.note, 1_000)}</p>`}
${columns.map((column, at) => outputSection(view, { column, letter: row.marks[at], row, data }))}`;
}

function outputSection(
  view: RunView,
  {
    column,
    letter,
    row,
    data,
  }: {
    readonly column: string;
    readonly letter: string | undefined;
    readonly row: MatrixRow;
    readonly data: TestPageData;
  },
): Html {
  const { sign, name } = markOf(letter);
  const head = html`<h2 id="${column}">${column === 'base' ? 'Base' : `Candidate ${column}`} <span class="${classOf(letter)}"><span aria-hidden="true">${sign}</span> ${name}</span></h2>`;
  return html`<section aria-labelledby="${column}">${head}${outputOfTest(view, { column, row, data })}</section>`;
}

/** Characters of a message and of an output that are shown. */
const MAX_OUTPUT_SHOWN = 8_000;

function outputOfTest(
  view: RunView,
  { column, row, data }: { readonly column: string; readonly row: MatrixRow; readonly data: TestPageData },
): Html {
  const independent = row.test === undefined ? undefined : independentMessage(view, column, row.test);
  if (independent !== undefined)
    return html`<pre tabindex="0">${shownText(independent, MAX_OUTPUT_SHOWN)}</pre>`;
  const suite = Number(row.key.split('-')[0]);
  const found = data.outputs?.find((one) => one.suite === suite && one.column === column)?.output;
  if (!found) return html`<p class="muted">No output is kept.</p>`;
  const message = Object.hasOwn(found.messages, row.name) ? found.messages[row.name] : undefined;
  const shown =
    message === undefined
      ? ''
      : html`<h3>What the runner says about it</h3><pre tabindex="0">${shownText(message, MAX_OUTPUT_SHOWN)}</pre>`;
  return html`${shown}<details${message === undefined ? raw(' open') : ''}><summary>End of the output of the whole command (${howEnded(found)}, ${elapsed(found.ms)})</summary>
<pre tabindex="0">${found.tail === '' ? '(nothing)' : shownText(found.tail, MAX_OUTPUT_SHOWN)}</pre></details>`;
}

const independentMessage = (view: RunView, column: string, test: string): string | undefined =>
  view.evidence.find(({ alias }) => alias === column)?.independentTests?.failing.find(({ id }) => id === test)
    ?.message;

/** Facts about the commands that the tests ran with. */
export const commandFacts = ({ checks }: RunView): Html =>
  facts(
    (['setup', 'build', 'types', 'test'] as const).flatMap((name) =>
      checks?.[name] ? [[name, codeText(checks[name], 300)] as const] : [],
    ),
  );
