import type { Alias } from '../model/index.ts';

/** A candidate as far as voting needs it. */
export interface Voter {
  readonly alias: Alias;
  /** Equal for equivalent patches. */
  readonly classKey: string;
  /** Maker of its model; null where unknown: it then votes for itself alone. */
  readonly family: string | null;
}

export interface VoteClass {
  readonly classKey: string;
  /** Sorted. */
  readonly aliases: readonly Alias[];
  readonly families: readonly string[];
  readonly votes: number;
}

export interface Vote {
  /** Most votes first, equals by key. */
  readonly classes: readonly VoteClass[];
  /** The class ahead of all others; null when none is. */
  readonly winner: VoteClass | null;
  /** One sentence for people. */
  readonly because: string;
}

/**
 * Classes of equivalent patches; one vote for each model family, because runs of one model repeat its mistakes. A family
 * whose candidates differ gives each of their classes its share of them.
 */
export function vote(voters: readonly Voter[]): Vote {
  const sorted = voters.toSorted((x, y) => byText(x.alias, y.alias));
  const familyOf = ({ alias, family }: Voter) => family ?? `?${alias}`;
  const keys = [...new Set(sorted.map(({ classKey }) => classKey))];
  const classes = keys.map((classKey): VoteClass => {
    const own = sorted.filter((one) => one.classKey === classKey);
    const families = [...new Set(own.map(familyOf))].sort();
    const shares = families.map((family) => {
      const all = sorted.filter((one) => familyOf(one) === family);
      return all.filter((one) => one.classKey === classKey).length / all.length;
    });
    const votes = shares.toSorted((x, y) => x - y).reduce((sum, share) => sum + share, 0);
    return {
      classKey,
      aliases: own.map(({ alias }) => alias),
      families: families.filter((family) => !family.startsWith('?')),
      votes: Math.round(votes * 1e9) / 1e9,
    };
  });
  classes.sort((x, y) => y.votes - x.votes || byText(x.classKey, y.classKey));
  const [first, second] = classes;
  const ahead = first !== undefined && first.votes > (second?.votes ?? 0);
  return { classes, winner: ahead ? first : null, because: sentence(first, second, ahead) };
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const counted = (votes: number): string => `${Number(votes.toFixed(2))} vote${votes === 1 ? '' : 's'}`;

function sentence(first: VoteClass | undefined, second: VoteClass | undefined, ahead: boolean): string {
  if (!first) return 'There was no candidate to vote on.';
  const names = first.aliases.join(', ');
  if (!second)
    return `All candidates are equivalent (${names}). That they agree does not show that they are right.`;
  if (!ahead) return `No class of equivalent patches has most votes: ${counted(first.votes)} each.`;
  return `${names}: ${counted(first.votes)}, one for each model family; the next class has ${counted(second.votes)}.`;
}
