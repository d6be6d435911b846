/**
 * The constants of the ranking in one place, so that `bench/nested.ts` can tune them on one half of the repositories
 * and measure them on the other (docs/selection.md). Logarithms are natural.
 */
export interface Calibration {
  /** The weight of each signal, in log-odds over its whole range. */
  readonly signals: { readonly tests: number; readonly behaviour: number; readonly agreement: number };
  /** Votes of independent tests, relative to one for each group of test authors among the candidates. */
  readonly independentVotes: number;
  /** Maximum log-odds that tests confirmed only by their author's family can add together. */
  readonly unconfirmedTests: number;
  /** Log-odds within which executed evidence alone does not decide. */
  readonly undecidedMargin: number;
  /**
   * The log-odds that the pick is right, as a linear function. `alone`: no rival is left that breaks nothing;
   * `unfixed`: no executed test shows that the task is done; `ownTestOnly`: only the candidate's own test shows it;
   * `unmetExamples`: no candidate passes an example of the issue.
   */
  readonly chance: {
    readonly start: number;
    readonly alone: number;
    readonly perRivals: number;
    readonly perBehaviour: number;
    readonly unfixed: number;
    readonly ownTestOnly: number;
    readonly unmetExamples: number;
  };
  /** Minimum estimated chance of a clear and of a likely pick; anything below is a toss-up. */
  readonly clear: number;
  readonly likely: number;
}

/**
 * The default values. `alone`, `unfixed`, `ownTestOnly`, `unmetExamples` and `unconfirmedTests` were chosen by hand,
 * because there is too little data; the others were fitted on picks with known outcome and rounded
 * (docs/decisions/0026, 0094).
 */
export const CALIBRATION: Calibration = {
  signals: { tests: 10, behaviour: 1, agreement: 4.5 },
  independentVotes: 4,
  unconfirmedTests: 0.4,
  undecidedMargin: 0.45,
  chance: {
    start: 0.9,
    alone: 1.3,
    perRivals: -0.7,
    perBehaviour: 0.6,
    unfixed: -1.5,
    ownTestOnly: -0.6,
    unmetExamples: -2.5,
  },
  clear: 0.85,
  likely: 0.5,
};
