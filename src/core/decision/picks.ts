import type { Alias, Candidate } from '../model/index.ts';
import type { Ranked } from '../ranking/index.ts';
import { type Decision, LIKELY, pickOf } from './decision.ts';

/** What people picked, in order; `alias` null: none of them. */
type Picks = readonly { readonly alias: Alias | null }[];

/** The candidate that stands as chosen: the last pick of a person, else the decision's; null where nobody is. */
export function chosenOf({
  decision,
  picks = [],
}: {
  readonly decision?: Decision | undefined;
  readonly picks?: Picks | undefined;
}): Alias | null {
  const last = picks.at(-1);
  return last ? last.alias : pickOf(decision);
}

/** Those whom a person may pick: survivors of every gate that have a patch, best first (I7). */
export function pickable({
  ranking,
  candidates,
}: {
  readonly ranking: readonly Pick<Ranked, 'alias' | 'place' | 'survivor'>[];
  readonly candidates: readonly Pick<Candidate, 'alias' | 'patch'>[];
}): readonly Alias[] {
  return ranking
    .filter(({ alias, survivor }) => survivor && candidates.some((one) => one.alias === alias && one.patch))
    .toSorted((one, other) => one.place - other.place)
    .map(({ alias }) => alias);
}

/** The settings leave the pick to a person, though the evidence would have named a winner. */
export const leftToPerson = (decision: Decision | undefined): boolean =>
  decision?.kind === 'toss-up' && decision.chance >= LIKELY;
