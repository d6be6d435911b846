import type { Evidence } from '../evidence/index.ts';
import { rounded, sum } from './numbers.ts';

/** What executed evidence and agreement say for a candidate; null where there is no such evidence. */
export interface Signals {
  /** Share of the tests of others that it passes, in [0, 1]. */
  readonly tests: number | null;
  /** Natural logarithm of the odds, by its behaviour, against the best of the pool: at most 0. */
  readonly behaviour: number | null;
  /** Likeness of its source changes to the others', in [0, 1]. */
  readonly agreement: number | null;
}
export type Signal = keyof Signals;
export const SIGNALS: readonly Signal[] = ['tests', 'behaviour', 'agreement'];

/**
 * What each signal is worth, in natural logarithms of odds. Our defaults, from dev data (docs/selection.md has what each
 * adds): tests of others are the strongest; behaviour is one already; the text of a patch is for what execution does not
 * tell apart.
 */
const WORTH: Readonly<Record<Signal, number>> = { tests: 10, behaviour: 1, agreement: 4.5 };
/** Odds below are not worth telling apart. */
const LEAST = -30;

/** Whoever wrote no candidate is believed more than a rival. Our default. */
const NEUTRAL_WEIGHT = 4;

/**
 * A = (1/2 + sum w v) / (1 + sum w) over authors of tests: v is the share of an author's tests that pass, w is 1 for
 * another candidate and more for neutral tests. CodeT's idea (arXiv 2207.10397) with own tests left out, one vote for each
 * author, and a Laplace prior of one half. 1/2 without tests.
 */
export function testShare({ peerTests, neutralTests }: Evidence): number {
  const votes = [
    ...peerTests.filter(({ total }) => total > 0).map(({ passed, total }) => ({ w: 1, v: passed / total })),
    ...(neutralTests && neutralTests.total > 0
      ? [{ w: NEUTRAL_WEIGHT, v: neutralTests.passed / neutralTests.total }]
      : []),
  ];
  return rounded((0.5 + sum(votes.map(({ w, v }) => w * v))) / (1 + sum(votes.map(({ w }) => w))));
}

const hasTests = ({ peerTests, neutralTests }: Evidence): boolean =>
  peerTests.some(({ total }) => total > 0) || (neutralTests?.total ?? 0) > 0;

/** `without`: signals that shall not count. */
export const signalsOf = (evidence: Evidence, without: readonly Signal[] = []): Signals => ({
  tests: hasTests(evidence) && !without.includes('tests') ? testShare(evidence) : null,
  behaviour: without.includes('behaviour') ? null : (evidence.behaviour?.logOdds ?? null),
  agreement: without.includes('agreement') ? null : (evidence.agreement ?? null),
});

/** The signals as one number: natural logarithm of odds, of use only against others of the same pool. */
export const supportOf = (signals: Signals): number => rounded(sum(parts(signals).map(([, part]) => part)));

/** The signal that puts one ahead of another the most; null where none does. */
export function strongest(ahead: Signals, behind: Signals): Signal | null {
  const other = new Map(parts(behind));
  const leads = parts(ahead).map(([name, part]) => ({ name, lead: rounded(part - (other.get(name) ?? 0)) }));
  const best = leads.reduce((one, each) => (each.lead > one.lead ? each : one));
  return best.lead > 0 ? best.name : null;
}

/** What is missing says neither yes nor no. */
const NEUTRAL: Readonly<Record<Signal, number>> = { tests: 0.5, behaviour: 0, agreement: 0.5 };
const parts = (signals: Signals): readonly (readonly [Signal, number])[] =>
  SIGNALS.map((name) => [name, WORTH[name] * Math.max(signals[name] ?? NEUTRAL[name], LEAST)]);
