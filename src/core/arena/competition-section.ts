import { counted } from '../model/index.ts';
import { money } from '../reports/index.ts';
import type { Competition, Way } from './competition.ts';
import { type ReportSection, wholePercent } from './rating-section.ts';
import type { DecisionClass } from './records.ts';

const CLASS_TEXT: Readonly<Record<DecisionClass, string>> = {
  clear: 'clear winner',
  likely: 'likely winner',
  'toss-up': 'toss-up (its first answer)',
  none: 'none: no answer is right',
};

const WAY_TEXT: Readonly<Record<Way, string>> = {
  runoff: "Runoff's pick",
  single: 'one contestant alone, at random',
  random: 'a pick at random among the changes',
  smallest: 'the smallest change',
  best: 'the best contestant alone',
  ceiling: 'a perfect pick (ceiling)',
};

/** What competing is worth, as a section of the report. */
export function competitionSection(competition: Competition): ReportSection {
  const { pools, tasks, contestants, classes, ways, best, undecided } = competition;
  const share = (solved: number) => `${oneDecimal(solved)} of ${pools} (${wholePercent(solved / pools)})`;
  return {
    title: 'What competing is worth',
    sentences: [
      `Runoff chose in ${counted(pools, 'set')} of answers, each to one task in one round and of ${oneDecimal(contestants)} answers on average, as \`runoff select\` does, without the hidden tests. These say afterwards who was right.`,
      "Intervals are Wilson's; several sets of answers to one task count as fewer, by how alike their results are.",
      ...(pools > tasks
        ? [
            'Dollars are those of each set by itself: an answer that stands for several rounds counts in each.',
          ]
        : []),
      ...(undecided > 0
        ? [
            `${counted(undecided, 'more set is', 'more sets are')} not decided yet: \`runoff arena decide\` does it.`,
          ]
        : []),
      ...worthText(competition),
      ...(best === null ? [] : [`The best contestant is \`${best}\`, which is known only afterwards.`]),
    ],
    tables: [
      {
        caption: "Runoff's decisions by class",
        head: ['Decision', 'Sets', 'Right', '95% interval', 'A right answer among those to choose from'],
        align: 'lrrrr',
        rows: classes.map((row) => [
          CLASS_TEXT[row.class],
          String(row.pools),
          row.pools === 0 ? '–' : `${row.right} (${wholePercent(row.right / row.pools)})`,
          row.interval === null
            ? '–'
            : `[${wholePercent(row.interval.low)}, ${wholePercent(row.interval.high)}]`,
          row.class === 'toss-up' && row.pools > 0 ? `${row.amongRight} of ${row.pools}` : '–',
        ]),
      },
      {
        caption: 'Ways of getting a change',
        head: ['Way', 'Solved', '$ in all', '$ per solved'],
        align: 'lrrr',
        rows: ways.map(({ way, solved, usd, usdPerSolved }) => [
          WAY_TEXT[way],
          pools === 0 ? '–' : share(solved),
          money(usd),
          usdPerSolved === null ? '–' : money(usdPerSolved),
        ]),
      },
    ],
  };
}

const oneDecimal = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1));

/** The difference to one contestant alone, in sets and dollars. */
function worthText({ ways, pools }: Competition): readonly string[] {
  const [runoff, single] = ['runoff', 'single'].map((name) => ways.find(({ way }) => way === name));
  if (!runoff || !single || pools === 0) return [];
  const [more, usd] = [runoff.solved - single.solved, runoff.usd - single.usd];
  const each = more > 0 ? `, ${money(usd / more)} for each` : '';
  return [
    more > 0
      ? `Against one contestant alone: ${oneDecimal(more)} more solved for ${money(usd)} more${each}.`
      : `Against one contestant alone: ${oneDecimal(-more)} fewer solved, for ${money(usd)} more.`,
  ];
}
