import { type BaseFacts, changeClasses, type Evidence } from '../evidence/index.ts';
import type { IndependentTestReport } from '../independent-tests/index.ts';
import type { Expectation, Usd } from '../model/index.ts';
import type { Settings } from '../settings/index.ts';
import type { Decision } from './decision.ts';
import { rankingOptionsOf, wantsJudges } from './strategies.ts';

/** A contestant of the field that was started: what it was expected to cost, and what it did cost. US dollars. */
export interface SpentTurn {
  readonly expectedUsd: Usd | null;
  readonly usd: Usd;
}

export interface SequenceFacts<Pending extends Expectation = Expectation> {
  readonly evidence: readonly Evidence[];
  /** What the evidence decides so far, before any judge is asked. */
  readonly decision: Decision;
  /** Tests by models, with those that nobody passes; absent if none were written. */
  readonly written?: IndependentTestReport | undefined;
  /** Contestants of the field that were started, and the others in the order in which they start. */
  readonly started: readonly SpentTurn[];
  readonly pending: readonly Pending[];
  readonly budget: Settings['budget'];
  /** US dollars that the run may still spend; null if unknown. */
  readonly remainingUsd: Usd | null;
  /** The run has less time left than one more candidate and its examination may take. */
  readonly isTimeShort: boolean;
}

/** `because` is one sentence for people, without names and dollars: it is shown in blind mode, too. */
type SequenceStep<Pending extends Expectation = Expectation> =
  | { readonly kind: 'next'; readonly next: Pending; readonly because: string }
  | {
      readonly kind: 'stop';
      readonly because: string;
      /** What the others would probably have cost, US dollars; null: unknown. */
      readonly savedUsd: Usd | null;
    };

/**
 * Of wrong picks beside a contestant that is right, the share that become right once it takes part. From
 * `bench/sequential.ts` on one half of the repositories (docs/benchmarks.md).
 */
export const NOTICED_SHARE = 0.5;

/** The chance that a contestant corrects a pick. `chance`: that the pick is right; `wins`: as of an expectation. */
export const correctionChance = (chance: number, wins: number): number => (1 - chance) * wins * NOTICED_SHARE;

/**
 * Whether the next contestant of a sequential field starts. It does while nothing decides, and while only one candidate
 * is sound and its proof could share its mistakes. A clear pick ends the field. In between it is a matter of cost: the
 * chance that one more corrects the pick, times what the settings allow for an answer (`budget.run`), against what one
 * more probably costs. The order of the evidence has no influence.
 */
export function nextInSequence<Pending extends Expectation>(
  facts: SequenceFacts<Pending>,
): SequenceStep<Pending> {
  const { evidence, decision, pending, remainingUsd } = facts;
  const [next] = pending;
  if (!next) return { kind: 'stop', because: 'All contestants have run.', savedUsd: 0 };
  const go = (because: string): SequenceStep<Pending> => ({ kind: 'next', next, because });
  const stop = (because: string): SequenceStep<Pending> => ({
    kind: 'stop',
    because,
    savedUsd: expectedUsdOfAll(facts),
  });
  const cost = expectedUsdOf(next, facts);
  if (remainingUsd !== null && remainingUsd <= (cost ?? 0))
    return stop('The remaining budget is too small for another contestant.');
  if (facts.isTimeShort) return stop('The remaining time of the run is too short for another contestant.');
  if (decision.kind === 'none') return go('So far, every candidate fails a gate or breaks a test.');
  if (decision.kind === 'toss-up') return go('The evidence does not decide so far.');
  const { alias, chance, confidence } = decision;
  const sound = evidence.filter(breaksNothing);
  const [only, ...others] = changeClasses(sound);
  const picked = only?.find((one) => one.alias === alias);
  const lone = picked && others.length === 0 ? loneDoubt(facts, picked) : null;
  if (lone !== null) return go(lone);
  if (confidence === 'clear') return stop(clearReason(alias, sound));
  if (cost === null) return go(`${alias} is likely right, and the cost of another one is unknown.`);
  const gain = correctionChance(chance, next.wins);
  const percent = gain < 0.005 ? 'less than 1%' : `${Math.round(100 * gain)}%`;
  const isWorth = gain * facts.budget.run > cost;
  const because = `${alias} is likely right; the estimated chance that another contestant corrects this is ${percent}, which is ${isWorth ? '' : 'not '}worth its cost.`;
  return isWorth ? go(because) : stop(because);
}

const breaksNothing = ({ survivor, baseTests }: Evidence): boolean =>
  survivor && (baseTests?.regressions.length ?? 0) === 0;

function clearReason(alias: string, [only, ...others]: readonly Evidence[]): string {
  if (only === undefined || others.length > 0) return `${alias} is clearly right.`;
  return (only.mutants?.caught ?? 0) > 0
    ? `${alias} is clearly right: its tests catch mutants of the code.`
    : `${alias} is clearly right: tests that its own model family did not write show it.`;
}

/**
 * Why the only sound candidate is not enough; null if it is. Nobody agrees with it or contradicts it, so it must be clear,
 * which no test by a model of its author's family makes it (0217), and it must pass every test that was written: a test
 * that only it could pass and does not counts against nobody (0028), and may be right.
 */
function loneDoubt({ decision, written }: SequenceFacts, { alias }: Evidence): string | null {
  if (decision.kind !== 'winner' || decision.confidence !== 'clear')
    return `${alias} is the only candidate that passed every gate and broke no existing test, and not clearly right.`;
  const tests = written?.tests ?? [];
  if (tests.some(({ status, failedBy }) => status === 'suspect' && failedBy.includes(alias)))
    return `${alias} is the only candidate that passed every gate and broke no existing test, and fails a written test that another one may pass.`;
  return null;
}

/** Runs of one contestant that an estimate of the cost is worth, against the costs in this run. Default. */
const ESTIMATE_WEIGHT = 1;

/**
 * What a contestant that has not started probably costs, US dollars, by what those of this run cost against their
 * estimates; at most the budget of a candidate. Without an estimate: what the most expensive one cost.
 */
function expectedUsdOf({ usd }: Expectation, { started, budget }: SequenceFacts): Usd | null {
  if (usd === null) {
    const dearest = Math.max(0, ...started.map((one) => one.usd));
    return dearest > 0 ? dearest : null;
  }
  const known = started.flatMap((one) =>
    one.expectedUsd === null ? [] : [{ expected: one.expectedUsd, usd: one.usd }],
  );
  const expected = known.reduce((sum, one) => sum + one.expected, 0);
  if (expected <= 0) return Math.min(usd, budget.candidate);
  const spent = known.reduce((sum, one) => sum + one.usd, 0);
  const prior = (ESTIMATE_WEIGHT * expected) / known.length;
  return Math.min(budget.candidate, (usd * (spent + prior)) / (expected + prior));
}

function expectedUsdOfAll(facts: SequenceFacts): Usd | null {
  const costs = facts.pending.map((one) => expectedUsdOf(one, facts));
  return costs.reduce<Usd | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0);
}

/**
 * How many contestants of a sequential field start at once: one if a test by somebody else may show that it is right (a
 * test that fails on the base, or one that a model writes), else two, because one alone could never be enough. `base`:
 * its tests; null: there are none.
 */
export function firstInSequence(
  settings: Pick<Settings, 'weights' | 'evaluator'>,
  base: Pick<BaseFacts, 'silence' | 'excluded'> | null,
): 1 | 2 {
  if (!base || base.silence !== undefined) return 2;
  return base.excluded.some(({ because }) => because === 'failing') || wantsJudges(rankingOptionsOf(settings))
    ? 1
    : 2;
}
