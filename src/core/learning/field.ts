import { familyOf } from '../judging/index.ts';
import { byCodeUnits, counted, type RunId, type Usd } from '../model/index.ts';
import { fnv1a, mulberry32 } from '../settings/index.ts';
import { draw, meanOf } from './beta.ts';
import { type CandidateOutcome, contestantKey, trialsOf } from './outcome.ts';
import { NO_TALLY, type Prior, plus, posterior, priorFrom, type Tally } from './shrinkage.ts';
import type { WorkKind } from './work-kind.ts';

/** A contestant that the operator's machine allows. */
export interface Option {
  readonly agent: string;
  readonly model: string;
  readonly prompt: string;
  /** What it probably costs where no run says, US dollars; null: unknown. */
  readonly forecastUsd: Usd | null;
}

export interface FieldRequest {
  readonly options: readonly Option[];
  /** Of this repository, in any order. */
  readonly outcomes: readonly CandidateOutcome[];
  readonly kind: WorkKind;
  /** How many to choose. */
  readonly count: number;
  /** Contestants that the settings name besides, and that take part in any case. */
  readonly named: readonly Pick<Option, 'agent' | 'model' | 'prompt'>[];
  /** US dollars for all chosen, and the limit of one. */
  readonly budget: { readonly field: Usd; readonly candidate: Usd };
  /** The same run gets the same field from the same outcomes. */
  readonly runId: RunId;
}

/** One chosen contestant, with what speaks for it. */
interface Chosen {
  readonly option: Option;
  /** `floor`: a place that is given at random; `rating`: the best draw. */
  readonly by: 'floor' | 'rating';
  /** Estimated share of runs that it wins, in [0, 1]. */
  readonly estimate: number;
  /** Earlier runs in which it took part. */
  readonly runs: number;
  readonly expectedUsd: Usd;
}

export interface FieldChoice {
  readonly chosen: readonly Chosen[];
  readonly considered: number;
  /** Runs of the repository that tell something. */
  readonly runs: number;
  readonly kind: WorkKind;
  /** The budget, not `count`, ended the list. */
  readonly isCutByBudget: boolean;
}

/**
 * Our defaults, checked by `bench/learning.ts`. Each later run makes an outcome count 2% less, so that half of its
 * weight is gone after 34 runs and a contestant that has got worse, or better, is noticed (discounted Thompson
 * sampling, Raj and Kalyani, arXiv 1707.09727). Other kinds of work count a quarter (a power prior: Ibrahim and Chen,
 * Statistical Science 15, 2000). One place in ten is given at random. A second contestant of a model family is worth
 * 30% less, because models of one family tend to fail together.
 */
export const FIELD_RULES = {
  keptPerRun: 0.98,
  otherKind: 0.25,
  floor: 0.1,
  sameFamily: 0.7,
  /** Trials that the other prompts of an agent and model are worth for one of them, and at most all contestants for each of them. */
  parentTrials: 4,
  maxStrength: 8,
  /** Runs that a forecast of the cost is worth. */
  forecastRuns: 2,
} as const;

/**
 * Chooses the field of a run by Thompson sampling: each contestant's share of wins is drawn from what is known about
 * it, and the best draws take part. The less is known the wider the draws, so nobody is left out for good, and the
 * floor makes sure of it. The order of options and outcomes has no influence.
 */
export function chooseField(request: FieldRequest): FieldChoice {
  const { count, named, budget, runId, kind } = request;
  const random = mulberry32(fnv1a(`${runId}:field`));
  const taken = new Set(named.map(contestantKey));
  const options = request.options
    .filter((option) => !taken.has(contestantKey(option)))
    .toSorted((one, other) => byCodeUnits(contestantKey(one), contestantKey(other)));
  const known = historyOf(request.outcomes, kind);
  const drawn = drawAll(options, known, random);
  const families = named.map(({ model }) => familyOf(model));
  const chosen: Chosen[] = [];
  let left = budget.field - named.length * budget.candidate;
  let isCutByBudget = false;
  while (chosen.length < count) {
    const open = drawn.filter(({ option }) => !chosen.some((one) => one.option === option));
    const payable = open.filter((one) => expectedUsd(one, known, budget.candidate) <= left);
    // One contestant starts whatever it may cost: the gateway enforces the budget.
    const from =
      payable.length > 0 ? payable : chosen.length + named.length === 0 ? cheapest(open, known, budget) : [];
    if (from.length === 0) {
      isCutByBudget = open.length > 0;
      break;
    }
    const isFloor = random() < FIELD_RULES.floor;
    const at = random();
    const next = isFloor ? (from[Math.floor(at * from.length)] as Drawn) : bestOf(from, families);
    const usd = expectedUsd(next, known, budget.candidate);
    chosen.push({
      option: next.option,
      by: isFloor ? 'floor' : 'rating',
      estimate: next.mean,
      runs: next.runs,
      expectedUsd: usd,
    });
    families.push(familyOf(next.option.model));
    left -= usd;
  }
  return { chosen, considered: options.length, runs: known.runs, kind, isCutByBudget };
}

export interface Drawn {
  readonly option: Option;
  /** The posterior mean, and one draw around it. */
  readonly mean: number;
  readonly value: number;
  readonly runs: number;
}

interface Known extends Tally {
  readonly runs: number;
  readonly usd: Usd;
}

interface History {
  readonly runs: number;
  /** By agent and model, then by prompt; discounted. */
  readonly pairs: ReadonlyMap<string, ReadonlyMap<string, Known>>;
  readonly prior: Prior;
}

const pairKey = ({ agent, model }: Pick<Option, 'agent' | 'model'>): string => JSON.stringify([agent, model]);

export const ownOf = ({ pairs }: History, option: Option): Known | undefined =>
  pairs.get(pairKey(option))?.get(option.prompt);

export function historyOf(outcomes: readonly CandidateOutcome[], kind: WorkKind): History {
  const told = trialsOf(outcomes).filter(({ credit }) => credit !== null);
  const order = [...new Map(told.map(({ candidates: [one] }) => [one.runId, one.at]))]
    .toSorted(([a, at], [b, then]) => then - at || byCodeUnits(b, a))
    .map(([runId]) => runId);
  const age = new Map(order.map((runId, i) => [runId, i]));
  const pairs = new Map<string, Map<string, Known>>();
  for (const { candidates, credit } of told) {
    const [one] = candidates;
    const weight =
      FIELD_RULES.keptPerRun ** (age.get(one.runId) ?? 0) * (one.kind === kind ? 1 : FIELD_RULES.otherKind);
    const pair = pairs.get(pairKey(one)) ?? new Map<string, Known>();
    pairs.set(pairKey(one), pair);
    const before = pair.get(one.prompt) ?? { ...NO_TALLY, runs: 0, usd: 0 };
    const usd = candidates.reduce((sum, each) => sum + each.usd, 0) / candidates.length;
    pair.set(one.prompt, {
      ...plus(before, { wins: weight * (credit ?? 0), trials: weight }),
      runs: before.runs + 1,
      usd: before.usd + usd,
    });
  }
  const { mean, strength } = priorFrom([...pairs.values()].map((pair) => pooledTally([...pair.values()])));
  return {
    runs: order.length,
    pairs,
    prior: { mean, strength: Math.min(strength, FIELD_RULES.maxStrength) },
  };
}

const pooledTally = (tallies: readonly Tally[]): Tally => tallies.reduce(plus, NO_TALLY);

/** Contestants are drawn around a draw from the other prompts of their agent and model: own results count once. */
export function drawAll(options: readonly Option[], known: History, random: () => number): readonly Drawn[] {
  return options.map((option) => {
    const pair = [...(known.pairs.get(pairKey(option)) ?? [])];
    const others = pooledTally(pair.flatMap(([prompt, tally]) => (prompt === option.prompt ? [] : [tally])));
    const own = ownOf(known, option);
    const beta = posterior(known.prior, others);
    const around = (mean: number) =>
      posterior(
        { mean: Math.min(0.999, Math.max(0.001, mean)), strength: FIELD_RULES.parentTrials },
        own ?? NO_TALLY,
      );
    return {
      option,
      mean: meanOf(around(meanOf(beta))),
      value: draw(around(draw(beta, random)), random),
      runs: own?.runs ?? 0,
    };
  });
}

export function bestOf(from: readonly Drawn[], families: readonly string[]): Drawn {
  const worth = ({ option, value }: Drawn): number =>
    value * FIELD_RULES.sameFamily ** families.filter((family) => family === familyOf(option.model)).length;
  return from.reduce((best, one) => (worth(one) > worth(best) ? one : best));
}

/** The mean of earlier runs, with the forecast as a few more; never above the limit of a candidate. */
export function expectedUsd({ option }: Drawn, known: History, mostUsd: Usd): Usd {
  const own = ownOf(known, option);
  const forecast = option.forecastUsd ?? mostUsd;
  const { forecastRuns } = FIELD_RULES;
  const mean = ((own?.usd ?? 0) + forecastRuns * forecast) / ((own?.runs ?? 0) + forecastRuns);
  return Math.min(mostUsd, mean);
}

function cheapest(
  open: readonly Drawn[],
  known: History,
  { candidate }: FieldRequest['budget'],
): readonly Drawn[] {
  const usd = (one: Drawn) => expectedUsd(one, known, candidate);
  const [first, ...rest] = open;
  return first ? [rest.reduce((least, one) => (usd(one) < usd(least) ? one : least), first)] : [];
}

const KIND_TEXT: Readonly<Record<WorkKind, string>> = {
  bug: 'a bug',
  feature: 'a feature',
  refactoring: 'a refactoring',
  tests: 'tests',
  docs: 'documentation',
  configuration: 'configuration',
};

/** Why these, one sentence each, for the comparison. */
export function fieldReasons({
  chosen,
  considered,
  runs,
  kind,
  isCutByBudget,
}: FieldChoice): readonly string[] {
  const from =
    runs === 0
      ? 'no run of this repository has been decided yet, so they were drawn at random, from different model families first'
      : `from ${counted(runs, 'earlier run')} in this repository`;
  return [
    `\`coders: auto\` chose ${counted(chosen.length, 'contestant')} of ${considered} for ${KIND_TEXT[kind]}: ${from}.${isCutByBudget ? ' More did not fit into `budget.run`.' : ''}`,
    ...chosen.map(({ option, by, estimate, runs: own }) => {
      const who = `${option.agent} × ${option.model} (${option.prompt})`;
      const known =
        own === 0
          ? 'it has not run here yet'
          : `it wins an estimated ${Math.round(100 * estimate)}% (${counted(own, 'run')})`;
      const how = by === 'floor' ? 'given a place at random, as one place in ten is' : 'among the best draws';
      return `${who}: ${how}; ${known}.`;
    }),
  ];
}
