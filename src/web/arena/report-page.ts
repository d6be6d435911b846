import { html, raw } from 'hono/html';
import {
  type ArenaReport,
  frontPicture,
  type ReportSection,
  type ReportTable,
  reportSections,
  reportSummary,
} from '../../core/arena/index.ts';
import { type Html, shownLine, shownSentence } from '../layout.ts';
import { contestAddress } from './contest-pages.ts';

/** Maximum characters of a cell or sentence, as in the files of a report. */
const MAX_REPORT_CHARS = 1_000;

/** The report of a contest, from the same sections as its files. */
export const reportPage = (
  name: string,
  report: ArenaReport,
): Html => html`<p><a href="${contestAddress(name)}">The contest</a></p>
<p>${shownSentence(reportSummary(report), MAX_REPORT_CHARS)}</p>
${reportSections(report).map((section) => sectionBody(section, report))}`;

const sectionBody = ({ title, sentences, tables, picture }: ReportSection, report: ArenaReport): Html =>
  html`<section><h2>${shownLine(title)}</h2>
${sentences.map((sentence) => html`<p>${shownSentence(sentence, MAX_REPORT_CHARS)}</p>`)}
${picture ? raw(frontPicture(report, 'without style')) : ''}
${tables.map(tableBody)}</section>`;

function tableBody({ caption, head, align, rows }: ReportTable): Html {
  const side = (column: number): string => (align[column] === 'r' ? 'number' : '');
  return html`<div class="scroll" role="region" aria-label="${shownLine(caption)}" tabindex="0"><table><caption>${shownLine(caption)}</caption>
<thead><tr>${head.map((cell, at) => html`<th scope="col" class="${side(at)}">${shownLine(cell, MAX_REPORT_CHARS)}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, at) => html`<td class="${side(at)}">${shownLine(cell, MAX_REPORT_CHARS)}</td>`)}</tr>`)}</tbody></table></div>`;
}
