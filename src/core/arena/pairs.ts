import { bradleyTerry } from '../judging/index.ts';
import { byCodeUnits, uniqueSorted } from '../model/index.ts';
import { fnv1a } from '../settings/index.ts';
import { type Contest, NO_AGENT } from './contest.ts';
import type { Match } from './rating.ts';

/** A plain model call at temperature 0 is made once, whatever the number of rounds. */
export const isAskedOnce = ({ temperature }: Pick<Contest, 'temperature'>, agent: string): boolean =>
  temperature === 0 && agent === NO_AGENT;

/** An answer that can be compared. */
export interface ComparableSample {
  readonly id: string;
  readonly task: string;
  readonly contestant: string;
  /** Null: the only answer of its contestant, which stands for every round. */
  readonly round: number | null;
  readonly answer: string;
}

/** Two answers of different contestants to the same task in the same round; `a` has the smaller id. */
export interface SamplePair {
  readonly key: string;
  readonly task: string;
  readonly a: ComparableSample;
  readonly b: ComparableSample;
  /** Both answers are the same text: a tie without asking. */
  readonly alike: boolean;
}

/** Identifies two samples, in either order. */
export const pairKey = (one: string, other: string): string =>
  JSON.stringify([one, other].toSorted(byCodeUnits));

/** All pairs, sorted by key. */
export function pairsOf(samples: readonly ComparableSample[]): readonly SamplePair[] {
  const texts = new Map(samples.map(({ id, answer }) => [id, readText(answer)]));
  return meetings(samples.toSorted((x, y) => byCodeUnits(x.id, y.id)))
    .map(({ a, b }) => ({
      key: pairKey(a.id, b.id),
      task: a.task,
      a,
      b,
      alike: texts.get(a.id) === texts.get(b.id),
    }))
    .toSorted((x, y) => byCodeUnits(x.key, y.key));
}

/** Every two samples of different contestants that belong together: the same task in the same round. */
export function meetings<T extends Omit<ComparableSample, 'id' | 'answer'>>(
  samples: readonly T[],
): readonly { readonly a: T; readonly b: T }[] {
  return [...Map.groupBy(samples, ({ task }) => task).values()]
    .flatMap((own) => own.flatMap((a, i) => own.slice(i + 1).map((b) => ({ a, b }))))
    .filter(({ a, b }) => a.contestant !== b.contestant)
    .filter(({ a, b }) => a.round === b.round || a.round === null || b.round === null);
}

/** Spaces at the ends of lines and of the text make no difference to a reader. */
const readText = (text: string): string => text.replace(/[ \t\r]+$/gm, '').trim();

/** Which answer is shown on the left: a coin that the seed of the contest throws. */
export function sidesOf(
  pair: SamplePair,
  seed: number,
): { readonly left: ComparableSample; readonly right: ComparableSample } {
  // The lowest bit of this hash is close to a parity of its input, so a higher one decides.
  const swapped = ((fnv1a(`sides ${seed} ${pair.key}`) >>> 15) & 1) === 1;
  return swapped ? { left: pair.b, right: pair.a } : { left: pair.a, right: pair.b };
}

const pairedContestants = ({ a, b }: SamplePair): readonly [string, string] =>
  a.contestant < b.contestant ? [a.contestant, b.contestant] : [b.contestant, a.contestant];
const contestantsKey = (pair: SamplePair): string => JSON.stringify(pairedContestants(pair));

/**
 * The most informative of the open pairs; null if none is open. First the two contestants whose comparison reduces the
 * uncertainty of the ratings most: the gain of a Bradley-Terry fit is log(1 + p(1−p)·v) for a chance `p` to win and the
 * variance `v` of their difference (D-optimal design). Contestants that never met have the largest variance. Then the
 * pair of theirs that was decided least often, on the task with the fewest comparisons, by seed among equals.
 *
 * `asked`: how often each pair was decided, by key, by anybody. Pairs of identical answers are never asked.
 */
export function mostInformative(
  open: readonly SamplePair[],
  known: {
    readonly matches: readonly Match[];
    readonly asked: ReadonlyMap<string, number>;
    readonly seed: number;
  },
): SamplePair | null {
  const fresh = open.filter(({ alike }) => !alike);
  if (fresh.length === 0) return null;
  const fewest = Math.min(...fresh.map(({ key }) => known.asked.get(key) ?? 0));
  const eligible = fresh.filter(({ key }) => (known.asked.get(key) ?? 0) === fewest);
  const names = uniqueSorted([
    ...open.flatMap(pairedContestants),
    ...known.matches.flatMap(({ a, b }) => [a, b]),
  ]);
  const gains = gainsOf(names, known.matches, eligible);
  const best = Math.max(...gains.values());
  const onTask = Map.groupBy(known.matches, ({ task }) => task);
  const rank = (pair: SamplePair): readonly [number, number] => [
    onTask.get(pair.task)?.length ?? 0,
    fnv1a(`next ${known.seed} ${pair.key}`),
  ];
  const [first] = eligible
    .filter((pair) => (gains.get(contestantsKey(pair)) ?? 0) >= best - EQUAL_GAIN)
    .map((pair) => ({ pair, rank: rank(pair) }))
    .toSorted(
      (x, y) => x.rank[0] - y.rank[0] || x.rank[1] - y.rank[1] || byCodeUnits(x.pair.key, y.pair.key),
    );
  return first?.pair ?? null;
}

/** Gains that differ by rounding only are equal. */
const EQUAL_GAIN = 1e-9;

function gainsOf(
  names: readonly string[],
  matches: readonly Match[],
  pairs: readonly SamplePair[],
): ReadonlyMap<string, number> {
  const fit = bradleyTerry(
    names,
    matches.map(({ a, b, score, alike }) => ({ a, b, y: score, weight: alike ?? 1 })),
  );
  const strengths = new Map(fit.strengths.map(({ alias, theta }) => [alias, theta]));
  return new Map(
    [...new Map(pairs.map((pair) => [contestantsKey(pair), pairedContestants(pair)]))].map(
      ([key, [a, b]]) => {
        const chance = 1 / (1 + Math.exp((strengths.get(b) as number) - (strengths.get(a) as number)));
        return [key, Math.log1p(chance * (1 - chance) * fit.variance(a, b))] as const;
      },
    ),
  );
}

/**
 * Ties for pairs of identical answers. Only some of the other pairs are ever decided, so these ties would count too
 * much: for each two contestants, they weigh as much as the share of their other pairs that was decided; fully if all
 * of their answers are identical. One that somebody voted on nevertheless counts by its votes.
 */
export function alikeMatches(pairs: readonly SamplePair[], decided: ReadonlySet<string>): readonly Match[] {
  return [...Map.groupBy(pairs, contestantsKey).values()].flatMap((own) => {
    const different = own.filter(({ alike }) => !alike);
    const done = different.filter(({ key }) => decided.has(key)).length;
    const weight = different.length === 0 ? 1 : done / different.length;
    return own
      .filter(({ key, alike }) => alike && !decided.has(key))
      .map(
        ({ task, a, b }): Match => ({ task, a: a.contestant, b: b.contestant, score: 0.5, alike: weight }),
      );
  });
}
