import type { Leaderboard, Standing, WorkKind } from '../../core/learning/index.ts';
import { counted } from '../../core/model/index.ts';
import {
  NONE_TOLD_APART,
  peopleNotes,
  shortContestantNames,
  standingTexts,
} from '../../core/reports/index.ts';
import { clipped, displayWidth, padded, painter, printable, wrap } from './terminal.ts';

interface LeaderboardColumn {
  readonly title: string;
  readonly cell: (standing: Standing) => string;
}

const STANDING_COLUMNS: readonly LeaderboardColumn[] = [
  { title: 'wins', cell: (one) => standingTexts(one).wins },
  { title: '90%', cell: (one) => standingTexts(one).interval },
  { title: 'runs', cell: (one) => standingTexts(one).runs },
  { title: 'won', cell: (one) => standingTexts(one).won },
  { title: 'alone', cell: (one) => standingTexts(one).alone },
  { title: 'passed', cell: (one) => standingTexts(one).sound },
  { title: 'per win', cell: (one) => standingTexts(one).perWin },
  { title: 'merged', cell: (one) => standingTexts(one).merged },
  { title: 'time', cell: (one) => standingTexts(one).time },
];
/** Columns that a narrow terminal drops, first to last. */
const DROPPED_WHEN_NARROW = ['time', 'merged', 'passed', 'won', 'alone'];
const CELL_GAP = '  ';

interface LeaderboardOptions {
  /** Columns of the terminal. */
  readonly width: number;
  readonly colour: boolean;
  readonly kind?: WorkKind;
}

/** The table, what it does not tell apart, and what else is worth a sentence. */
export function leaderboardText(
  leaderboard: Leaderboard,
  { width, colour, kind }: LeaderboardOptions,
): readonly string[] {
  const { standings, runs, repositories } = leaderboard;
  const paint = painter(colour);
  const about = kind ? ` of the kind \`${kind}\`` : '';
  if (standings.length === 0) {
    return wrap(
      `No run${about} has been decided yet. Outcomes are kept from each run on; start one: runoff run "Fix the …"`,
      width,
    );
  }
  const where =
    repositories.length === 1
      ? printable(repositories[0] ?? '', 80)
      : counted(repositories.length, 'repository', 'repositories');
  return [
    paint('strong', clipped(`${counted(runs, 'run')}${about} in ${where}`, width)),
    '',
    ...standingLines(standings, width).map((line, i) => (i === 0 ? paint('dim', line) : line)),
    '',
    ...notes(leaderboard).flatMap((note) =>
      wrap(note, width - 2).map((line, i) => (i === 0 ? `- ${line}` : `  ${line}`)),
    ),
  ];
}

function standingLines(standings: readonly Standing[], width: number): readonly string[] {
  const names = namesOf(standings);
  const sized = (column: LeaderboardColumn) => ({
    ...column,
    columns: Math.max(...[column.title, ...standings.map(column.cell)].map(displayWidth)),
  });
  let columns = STANDING_COLUMNS.map(sized);
  const longest = Math.max(displayWidth('contestant'), ...names.map(displayWidth));
  const room = () => width - columns.reduce((sum, one) => sum + one.columns + CELL_GAP.length, 0);
  for (const title of DROPPED_WHEN_NARROW) {
    if (room() >= longest) break;
    columns = columns.filter((one) => one.title !== title);
  }
  const nameColumns = Math.max(1, Math.min(longest, room()));
  const line = (name: string, cell: (column: LeaderboardColumn) => string): string =>
    [
      padded(shortened(name, nameColumns), nameColumns),
      ...columns.map((one) => padded(cell(one), one.columns, 'right')),
    ].join(CELL_GAP);
  return [
    line('contestant', ({ title }) => title),
    ...standings.map((standing, i) => line(names[i] ?? '', ({ cell }) => cell(standing))),
  ];
}

/** Only what distinguishes the contestants; all of it where that is the provider. */
function namesOf(standings: readonly Standing[]): readonly string[] {
  const short = shortContestantNames(standings);
  return standings.map(({ agent, model, prompt }, i) => {
    const name = short[i] ?? '';
    const isShared = short.some((other, j) => j !== i && other === name);
    return printable(isShared ? `${agent} ${model} (${prompt})` : name, 80);
  });
}

/** Without its middle: names differ in the agent, at the start, or in model and prompt, at the end. */
function shortened(name: string, columns: number): string {
  const all = [...name];
  if (displayWidth(name) <= columns || columns < MIN_SHORTENED) return name;
  const end = Math.ceil((columns - 1) / 2);
  return `${all.slice(0, columns - 1 - end).join('')}…${all.slice(-end).join('')}`;
}

const MIN_SHORTENED = 3;

/** Neighbours in the list of whom none is told from the next. */
const notToldApart = (standings: readonly Standing[]): readonly (readonly string[])[] => {
  const groups: string[][] = [];
  for (const [i, name] of namesOf(standings).entries()) {
    const before = groups.at(-1);
    if (before === undefined || standings[i - 1]?.isAheadOfNext) groups.push([name]);
    else before.push(name);
  }
  return groups.filter(({ length }) => length > 1);
};

function notes(leaderboard: Leaderboard): readonly string[] {
  const { standings } = leaderboard;
  const together = notToldApart(standings);
  return [
    '`wins`: estimated share of runs that a contestant wins; the fewer runs it has, the closer to the mean of all. `90%`: the interval that contains this share with 90% probability. `alone`: won against others of whom none passed without breaking a test.',
    ...(together.length > 0 && standings.every(({ isAheadOfNext }) => !isAheadOfNext)
      ? [NONE_TOLD_APART]
      : together.length > 0
        ? [
            `Not significantly different: ${together.map((names) => names.join(', ')).join('; ')}. Their differences can be chance.`,
          ]
        : []),
    ...peopleNotes(leaderboard),
  ];
}
