import type { Alias, FurtherRound } from '../model/index.ts';

/** Letters from A to Z. */
export const MOST_ALIASES = 26;

/** Aliases of a further round: the letters after those that are taken. Fewer where the alphabet ends. */
export function furtherAliases(taken: number, count: number): readonly Alias[] {
  const room = Math.max(0, Math.min(count, MOST_ALIASES - taken));
  return Array.from({ length: room }, (_, i) => String.fromCharCode(65 + taken + i));
}

/** A candidate's round in a few words, for its note: `repair of B`, `merged from A and C`. */
export function roundWords({ kind, of }: FurtherRound): string {
  switch (kind) {
    case 'repair':
      return `repair of ${of.join(' and ')}`;
    case 'synthesis':
      return `merged from ${of.join(' and ')}`;
    case 'one-more':
      return 'one more';
  }
}
