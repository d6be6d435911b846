/**
 * Optional work besides the build and tests of each candidate, in order of execution. `packages`: the tests of
 * packages that no candidate can affect.
 */
export const EXTRA_WORK = [
  'packages',
  'repeats',
  'surroundings',
  'probes',
  'peer-tests',
  'mutants',
  'written-tests',
] as const;
export type ExtraWork = (typeof EXTRA_WORK)[number];

/** Work that an examination skipped because its time was over. */
export interface LeftOut {
  readonly what: ExtraWork;
  /** Units that were skipped, and their total: packages, candidates, authors of tests, or parts. */
  readonly count: number;
  readonly of: number;
}

/** The work that an examination skips, and the time after which it does so. Plain JSON. */
export interface ExaminationCut {
  readonly budgetMs: number;
  readonly leftOut: readonly LeftOut[];
}

/** Minimum milliseconds of an examination without a setting. Default. */
const MIN_MS = 5 * 60_000;
/**
 * Suite runs, each after a build, that must fit in for each candidate: one with the base's test files, at most one with
 * its own, and as much as half of one for everything that compares candidates.
 */
const SUITES = 2.5;
/** Suites that take as long, in milliseconds, are not run again where a part of their files is enough. Default. */
export const LONG_SUITE_MS = 60_000;
/** Share of the run's remaining time; the rest is for judges. Default. */
const SHARE_OF_RUN = 0.8;

/**
 * Milliseconds after which an examination skips work that is not required to test each candidate once: the setting,
 * or the larger of five minutes and two and a half builds and suite runs for each candidate, `parallel` at a time. At
 * most four fifths of `leftMs`, the run's remaining time.
 */
export function examinationBudget(of: {
  /** Absent: the default. */
  readonly settingMs?: number | undefined;
  /** Build, tests and type checks of the base commit, once. */
  readonly suiteMs: number;
  readonly candidates: number;
  readonly parallel: number;
  readonly leftMs?: number | undefined;
}): number {
  const rounds = Math.ceil(of.candidates / Math.max(1, of.parallel));
  const wanted = of.settingMs ?? Math.max(MIN_MS, SUITES * of.suiteMs * rounds);
  return Math.floor(Math.min(wanted, SHARE_OF_RUN * (of.leftMs ?? Number.POSITIVE_INFINITY)));
}

/** Whether a comparison between candidates was skipped. If so, it might have revealed a problem in one. */
export const lacksComparison = (cut: ExaminationCut | undefined): boolean =>
  cut?.leftOut.some(({ what }) => what === 'probes' || what === 'peer-tests' || what === 'mutants') ?? false;
