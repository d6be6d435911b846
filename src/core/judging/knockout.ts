import type { Alias } from '../model/index.ts';
import type { Pair } from './panel.ts';

/** One round: who meets whom, and who goes on without a match. In order of seed, best first. */
export interface Round {
  readonly matches: readonly Pair[];
  readonly byes: readonly Alias[];
}

/**
 * The round of those who are left, given in order of seed: the best meets the last, and where a round is not full the best
 * have byes, so that the number left becomes a power of two. Empty when one is left.
 */
export function roundOf(left: readonly Alias[]): Round {
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, left.length)));
  const byes = left.slice(0, size - left.length);
  const playing = left.slice(byes.length);
  return {
    byes,
    matches: playing
      .slice(0, playing.length / 2)
      .map((a, i) => ({ a, b: playing[playing.length - 1 - i] as Alias })),
  };
}

/** Those who go on, in order of seed. Without a winner the better seed does: evidence decided it. */
export function afterRound(
  left: readonly Alias[],
  round: Round,
  winnerOf: (match: Pair) => Alias | null,
): readonly Alias[] {
  const on = new Set([...round.byes, ...round.matches.map((match) => winnerOf(match) ?? match.a)]);
  return left.filter((alias) => on.has(alias));
}
