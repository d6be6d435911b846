import type { PatchLikeness } from '../likeness/index.ts';

/** What put the first candidate before the second; `none`: nobody was picked. */
export type DecidedBy = 'none' | 'only-candidate' | 'signals' | 'agreement' | 'hash';

/** A candidate in its place, with all that it is ranked by. */
export interface Placed {
  readonly id: string;
  readonly patch: string;
  readonly agreement: PatchLikeness;
  /** What signals hold against it. */
  readonly against: 'nothing' | 'breaks-tests' | 'does-not-apply';
  /** Signals say that it breaks no test. */
  readonly testsKept: boolean;
}

/** The best candidate of another class than the first; those of its own class it need not be told from. */
export const rivalOf = ([best, ...others]: readonly Placed[]): Placed | undefined =>
  others.find((other) => other.agreement.classIndex !== best?.agreement.classIndex);

/** A patch that does not apply, breaks tests or has no effect is not picked unless somebody must be. */
export const couldBeRight = ({ against, agreement }: Placed): boolean =>
  against === 'nothing' && !agreement.flaws.includes('no-effective-change');
