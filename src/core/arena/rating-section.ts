import { counted } from '../model/index.ts';
import type { Rating, RatingTable } from './rating.ts';
import type { ArenaReport, RatingSource } from './report.ts';

/** A table of plain texts; `align` has one mark for each column: `l` or `r`. */
export interface ReportTable {
  readonly caption: string;
  readonly head: readonly string[];
  readonly align: string;
  readonly rows: readonly (readonly string[])[];
}

/** A part of the report as plain text, for every output. In sentences, backticks mark code. */
export interface ReportSection {
  readonly title: string;
  readonly sentences: readonly string[];
  readonly tables: readonly ReportTable[];
  /** The picture belongs behind the sentences. */
  readonly picture?: true;
  /** Explains the others; the terminal leaves it out. */
  readonly explains?: true;
}

const RATING_TITLES: Readonly<Record<RatingSource, string>> = {
  people: 'Rating by people',
  judges: 'Rating by judges',
  truth: 'Rating by executed tests',
};
const WITHOUT: Readonly<Record<RatingSource, string>> = {
  people: 'Nobody has voted yet: `runoff arena vote`.',
  judges: 'No judge has voted yet: `runoff arena vote --judge MODEL`.',
  truth: 'There is no task that one contestant solved and another one did not.',
};
const EVIDENCE: Readonly<Record<RatingSource, string>> = {
  people: 'votes',
  judges: 'verdicts',
  truth: 'results',
};

export function ratingSection(report: ArenaReport, source: RatingSource): ReportSection {
  const rating = report.ratings[source];
  const numbers = new Map(report.contestants.map(({ id, number }) => [id, number]));
  const title = RATING_TITLES[source];
  if (rating.groups.length === 0) return { title, sentences: [WITHOUT[source]], tables: [] };
  return {
    title,
    sentences: [
      ...rating.groups.map((group) => toldApart(group, EVIDENCE[source])),
      ...connectionSentences(rating, EVIDENCE[source]),
      ...(source === 'people' ? voteSentences(report) : []),
      ...truthSentences(report, source),
    ],
    tables: rating.groups.map((group, at) => ({
      caption: rating.groups.length === 1 ? title : `${title}, group ${at + 1}`,
      head: [
        'Place',
        'No.',
        'Contestant',
        'Elo, 95% interval',
        'Strength',
        'Won–tied–lost',
        'Not significantly different from',
      ],
      align: 'rrlrrrl',
      rows: group.map((one) => ratingRow(one, group, numbers)),
    })),
  };
}

function ratingRow(
  { contestant, places, elo, eloInterval, strength, wins, ties, losses, notToldApart }: Rating,
  group: readonly Rating[],
  numbers: ReadonlyMap<string, number>,
): readonly string[] {
  const others = notToldApart.map((other) => numbers.get(other) ?? 0).toSorted((x, y) => x - y);
  return [
    places.best === places.worst ? String(places.best) : `${places.best}–${places.worst}`,
    String(numbers.get(contestant) ?? ''),
    contestant,
    `${elo.toFixed(0)} [${eloInterval.low.toFixed(0)}, ${eloInterval.high.toFixed(0)}]`,
    signed(strength),
    `${wins}–${ties}–${losses}`,
    others.length === 0 ? 'nobody' : others.length === group.length - 1 ? 'anybody' : others.join(', '),
  ];
}

const signed = (x: number): string => `${x < 0 ? '−' : '+'}${Math.abs(x).toFixed(2)}`;
export const wholePercent = (share: number): string => `${Math.round(100 * share)}%`;

/** Says who is not told apart, so that nobody reads an order from the table that is not there. */
function toldApart(group: readonly Rating[], evidence: string): string {
  const all = (group.length * (group.length - 1)) / 2;
  const open = group.reduce((sum, { notToldApart }) => sum + notToldApart.length, 0) / 2;
  if (open === 0) return `The ${evidence} distinguish all ${group.length} contestants.`;
  if (open === all)
    return `The ${evidence} do not distinguish any two of these ${group.length} contestants: the order of the table may be chance.`;
  return `The ${evidence} distinguish ${all - open} of ${all} pairs of contestants. The last column names the others: their order may be chance.`;
}

export const quotedList = (ids: readonly string[]): string => ids.map((id) => `\`${id}\``).join(', ');

function connectionSentences(rating: RatingTable, evidence: string): readonly string[] {
  const { groups, unrated, unbeaten, winless } = rating;
  return [
    ...(groups.length > 1
      ? [
          `No chain of ${evidence} connects the ${groups.length} groups, so ratings of different groups cannot be compared.`,
        ]
      : []),
    ...(unrated.length > 0 ? [`Without ${evidence}, and so without a rating: ${quotedList(unrated)}.`] : []),
    ...(unbeaten.length > 0
      ? [
          `Never lost or tied: ${quotedList(unbeaten)}. How much stronger is only bounded by the prior; see the interval.`,
        ]
      : []),
    ...(winless.length > 0 ? [`Never won or tied: ${quotedList(winless)}.`] : []),
  ];
}

function voteSentences({ votes }: ArenaReport): readonly string[] {
  return [
    `${counted(votes.decided, 'vote')} on ${votes.pairs} of ${counted(votes.possible - votes.alike, 'pair')} of different answers${votes.ties > 0 ? `; ${votes.ties} of them ties` : ''}.`,
    ...(votes.alike > 0
      ? [
          `${counted(votes.alike, 'pair')} of identical answers ${votes.alike === 1 ? 'counts as a tie' : 'count as ties'} without a vote, in proportion to the votes on the others.`,
        ]
      : []),
    ...(votes.skipped > 0 ? [`${counted(votes.skipped, 'pair')} skipped by voters; not counted.`] : []),
  ];
}

function truthSentences({ againstTruth }: ArenaReport, source: RatingSource): readonly string[] {
  if (source === 'truth') return [];
  const { pairs, solved } = againstTruth[source];
  return pairs === 0
    ? []
    : [
        `Where tests solve one of two answers and not the other, ${solved} of ${counted(pairs, EVIDENCE[source].slice(0, -1))} (${wholePercent(solved / pairs)}) prefer the solved one.`,
      ];
}
