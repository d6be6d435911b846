import { inertSentence, prose } from '../reports/index.ts';
import { frontPicture, htmlText } from './front-picture.ts';
import type { ReportSection, ReportTable } from './rating-section.ts';
import type { ArenaReport } from './report.ts';
import { reportSections, reportSummary, reportTitle } from './report-sections.ts';

/** Files that `runoff arena report` writes into the folder of a contest. */
export const REPORT_FILES = { markdown: 'report.md', json: 'report.json', html: 'report.html' } as const;

/** Maximum characters of a cell or sentence. Our default. */
const MAX_TEXT = 1_000;

/** The report for a reader of Markdown. Text of others is escaped. */
export function reportMarkdown(report: ArenaReport): string {
  const blocks = [
    `# ${prose(reportTitle(report))}`,
    inertSentence(reportSummary(report), MAX_TEXT),
    ...reportSections(report).flatMap(markdownSection),
  ];
  return `${blocks.join('\n\n')}\n`;
}

const markdownSection = ({ title, sentences, tables }: ReportSection): readonly string[] => [
  `## ${prose(title)}`,
  ...sentences.map((sentence) => inertSentence(sentence, MAX_TEXT)),
  ...tables.map(markdownTable),
];

function markdownTable({ head, align, rows }: ReportTable): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => prose(cell, MAX_TEXT)).join(' | ')} |`;
  return [
    line(head),
    `| ${[...align].map((side) => (side === 'r' ? '--:' : '---')).join(' | ')} |`,
    ...rows.map(line),
  ].join('\n');
}

export const reportJson = (report: ArenaReport): string => `${JSON.stringify(report, null, 2)}\n`;

const PAGE_STYLE = [
  ':root{color-scheme:light dark}',
  'body{margin:0;background:#fff;color:#1f2328;font:16px/1.5 system-ui,sans-serif}',
  'main{max-width:72rem;margin:0 auto;padding:1.5rem}',
  'h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem}',
  '.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;margin:.5rem 0}',
  'caption{text-align:left;color:#59636e;padding:.2rem 0}',
  'th,td{border:1px solid #d1d9e0;padding:.3rem .6rem;text-align:left;vertical-align:top}',
  '.r{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}',
  'code{background:#eff2f5;padding:.1em .3em;border-radius:4px;overflow-wrap:anywhere}',
  'svg{max-width:45rem;width:100%;height:auto;border:1px solid #d1d9e0}',
  '@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}caption{color:#9198a1}',
  'th,td,svg{border-color:#3d444d}code{background:#262c36}}',
].join('');

/** No script, no request to any host, whatever the report says. */
const CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The report as one file that a browser shows without a network. Text of others is escaped. */
export function reportHtml(report: ArenaReport): string {
  const title = htmlText(reportTitle(report));
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${CONTENT_POLICY}">`,
    '<meta name="referrer" content="no-referrer">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${title}</title>`,
    `<style>${PAGE_STYLE}</style>`,
    '</head>',
    '<body>',
    '<main>',
    `<h1>${title}</h1>`,
    `<p>${sentenceHtml(reportSummary(report))}</p>`,
    ...reportSections(report).flatMap((section) => htmlSection(section, report)),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

const htmlSection = (
  { title, sentences, tables, picture }: ReportSection,
  report: ArenaReport,
): readonly string[] => [
  '<section>',
  `<h2>${htmlText(title)}</h2>`,
  ...sentences.map((sentence) => `<p>${sentenceHtml(sentence)}</p>`),
  ...(picture ? [frontPicture(report)] : []),
  ...tables.map(htmlTable),
  '</section>',
];

/** Backticks mark code. */
const sentenceHtml = (sentence: string): string =>
  sentence
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 1 ? `<code>${htmlText(part)}</code>` : htmlText(part)))
    .join('');

function htmlTable({ caption, head, align, rows }: ReportTable): string {
  const side = (column: number) => (align[column] === 'r' ? ' class="r"' : '');
  const header = head.map((cell, at) => `<th scope="col"${side(at)}>${htmlText(cell)}</th>`).join('');
  const body = rows.map(
    (cells) => `<tr>${cells.map((cell, at) => `<td${side(at)}>${htmlText(cell)}</td>`).join('')}</tr>`,
  );
  return [
    '<div class="wide"><table>',
    `<caption>${htmlText(caption)}</caption>`,
    `<thead><tr>${header}</tr></thead>`,
    `<tbody>${body.join('\n')}</tbody>`,
    '</table></div>',
  ].join('\n');
}
