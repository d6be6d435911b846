/**
 * What is executed beside the build and the tests of each candidate, in the order in which it is begun; `packages`: the
 * tests of packages that no candidate can affect.
 */
export const EXTRA_WORK = [
  'packages',
  'repeats',
  'surroundings',
  'probes',
  'peer-tests',
  'written-tests',
] as const;
export type ExtraWork = (typeof EXTRA_WORK)[number];

/** What an examination did not execute because its time was over. */
export interface LeftOut {
  readonly what: ExtraWork;
  /** Units of it that were not begun, and all that there were: packages, candidates, authors of tests, or parts. */
  readonly count: number;
  readonly of: number;
}

/** The work that an examination leaves out, and the time after which it does. Plain JSON. */
export interface ExaminationCut {
  readonly budgetMs: number;
  readonly leftOut: readonly LeftOut[];
}

/** Milliseconds that an examination has at least where the settings do not say how many. Our default. */
const MIN_MS = 5 * 60_000;
/** Runs of the base's suite for each candidate that fit into it: two without which it is not tested, and one more. */
const SUITES = 3;
/** Of the time that a run may still work: the rest is for judges. Our default. */
const SHARE_OF_RUN = 0.8;

/**
 * Milliseconds that an examination may take before it leaves out what is not needed to test each candidate once: as the
 * settings say, else the larger of five minutes and three runs of the suite for each candidate, `parallel` at a time. At
 * most four fifths of `leftMs`, what the run may still work.
 */
export function examinationBudget(of: {
  /** Absent: the default. */
  readonly settingMs?: number | undefined;
  readonly suiteMs: number;
  readonly candidates: number;
  readonly parallel: number;
  readonly leftMs?: number | undefined;
}): number {
  const rounds = Math.ceil(of.candidates / Math.max(1, of.parallel));
  const wanted = of.settingMs ?? Math.max(MIN_MS, SUITES * of.suiteMs * rounds);
  return Math.floor(Math.min(wanted, SHARE_OF_RUN * (of.leftMs ?? Number.POSITIVE_INFINITY)));
}

/** Was something left out that compares candidates with each other? Then nothing says that it would not speak against one. */
export const lacksComparison = (cut: ExaminationCut | undefined): boolean =>
  cut?.leftOut.some(({ what }) => what === 'probes' || what === 'peer-tests') ?? false;
