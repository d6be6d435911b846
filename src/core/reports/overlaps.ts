import type { Overlaps } from '../model/index.ts';
import { fill } from './markdown.ts';
import { MARKDOWN, type Markup } from './markup.ts';

/** Files named for one pull request. */
const MAX_FILES_OF_A_PULL = 3;
/** Pull requests named in one line. */
const MAX_PULLS_IN_A_LINE = 5;
/** Maximum UTF-16 units of all lines; code points of a path and of a sentence. */
const MAX_LINES_LENGTH = 4_000;
const MAX_PATH = 200;
const MAX_SENTENCE = 500;

/** Some of the texts, and how many more there are. */
function withMore(texts: readonly string[], most: number): string {
  const more = texts.length - most;
  return `${texts.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `#12: `src/money.js` and 2 more`, one for each pull request, and what is missing; empty if none changes the same. */
export function overlapLines(overlaps: Overlaps | undefined, to: Markup = MARKDOWN): readonly string[] {
  if (overlaps === undefined || overlaps.pulls.length === 0) return [];
  const lines = overlaps.pulls.map(({ number, files }) => {
    const named = files.map((path) => to.code(path, MAX_PATH));
    return `#${number}: ${withMore(named, MAX_FILES_OF_A_PULL)}`;
  });
  const list = fill(lines, MAX_LINES_LENGTH, {
    separator: '\n',
    more: (left) => `and ${left} more pull requests`,
  });
  return [
    ...list.split('\n').filter((line) => line !== ''),
    ...(overlaps.missing === undefined ? [] : [to.sentence(overlaps.missing, MAX_SENTENCE)]),
  ];
}

/** What was not compared, where nothing was found that it could stand below. Empty for nothing to say. */
export const overlapGap = ({ pulls = [], missing }: Partial<Overlaps> = {}, to: Markup = MARKDOWN): string =>
  pulls.length > 0 || missing === undefined ? '' : to.sentence(missing, MAX_SENTENCE);

/** One line for an active run: news that somebody may want to act on before the coders end. Empty for none. */
export function overlapLine(overlaps: Overlaps | undefined): string {
  const { pulls = [] } = overlaps ?? {};
  if (pulls.length === 0) return '';
  const named = pulls.map(({ number }) => `#${number}`);
  return `**Open pull requests change files of the plan, too:** ${withMore(named, MAX_PULLS_IN_A_LINE)}.`;
}
