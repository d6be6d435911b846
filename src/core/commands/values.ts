import type { Alias } from '../model/index.ts';

/** A week: timers end at 24 days, and the settings take no more either. */
const LONGEST_SECONDS = 168 * 3600;
/** As in the settings. */
const MOST_DOLLARS = 1_000;
/** Characters of a ref; git allows a little more, nobody needs it. */
const MOST_REF = 200;

// Without the `u` flag, so that no other alphabet has a letter that counts as one of these in another case.
const LETTER = /^[A-Z]$/i;

/** A candidate's letter as somebody wrote it, in either case; null for anything else. */
export const aliasOf = (text: string): Alias | null => (LETTER.test(text) ? text.toUpperCase() : null);

/** `$5`, `5`, `5.50` in US dollars, from a cent to 1,000; null for anything else. */
export function dollarsOf(text: string): number | null {
  if (!/^\$?\d{1,4}(?:\.\d{1,2})?$/.test(text)) return null;
  const usd = Number(text.replace('$', ''));
  return usd > 0 && usd <= MOST_DOLLARS ? usd : null;
}

/** `90s`, `30m` or `2h` in seconds, a week at most; null for anything else. */
export function secondsOf(text: string): number | null {
  const found = /^([1-9]\d{0,5})(s|m|h)$/.exec(text);
  if (!found) return null;
  const seconds = Number(found[1]) * { s: 1, m: 60, h: 3600 }[found[2] as 's' | 'm' | 'h'];
  return seconds <= LONGEST_SECONDS ? seconds : null;
}

/** A branch, tag or commit, in the letters that no shell, no git and no URL reads as anything else; null for others. */
export function refOf(text: string): string | null {
  const fits = /^[A-Za-z0-9._/][A-Za-z0-9._/-]*$/.test(text) && !text.includes('..');
  return fits && text.length <= MOST_REF ? text : null;
}

/** Parts between commas, without the blanks around them; empty ones are left out. */
export const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
