import type { ProbeRun, Seen, Strain } from './observations.ts';

/** What a probe adds to the weight of its kind of difference. */
const STRAIN_WEIGHT: Readonly<Record<Strain, number>> = { 'as-is': 1, near: 0.7, further: 0.6, far: 0.25 };
/** Of that, where the base fails with a fault: hardly an input that the code is meant for. */
const FAULTY_INPUT = 0.5;
/** Of that, where only the wording of errors differs. */
const WORDING = 0.3;
/** Probes that split the pool in the same way. */
export interface Split {
  /** By candidate: number of what it showed; 0 is what the base showed, null that nothing is known. */
  readonly answers: readonly (number | null)[];
  readonly baseKnown: boolean;
  readonly slips: readonly boolean[];
  weight: number;
  readonly factor: number;
  readonly examples: Example[];
}

export interface Example {
  readonly id: string;
  readonly base: Seen | undefined;
  readonly seen: readonly (Seen | undefined)[];
}

/** What was seen of each input, on the base and on each candidate; without what differs between two runs of the base. */
export function stableProbes(
  base: readonly ProbeRun[],
  candidates: readonly { readonly run: ProbeRun | null }[],
): readonly Example[] {
  const ids = new Set(
    [...base, ...candidates.flatMap(({ run }) => run ?? [])].flatMap(({ seen }) => [...seen.keys()]),
  );
  return [...ids].sort().flatMap((id): readonly Example[] => {
    const [first, ...again] = base.map(({ seen }) => seen.get(id));
    if (again.some((other) => other?.text !== first?.text || other?.kind !== first?.kind)) return [];
    return [{ id, base: first, seen: candidates.map(({ run }) => run?.seen.get(id)) }];
  });
}

export const exactly = (seen: Seen): string => `${seen.kind} ${seen.text}`;
const roughly = (seen: Seen): string =>
  seen.kind === 'error' ? `error ${seen.text.split(':')[0]}` : exactly(seen);

export function splitsOf(probes: readonly Example[]): readonly Split[] {
  const splits = new Map<string, Split>();
  for (const probe of probes) {
    const rough = add(splits, probe, roughly, 1);
    const seen = probe.seen.flatMap((each) => each ?? []);
    if (new Set(seen.map(exactly)).size > Math.max(1, rough)) add(splits, probe, exactly, WORDING);
  }
  return [...splits.values()];
}

/** Counts a probe to its split; returns how many different answers there are. */
function add(
  splits: Map<string, Split>,
  probe: Example,
  textOf: (seen: Seen) => string,
  factor: number,
): number {
  const ofBase = probe.base ? textOf(probe.base) : null;
  const texts = probe.seen.flatMap((seen) => (seen ? [textOf(seen)] : [])).filter((text) => text !== ofBase);
  // Numbered by what they say, not by who said it first.
  const numbers = new Map([...new Set(texts)].sort().map((text, nth) => [text, nth + 1]));
  const answers = probe.seen.map((seen) => (seen ? (numbers.get(textOf(seen)) ?? 0) : null));
  const different = new Set(answers.filter((answer) => answer !== null)).size;
  if (different < 2) return different;
  const slips = probe.seen.map(
    (seen) => seen !== undefined && isSlip(seen) && !(probe.base && isSlip(probe.base)),
  );
  const key = JSON.stringify([answers, probe.base !== undefined, slips, factor]);
  const split = splits.get(key) ?? {
    answers,
    baseKnown: probe.base !== undefined,
    slips,
    weight: 0,
    factor,
    examples: [],
  };
  const faulty = probe.base?.kind === 'fault' || probe.base?.kind === 'stuck' ? FAULTY_INPUT : 1;
  split.weight += strainOf(probe) * faulty;
  split.examples.push(probe);
  splits.set(key, split);
  return different;
}

/** What hardly anybody means to return, whatever the question: faults, and traces of missing values inside of others. */
const isSlip = ({ kind, text }: Seen): boolean =>
  kind === 'fault' ||
  kind === 'stuck' ||
  (kind === 'value' && /\bNaN\b|.\bundefined\b|\[object \w+\]|\\u0000|\uFFFD/.test(text));

/** Many probes that split the pool alike are one difference, seen often: they add up by their logarithm. */
export const weightOf = ({ weight, factor }: Split): number => factor * Math.sqrt(Math.log2(1 + weight));

/** Small for what people see through at once. */
export const plainness = (example: Example): number => {
  const lengths = example.seen.flatMap((seen) => (seen ? [seen.input.length + seen.text.length] : []));
  return Math.max(0, ...lengths) + 200 * (1 - strainOf(example));
};

/** The same on every tree; where trees say otherwise, the least. */
const strainOf = ({ seen }: Example): number =>
  Math.min(1, ...seen.flatMap((each) => (each ? [STRAIN_WEIGHT[each.strain]] : [])));
