import { fill, tableRows } from './layout.ts';
import { rankRows } from './rows.ts';
import { code } from './safe.ts';
import type { RunView } from './view.ts';

const HEAD = [
  'candidate',
  'contestant',
  'build',
  'base tests',
  'peer tests',
  'lines',
  'cost',
  'time',
  'verdict',
];

/** One row for each candidate, best first. */
export function rankingSection(view: RunView, room: number): string {
  const rows = rankRows(view).map((row) => [
    `**${row.alias}**`,
    code(row.contestant, 80),
    row.build,
    row.baseTests,
    row.peerTests,
    row.lines,
    row.cost,
    row.time,
    row.chosen ? `**${row.verdict}**` : row.verdict,
  ]);
  const lines = tableRows(HEAD, 'lllrrrrrl', rows);
  return fill(lines, room, {
    separator: '\n',
    more: (left) => `\n(${left} more, left out for length)`,
  });
}
