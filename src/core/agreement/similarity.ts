import type { Bag, Place, Profile } from './profile.ts';

/** How far `mine` agrees with `theirs`, each part in [0, 1]. Not symmetric: to leave out weighs more than to add. */
export interface Similarity {
  /** What the changes say: lines added, tokens that are more or fewer than before, runs of tokens. */
  readonly text: number;
  /** How much of where they change something `mine` changes something as well: files and places. */
  readonly cover: number;
}

/**
 * What only `mine` has counts half of what only `theirs` has (Tversky, Features of Similarity, 1977): a patch more often
 * fails for what it lacks. Our default, tuned on patches whose outcome is known.
 */
const OWN_EXTRA = 0.5;
/** Lines between two places that still count as one. Our default, tuned likewise. */
const NEAR = 5;

export function similarity(mine: Profile, theirs: Profile): Similarity {
  return {
    text: mean([
      likeness(mine.added, theirs.added),
      likeness(mine.delta, theirs.delta),
      likeness(mine.trigrams, theirs.trigrams),
    ]),
    cover: mean([coverOfFiles(mine, theirs), coverOfPlaces(mine, theirs)]),
  };
}

/** Null where neither has anything to compare. */
function likeness(mine: Bag, theirs: Bag): number | null {
  const shared = sharedOf(mine, theirs);
  const whole = shared + OWN_EXTRA * (mine.whole - shared) + (theirs.whole - shared);
  return whole === 0 ? null : shared / whole;
}

function sharedOf(one: Bag, other: Bag): number {
  const [few, many] = one.counts.size <= other.counts.size ? [one, other] : [other, one];
  let shared = 0;
  for (const [thing, n] of few.counts) shared += Math.min(n, many.counts.get(thing) ?? 0);
  return shared;
}

function coverOfFiles(mine: Profile, theirs: Profile): number | null {
  const paths = [...theirs.places.keys()];
  return paths.length === 0 ? null : paths.filter((path) => mine.places.has(path)).length / paths.length;
}

function coverOfPlaces(mine: Profile, theirs: Profile): number | null {
  let all = 0;
  let met = 0;
  for (const [path, places] of theirs.places) {
    all += places.length;
    met += countNear(places, mine.places.get(path) ?? []);
  }
  return all === 0 ? null : met / all;
}

/** How many of the places have one of the others near. Both are in order of lines and do not overlap. */
function countNear(places: readonly Place[], others: readonly Place[]): number {
  let at = 0;
  return places.filter(([from, to]) => {
    while (at < others.length && (others[at] as Place)[1] < from - NEAR) at++;
    return at < others.length && (others[at] as Place)[0] <= to + NEAR;
  }).length;
}

const mean = (parts: readonly (number | null)[]): number => {
  const known = parts.filter((part) => part !== null);
  return known.length === 0 ? 0 : known.reduce((total, part) => total + part, 0) / known.length;
};
