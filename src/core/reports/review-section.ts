import type { CriticReport, Objection, WinnerReview } from '../judging/index.ts';
import { counted } from './format.ts';
import { fill } from './layout.ts';
import { code, prose, sentence } from './safe.ts';
import type { RunView } from './view.ts';

/** What execution made of an objection, in the fewest words. */
export const FATE_WORDS = {
  confirmed: 'confirmed by a test',
  doubt: 'not shown by a test',
  refuted: 'refuted by its own test',
} as const satisfies Record<Objection['fate'], string>;

/** What became of the place of a reviewed candidate, as plain text; empty while nothing was decided again. */
export function placeAfter({ alias, after }: WinnerReview, all: readonly WinnerReview[]): string {
  if (!after) return '';
  if (after.alias === alias) return 'It keeps its place.';
  if (after.alias === null) return `It lost its place, and nobody has it now. ${after.because}`;
  const next = all.some((one) => one.alias === after.alias)
    ? ''
    : ` ${after.alias} was not reviewed any more.`;
  return `It lost its place to ${after.alias}. ${after.because}${next}`;
}

/** One critic in a few words: plain text, in part a model's. */
export function criticSaid(report: CriticReport): string {
  switch (report.kind) {
    case 'passed':
      return `passed it: ${report.because}`;
    case 'objects':
      return `objects: ${report.because}`;
    case 'failed':
      return `gave no review: ${report.why}`;
  }
}

/** UTF-16 units that each objection may take. */
const TEXT = 200;

/** What critics said of whoever was first, what execution made of it, and who has the place since. */
export function reviewSection({ review = [] }: RunView, room: number): string {
  if (review.length === 0) return '';
  const title = '#### Review of the winner';
  const blocks = review.flatMap((one) => [
    headOf(one, review),
    ...one.critics.flatMap((report) => [
      `- ${code(report.critic, 60)}${modelOf(report)} ${sentence(criticSaid(report), 300)}`,
      ...('objections' in report ? report.objections.map(objectionLine) : []),
    ]),
  ]);
  const body = fill(blocks, room - title.length - 2, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, left out for length)`,
  });
  return `${title}\n\n${body}`;
}

const headOf = (one: WinnerReview, all: readonly WinnerReview[]): string => {
  const place = placeAfter(one, all);
  const text = `**${one.alias}** was put before ${counted(one.critics.length, 'critic')}, who saw neither its author's name nor what another one said.${place && ` ${sentence(place, 600)}`}`;
  // A paragraph between two lists, so that it belongs to neither.
  return one === all[0] ? `${text}\n` : `\n${text}\n`;
};

const modelOf = (report: CriticReport): string =>
  report.kind === 'failed' ? '' : ` (${code(report.model, 80)})`;

function objectionLine({ file, line, input, expected, got, fate, because }: Objection): string {
  const what = `input ${prose(input, TEXT)}: expected ${prose(expected, TEXT)}, got ${prose(got, TEXT)}`;
  const why = fate === 'refuted' ? '' : ` (${prose(because, TEXT)})`;
  return `  - **${FATE_WORDS[fate]}**${why}: ${code(`${file}:${line}`, 160)}, ${what}`;
}

/** One line for the pull request of a reviewed candidate; empty where it was not reviewed. */
export function reviewLine({ review = [] }: RunView, alias: string): string {
  const own = review.find((one) => one.alias === alias);
  if (!own) return '';
  const objections = own.critics.flatMap((one) => ('objections' in one ? one.objections : []));
  const failed = own.critics.filter(({ kind }) => kind === 'failed').length;
  const counts = (['confirmed', 'doubt', 'refuted'] as const).flatMap((fate) => {
    const count = objections.filter((one) => one.fate === fate).length;
    return count === 0 ? [] : [`${count} ${FATE_WORDS[fate]}`];
  });
  const heard = counts.length === 0 ? 'no objection' : `objections: ${counts.join(', ')}`;
  return `- Review by ${counted(own.critics.length, 'critic')}: ${heard}${failed === 0 ? '' : `; ${failed} gave no review`}`;
}
