import { type RankRow, type RunView, rankRows } from '../../core/reports/index.ts';
import { clipped, displayWidth, type Paint, padded, printable } from './terminal.ts';

const GAP = '  ';

interface ReportColumn {
  readonly title: string;
  readonly cell: (row: RankRow) => string;
  readonly side: 'left' | 'right';
}
/** Those of the comparison on GitHub, in the same order. */
const COLUMNS: readonly ReportColumn[] = [
  { title: '', cell: (row) => row.alias, side: 'left' },
  { title: 'verdict', cell: (row) => row.result, side: 'left' },
  { title: 'existing tests', cell: (row) => row.baseTests, side: 'right' },
  { title: 'new tests', cell: (row) => row.newTests, side: 'right' },
  { title: 'lines', cell: (row) => row.lines, side: 'right' },
  { title: 'judges', cell: (row) => row.judges, side: 'right' },
  { title: 'cost', cell: (row) => row.cost, side: 'right' },
];
/** Columns that are omitted if they are empty for all candidates. */
const OPTIONAL: ReadonlySet<string> = new Set(['new tests', 'judges']);
/** Columns that a narrow terminal drops, first to last. */
const DROPPED_WHEN_NARROW = ['cost', 'lines', 'judges'];

/** The table of the comparison on GitHub, and below it who each candidate is. */
export function rankingTable(view: RunView, width: number, paint: Paint): readonly string[] {
  const rows = rankRows(view);
  const columns = fittingColumns(rows, width);
  const line = (text: (column: ReportColumn) => string): string => {
    const cells = columns.map((column) => padded(text(column), column.width, column.side));
    return clipped(cells.join(GAP).trimEnd(), width);
  };
  const body = rows.map((row) => {
    const text = line((column) => column.cell(row));
    return row.chosen ? paint('good', text) : text;
  });
  const names = rows.map((row) => `${row.alias}${GAP}${printable(row.contestant, 80)}${GAP}${row.time}`);
  return [
    paint(
      'dim',
      line((column) => column.title),
    ),
    ...body,
    '',
    ...names.map((name) => paint('dim', clipped(name, width))),
  ];
}

type Sized = ReportColumn & { readonly width: number };

function fittingColumns(rows: readonly RankRow[], width: number): readonly Sized[] {
  const sized = (column: ReportColumn): Sized => {
    const cells = rows.map((row) => displayWidth(column.cell(row)));
    return { ...column, width: Math.max(displayWidth(column.title), ...cells) };
  };
  const isTooWide = (columns: readonly Sized[]): boolean =>
    columns.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length) > width;
  let columns: readonly Sized[] = COLUMNS.filter(
    ({ title, cell }) => !OPTIONAL.has(title) || rows.some((row) => cell(row) !== '–'),
  ).map(sized);
  for (const title of DROPPED_WHEN_NARROW)
    if (isTooWide(columns)) columns = columns.filter((column) => column.title !== title);
  return columns;
}
