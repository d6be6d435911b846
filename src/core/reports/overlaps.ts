import type { Overlaps } from '../model/index.ts';
import { code, fill, inertSentence } from './markdown.ts';

/** Files named for one pull request. */
const MAX_FILES_OF_A_PULL = 3;
/** Maximum UTF-16 units of all lines; code points of a path and of a sentence. */
const MAX_LINES_LENGTH = 4_000;
const MAX_PATH = 200;
const MAX_SENTENCE = 500;

/** `#12: `src/money.js` and 2 more`, one for each pull request, and what is missing; empty if none changes the same. */
export function overlapLines(overlaps: Overlaps | undefined): readonly string[] {
  if (overlaps === undefined || overlaps.pulls.length === 0) return [];
  const lines = overlaps.pulls.map(({ number, files }) => {
    const named = files.slice(0, MAX_FILES_OF_A_PULL).map((path) => code(path, MAX_PATH));
    const more = files.length - named.length;
    return `#${number}: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  });
  const list = fill(lines, MAX_LINES_LENGTH, {
    separator: '\n',
    more: (left) => `and ${left} more pull requests`,
  });
  return [
    ...list.split('\n').filter((line) => line !== ''),
    ...(overlaps.missing === undefined ? [] : [inertSentence(overlaps.missing, MAX_SENTENCE)]),
  ];
}

/** What was not compared, where nothing was found that it could stand below. Empty for nothing to say. */
export const overlapGap = ({ pulls = [], missing }: Partial<Overlaps> = {}): string =>
  pulls.length > 0 || missing === undefined ? '' : inertSentence(missing, MAX_SENTENCE);

/** One line for an active run: news that somebody may want to act on before the coders end. Empty for none. */
export function overlapLine(overlaps: Overlaps | undefined): string {
  const { pulls = [] } = overlaps ?? {};
  if (pulls.length === 0) return '';
  const named = pulls.slice(0, 5).map(({ number }) => `#${number}`);
  const more = pulls.length - named.length;
  const all = more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
  return `**Open pull requests change files of the plan, too:** ${all}.`;
}
