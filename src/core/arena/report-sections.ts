import { counted, uniqueSorted } from '../model/index.ts';
import { elapsed, money } from '../reports/index.ts';
import { competitionSection } from './competition-section.ts';
import { NO_AGENT } from './contest.ts';
import type { ContestantRow } from './measures.ts';
import type { Interval } from './rating.ts';
import { quotedList, type ReportSection, ratingSection, wholePercent } from './rating-section.ts';
import type { ArenaReport } from './report.ts';

export const reportTitle = ({ name }: ArenaReport): string => `Contest ${name}`;

/** One sentence with what the contest consists of. */
export function reportSummary({ contestants, tasks, rounds, votes, judges }: ArenaReport): string {
  const verified = contestants.reduce((sum, one) => sum + one.verified, 0);
  return `${counted(contestants.length, 'contestant')} on ${counted(tasks, 'task')} in ${counted(rounds, 'round')}: ${counted(votes.decided, 'vote')} by ${counted(votes.voters.length, 'person', 'people')}, ${counted(judges.length, 'judge')}, ${counted(verified, 'verified change')}.`;
}

export function reportSections(report: ArenaReport): readonly ReportSection[] {
  return [
    ratingSection(report, 'people'),
    ratingSection(report, 'judges'),
    ratingSection(report, 'truth'),
    gridSection(report),
    costSection(report),
    frontSection(report),
    ...(report.competition === null ? [] : [competitionSection(report.competition)]),
    ...(report.judges.length > 0 ? [judgesSection(report)] : []),
    leftOutSection(report),
    calculationSection(),
  ];
}

function gridSection({ contestants, ratings }: ArenaReport): ReportSection {
  const prompts = uniqueSorted(contestants.map(({ prompt }) => prompt));
  const columns = uniqueSorted(contestants.map(columnOf));
  const source = ratings.people.groups.length > 0 ? 'people' : 'judges';
  const elo = new Map(ratings[source].groups[0]?.map((one) => [one.contestant, one.elo]));
  const cell = (prompt: string, column: string) =>
    contestants
      .filter((one) => one.prompt === prompt && columnOf(one) === column)
      .map((one) => gridCell(one, elo.get(one.id)))
      .join('; ') || '–';
  return {
    title: 'Prompt × model',
    sentences: [
      `Each cell: solved changes, ${elo.size > 0 ? `Elo by ${source}, ` : ''}and dollars for one answer.`,
    ],
    tables: [
      {
        caption: 'Prompt × model',
        head: ['Prompt', ...columns],
        align: `l${'l'.repeat(columns.length)}`,
        rows: prompts.map((prompt) => [prompt, ...columns.map((column) => cell(prompt, column))]),
      },
    ],
  };
}

const columnOf = ({ model, agent }: ContestantRow): string =>
  agent === NO_AGENT ? model : `${model}, ${agent}`;

const gridCell = ({ solved, verified, usdEach, leftOut }: ContestantRow, elo: number | undefined): string =>
  [
    ...(verified > 0 ? [`${solved} of ${verified}`] : []),
    ...(elo === undefined ? [] : [`Elo ${elo.toFixed(0)}`]),
    usdEach !== null ? money(usdEach) : leftOut > 0 ? 'only tasks that are left out' : 'no answer yet',
  ].join(', ');

const range = ({ low, high }: Interval): string => `[${wholePercent(low)}, ${wholePercent(high)}]`;

function costSection({ contestants }: ArenaReport): ReportSection {
  const time = (seconds: number | null) => (seconds === null ? '–' : elapsed(seconds * 1000));
  const cost = (usd: number | null) => (usd === null ? '–' : money(usd));
  return {
    title: 'Results and cost',
    sentences: [
      'Solved: the change applies and builds, the hidden tests pass (without any: the verify commands), every test that is known without the change was run, and no test of the base that passed is broken. Dollars and seconds for each solved task include the attempts that failed.',
      "The interval of the pass rate says how much it would vary with other tasks. It is Wilson's; several answers to one task count as fewer, by how alike they are (Kish's design effect).",
      ...byExitCodeText(contestants),
    ],
    tables: [
      {
        caption: 'Results and cost of each contestant',
        head: [
          'No.',
          'Contestant',
          'Solved',
          'Pass rate, 95% interval',
          '$ per solved',
          'Time per solved',
          '$ per answer',
          'Time per answer',
          '$ in all',
          'No usable answer',
        ],
        align: 'rlrrrrrrrl',
        rows: contestants.map((one) => [
          String(one.number),
          one.id,
          one.verified === 0 ? '–' : `${one.solved} of ${one.verified}`,
          one.passRate === null || one.passInterval === null
            ? '–'
            : `${wholePercent(one.passRate)} ${range(one.passInterval)}`,
          cost(one.usdPerSolved),
          time(one.secondsPerSolved),
          cost(one.usdEach),
          time(one.secondsEach),
          money(one.usd),
          unusableText(one),
        ]),
      },
    ],
  };
}

function byExitCodeText(contestants: readonly ContestantRow[]): readonly string[] {
  const some = contestants.filter(({ solvedByExitCode }) => solvedByExitCode > 0);
  if (some.length === 0) return [];
  const each = some.map((one) => `${one.solvedByExitCode} of ${one.solved} of No. ${one.number}`);
  return [
    `Solved by exit codes alone, because the tests wrote no report: ${each.join(', ')}. That proves less: a program that ends early looks like one that succeeds.`,
  ];
}

const unusableText = ({ refused, notADiff, failed }: ContestantRow): string =>
  [
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(notADiff > 0 ? [`${notADiff} without a diff`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ].join(', ') || 'none';

function frontSection({ front, contestants }: ArenaReport): ReportSection {
  const title = 'Quality and cost';
  const drawn = new Set(front.points.map(({ id }) => id));
  const unknown = contestants.flatMap(({ id }) => (drawn.has(id) ? [] : [id]));
  const best = front.points.filter(({ onFront }) => onFront).map(({ number, id }) => `${number} (\`${id}\`)`);
  if (best.length === 0) return { title, sentences: ['There is nothing to compare yet.'], tables: [] };
  return {
    title,
    sentences: [
      `On the Pareto front of ${front.quality} against dollars for one answer: ${best.join(', ')}. For every other contestant in the picture, one of these is at least as good and at most as expensive.`,
      ...(unknown.length > 0
        ? [
            `Not in the picture, because there is no ${front.quality} that can be compared: ${quotedList(unknown)}.`,
          ]
        : []),
    ],
    tables: [],
    picture: true,
  };
}

function judgesSection({ judges }: ArenaReport): ReportSection {
  return {
    title: 'Judges',
    sentences: [
      "A judge sees each pair in both orders; contradicting answers count as a tie. Cohen's kappa is agreement beyond chance: 0 is chance, 1 is full agreement; its interval is a Bayesian bootstrap over tasks.",
      ...judges.flatMap(({ model, discarded }) => (discarded ? [`\`${model}\`: ${discarded}`] : [])),
      ...judges.flatMap(({ model, ownFamily }) =>
        ownFamily.length > 0
          ? [`\`${model}\` also judged answers of its own model family: ${quotedList(ownFamily)}.`]
          : [],
      ),
    ],
    tables: [
      {
        caption: 'Judges and their agreement with people',
        head: [
          'Judge',
          'Pairs',
          'Changed with the order',
          'Unusable',
          'One order only',
          'Same verdict as people',
          "Cohen's kappa, 95% interval",
        ],
        align: 'lrrrrrr',
        rows: judges.map(({ model, compared, inconsistent, unusable, unfinished, withPeople }) => [
          model,
          String(compared),
          String(inconsistent),
          String(unusable),
          String(unfinished),
          withPeople === null
            ? 'no common pair'
            : `${wholePercent(withPeople.raw)} of ${counted(withPeople.verdicts, 'vote')}`,
          withPeople?.kappa === null || !withPeople?.kappaInterval
            ? '–'
            : `${withPeople.kappa.toFixed(2)} [${withPeople.kappaInterval.low.toFixed(2)}, ${withPeople.kappaInterval.high.toFixed(2)}]`,
        ]),
      },
    ],
  };
}

function leftOutSection({ leftOut, notes }: ArenaReport): ReportSection {
  return {
    title: 'Left out',
    sentences: [
      leftOut.length === 0
        ? 'No task is left out.'
        : `${counted(leftOut.length, 'task')} without influence on any rating:`,
      ...notes,
    ],
    tables:
      leftOut.length === 0
        ? []
        : [
            {
              caption: 'Tasks that are left out',
              head: ['Task', 'Why'],
              align: 'll',
              rows: leftOut.map(({ task, why }) => [task, why]),
            },
          ],
  };
}

const calculationSection = (): ReportSection => ({
  title: 'How the ratings are calculated',
  explains: true,
  sentences: [
    'Bradley-Terry: the chance that one contestant beats another depends on the difference of their strengths, in log-odds; a tie is half a win for each. All comparisons count at once, so their order does not matter. A normal prior (mean 0, variance 1) keeps strengths finite.',
    'Elo is the same strength on the scale of chess: the mean is 1500, and 400 points are odds of 10 to 1.',
    'Intervals: weighted Bayesian bootstrap over tasks, 1000 replicates from the seed of the contest. Two contestants differ significantly if one is stronger in at least 97.5% of the replicates. With many contestants, a few pairs appear to differ by chance.',
  ],
  tables: [],
});
