import type { Evidence } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { yieldsTo } from './objections.ts';
import type { Ranked } from './ranked.ts';
import { UNDECIDED } from './ranking.ts';

/**
 * Survivors between whom executed evidence does not decide, best first: none of them breaks a base test, each is near the
 * best, and of those who made the same change only the first is named. Who yields to the first is not among them. Fewer than
 * two: there is nothing to ask.
 */
export function undecided(ranking: readonly Ranked[], evidence: readonly Evidence[]): readonly Alias[] {
  const sound = ranking.filter((one) => one.survivor && one.regressions === 0);
  const best = Math.max(...sound.map((one) => one.support));
  const near = sound.filter((one) => best - one.support <= UNDECIDED).map(({ alias }) => alias);
  const found = (alias: Alias) => evidence.find((one) => one.alias === alias);
  const first = sound[0] && found(sound[0].alias);
  return near.filter((alias, at) => {
    const own = found(alias);
    if (own && first && yieldsTo(own, first)) return false;
    const alike = own?.alike ?? [];
    return !near.slice(0, at).some((before) => alike.includes(before));
  });
}
