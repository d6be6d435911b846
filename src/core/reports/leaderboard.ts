import type { Leaderboard, Standing } from '../learning/index.ts';
import { counted, elapsed, money } from './format.ts';

const share = (part: number): string => `${Math.round(100 * part)}%`;

/** What is known of one contestant, as the texts of a table; its name is left to the place where it is shown. */
export function standingTexts(one: Standing) {
  const { interval, wins, usdPerWin } = one;
  return {
    wins: share(one.estimate),
    interval: `${Math.round(100 * interval[0])}–${share(interval[1])}`,
    runs: String(one.runs),
    // Partial wins have one decimal.
    won: Number.isInteger(wins) ? String(wins) : wins.toFixed(1),
    alone: String(one.alone),
    sound: share(one.sound),
    cost: money(one.usd),
    perWin: usdPerWin === null ? '–' : money(usdPerWin),
    merged: String(one.merged),
    time: elapsed(one.ms),
  } as const;
}

export const NONE_TOLD_APART =
  'No contestant differs significantly from the next one yet: differences between neighbours can be chance.';

/** Sentences about what people did with the results; none if they did nothing. */
export const peopleNotes = ({ edited, reverted, pickedAgainst }: Leaderboard): readonly string[] => [
  ...(pickedAgainst > 0
    ? [`${counted(pickedAgainst, 'time')} a person picked another candidate than Runoff's first.`]
    : []),
  ...(edited > 0 ? [`${counted(edited, 'merge')} came after people had edited the code.`] : []),
  ...(reverted > 0 ? [`${counted(reverted, 'merge')} ${reverted === 1 ? 'was' : 'were'} reverted.`] : []),
];
