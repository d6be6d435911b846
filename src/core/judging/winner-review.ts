import type { Alias, Brief } from '../model/index.ts';
import type { Settings } from '../policy/index.ts';
import type { ObjectionFate, VetoClaim } from './reviewer.ts';

/** A defect that a critic named in a candidate, and what execution made of it. */
export interface Objection extends Pick<VetoClaim, 'file' | 'line' | 'input' | 'expected' | 'got'> {
  readonly fate: ObjectionFate;
  /** One sentence: what became of its test, or that there is none. */
  readonly because: string;
}

/** What one critic said about one candidate. Plain JSON; parts of it are a model's words. */
export type CriticReport = {
  /** Name of the persona. */
  readonly critic: string;
} & (
  | {
      readonly kind: 'passed' | 'objects';
      /** `provider/model`. */
      readonly model: string;
      readonly because: string;
      /** Empty for one that passed it. */
      readonly objections: readonly Objection[];
    }
  /** There is no usable review: it neither helps nor harms. */
  | { readonly kind: 'failed'; readonly why: string }
);

/** The review of one candidate that had the first place. Plain JSON. */
export interface WinnerReview {
  readonly alias: Alias;
  readonly critics: readonly CriticReport[];
  /** Something stands against it, so that the decision is made again. */
  readonly contested: boolean;
  /** Who has the first place since, and why, by the decision that followed; absent until it was made. */
  readonly after?: { readonly alias: Alias | null; readonly because: string };
}

/** Winners of one run that are reviewed at most: the first, and the one who takes its place. Our default. */
export const MOST_WINNERS = 2;

/** Whether the winner of a run is reviewed. */
export function reviewWanted(
  { review }: Pick<Settings, 'review'>,
  { brief, debated }: { readonly brief: Pick<Brief, 'risk'> | undefined; readonly debated: boolean },
): boolean {
  return review === 'always' || (review === 'auto' && (debated || brief?.risk?.level === 'high'));
}

/** Did execution confirm an objection? Only then do critics' tests count: else one that passes could move the others. */
export const confirmed = (critics: readonly CriticReport[]): boolean =>
  critics.some((one) => 'objections' in one && one.objections.some(({ fate }) => fate === 'confirmed'));
