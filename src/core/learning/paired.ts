import { contestantKey, type Trial } from './outcome.ts';

/** Errors of at most this probability in the whole list, if all contestants are equally good; our default. */
const ERROR = 0.05;

/** How often each of two contestants did better than the other, over the runs in which both took part. */
interface Duel {
  readonly keys: readonly [string, string];
  readonly better: readonly [number, number];
}

/**
 * Which contestants are ahead of which, as far as chance does not explain it: the sign test over the runs in which both
 * took part with as many candidates, two-sided, with Holm's correction (Scandinavian Journal of Statistics 6, 1979) over
 * all pairs, since the order of the list is taken from the same runs. Pairs with so few such runs that no result could
 * be significant do not count. Runs in which both did equally well say nothing.
 */
export function aheadOf(trials: readonly Trial[]): (one: string, other: string) => boolean {
  const tested = duelsIn(trials)
    .map((duel) => ({ ...duel, p: signTest(duel.better) }))
    .filter(({ better: [a, b] }) => signTest([a + b, 0]) <= ERROR)
    .toSorted((one, other) => one.p - other.p);
  const firstEven = tested.findIndex(({ p }, i) => p > ERROR / (tested.length - i));
  const ahead = new Set(
    tested
      .slice(0, firstEven < 0 ? tested.length : firstEven)
      .map(({ keys: [a, b], better: [m, n] }) => (m > n ? duelKey(a, b) : duelKey(b, a))),
  );
  return (one, other) => ahead.has(duelKey(one, other));
}

const duelKey = (one: string, other: string): string => `${one}\n${other}`;

function duelsIn(trials: readonly Trial[]): readonly Duel[] {
  const duels = new Map<string, Duel>();
  for (const run of Map.groupBy(trials, ({ candidates: [one] }) => one.runId).values()) {
    const told = run.flatMap(({ candidates, credit }) =>
      credit === null ? [] : [{ key: contestantKey(candidates[0]), credit, places: candidates.length }],
    );
    for (const [i, one] of told.entries()) {
      for (const other of told.slice(i + 1)) {
        if (one.places !== other.places || one.credit === other.credit) continue;
        const name = duelKey(one.key, other.key);
        const [m, n] = duels.get(name)?.better ?? [0, 0];
        duels.set(name, {
          keys: [one.key, other.key],
          better: one.credit > other.credit ? [m + 1, n] : [m, n + 1],
        });
      }
    }
  }
  return [...duels.values()];
}

/** The probability of a result that is at least as uneven, in either direction, if both are equally good. */
function signTest([a, b]: Duel['better']): number {
  const runs = a + b;
  let term = 0.5 ** runs;
  let tail = 0;
  for (let i = 0; i <= Math.min(a, b); i++) {
    tail += term;
    term *= (runs - i) / (i + 1);
  }
  return Math.min(1, 2 * tail);
}
