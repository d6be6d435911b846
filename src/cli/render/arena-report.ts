import {
  type ArenaReport,
  type ReportSection,
  type ReportTable,
  reportSections,
  reportSummary,
  reportTitle,
} from '../../core/arena/index.ts';
import { displayWidth, padded, printable } from './terminal.ts';

/** Maximum characters of a sentence or cell. Our default. */
const MAX_CELL_CHARS = 1_000;

/** The report as plain text; the picture and the texts that explain it are in the files. */
export function arenaReportText(report: ArenaReport): string {
  const sections = reportSections(report).filter(({ explains }) => !explains);
  return [
    printable(reportTitle(report)),
    printable(reportSummary(report), MAX_CELL_CHARS),
    ...sections.map((section) => `\n${arenaSectionText(section)}`),
    '',
  ].join('\n');
}

/** One section of the report. */
export const arenaSectionText = ({ title, sentences, tables }: ReportSection): string =>
  [
    title,
    ...sentences.map((sentence) => printable(sentence.replaceAll('`', ''), MAX_CELL_CHARS)),
    ...tables.flatMap(tableText),
  ].join('\n');

function tableText({ head, align, rows }: ReportTable): readonly string[] {
  const cells = [head, ...rows].map((row) => row.map((cell) => printable(cell, MAX_CELL_CHARS)));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => displayWidth(row[column] ?? ''))));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0, align[column] === 'r' ? 'right' : 'left'))
      .join('  ')
      .trimEnd();
  return cells.map((row) => `  ${line(row)}`);
}
