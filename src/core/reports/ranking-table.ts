import { fill, tableRows } from './layout.ts';
import { type RankRow, rankRows } from './rows.ts';
import { code } from './safe.ts';
import type { RunView } from './view.ts';

interface Column {
  readonly title: string;
  readonly side: 'l' | 'r';
  readonly cell: (row: RankRow) => string;
  /** Left out where it has nothing to say of anybody. */
  readonly optional?: true;
}
const COLUMNS: readonly Column[] = [
  { title: 'candidate', side: 'l', cell: (row) => `**${row.alias}**` },
  { title: 'contestant', side: 'l', cell: (row) => code(row.contestant, 80) },
  { title: 'build', side: 'l', cell: (row) => row.build },
  { title: 'base tests', side: 'r', cell: (row) => row.baseTests },
  { title: 'new tests', side: 'r', cell: (row) => row.newTests },
  { title: 'behaviour', side: 'r', cell: (row) => row.behaviour, optional: true },
  { title: 'class', side: 'l', cell: (row) => row.alike, optional: true },
  { title: 'judges W-T-L', side: 'r', cell: (row) => row.judges, optional: true },
  { title: 'lines', side: 'r', cell: (row) => row.lines },
  { title: 'cost', side: 'r', cell: (row) => row.cost },
  { title: 'time', side: 'r', cell: (row) => row.time },
  { title: 'verdict', side: 'l', cell: (row) => (row.chosen ? `**${row.verdict}**` : row.verdict) },
];

/** One row for each candidate, best first. */
export function rankingSection(view: RunView, room: number): string {
  const rows = rankRows(view);
  const columns = COLUMNS.filter(({ optional, cell }) => !optional || rows.some((row) => cell(row) !== '–'));
  const lines = tableRows(
    columns.map(({ title }) => title),
    columns.map(({ side }) => side).join(''),
    rows.map((row) => columns.map(({ cell }) => cell(row))),
  );
  return fill(lines, room, {
    separator: '\n',
    more: (left) => `\n(${left} more, left out for length)`,
  });
}
