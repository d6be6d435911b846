import type { Evidence } from '../evidence/index.ts';
import { rounded, sum } from './numbers.ts';

/** What executed evidence and agreement say for a candidate. Each in [0, 1]; null where there is no such evidence. */
export interface Signals {
  /** Tests of others that it passes. */
  readonly tests: number | null;
  /** Others that behave as it does on the inputs on which not all behave alike. */
  readonly behaviour: number | null;
  /** Likeness of its source changes to the others'. */
  readonly agreement: number | null;
}

/**
 * How much each signal counts. Our defaults, from dev data (docs/selection.md has what each adds): tests of others are
 * the strongest, behaviour next; the text of a patch is for what execution does not tell apart.
 */
const SHARES: Readonly<Record<keyof Signals, number>> = { tests: 4, behaviour: 3, agreement: 1 };

/** Whoever wrote no candidate is believed more than a rival (arXiv 2606.16062 has why not much more). */
const NEUTRAL_WEIGHT = 2;

/**
 * A = (1/2 + sum w v) / (1 + sum w) over authors of tests: v is the share of an author's tests that pass, w is 1 for
 * another candidate and 2 for neutral tests. CodeT's idea with own tests left out, one vote for each author, and a Laplace
 * prior of one half (notes on selection: our formula). 1/2 without tests.
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

export const signalsOf = (evidence: Evidence): Signals => ({
  tests: hasTests(evidence) ? testShare(evidence) : null,
  behaviour: evidence.behaviour && evidence.behaviour.differing > 0 ? evidence.behaviour.agreement : null,
  agreement: evidence.agreement ?? null,
});

/** The signals as one number in [0, 1]; a signal that is missing says neither yes nor no. */
export const supportOf = (signals: Signals): number =>
  rounded(sum(parts(signals).map(([, part]) => part)) / sum(Object.values(SHARES)));

/** The signal that puts one ahead of another the most; null where none does. */
export function strongest(ahead: Signals, behind: Signals): keyof Signals | null {
  const other = new Map(parts(behind));
  const leads = parts(ahead).map(([name, part]) => ({ name, lead: rounded(part - (other.get(name) ?? 0)) }));
  const best = leads.reduce((one, each) => (each.lead > one.lead ? each : one));
  return best.lead > 0 ? best.name : null;
}

const NAMES: readonly (keyof Signals)[] = ['tests', 'behaviour', 'agreement'];
const parts = (signals: Signals): readonly (readonly [keyof Signals, number])[] =>
  NAMES.map((name) => [name, SHARES[name] * (signals[name] ?? 0.5)]);
