import { z } from 'zod';
import type { Alias, Brief } from '../model/index.ts';
import type { Settings } from '../settings/index.ts';
import type { BlindPatch } from './blind.ts';
import { checkVerdict, nonEmptyText, type Verdict } from './verdict.ts';

/** A defect that a critic named in a candidate, and what execution made of it. */
export interface Objection extends Pick<VetoClaim, 'file' | 'line' | 'input' | 'expected' | 'got'> {
  readonly outcome: ObjectionOutcome;
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
export const MAX_REVIEWED_WINNERS = 2;

/** Whether the winner of a run is reviewed. */
export function reviewWanted(
  { review }: Pick<Settings, 'review'>,
  { brief, debated }: { readonly brief: Pick<Brief, 'risk'> | undefined; readonly debated: boolean },
): boolean {
  return review === 'always' || (review === 'auto' && (debated || brief?.risk?.level === 'high'));
}

/** Did execution confirm an objection? Only then do critics' tests count: else one that passes could move the others. */
export const hasConfirmedObjection = (critics: readonly CriticReport[]): boolean =>
  critics.some((one) => 'objections' in one && one.objections.some(({ outcome }) => outcome === 'confirmed'));

/** A reviewer's answer about one candidate. */
export const Review = z.object({
  claims: z
    .array(
      z.object({
        file: nonEmptyText(400),
        line: z.number().int().min(1).max(1e9),
        quote: nonEmptyText(400).describe('The changed line that is wrong, or a part of it, word for word.'),
        input: nonEmptyText(600),
        expected: nonEmptyText(600).describe('What the task asks for on this input.'),
        got: nonEmptyText(600).describe('What this line makes of it instead.'),
        test: nonEmptyText(8_000)
          .optional()
          .describe('A test file that fails because of it, where one can be written.'),
      }),
    )
    .max(4),
  because: nonEmptyText(1_200),
  verdict: z.enum(['pass', 'veto']),
});
export type Review = z.infer<typeof Review>;

/** A defect that a reviewer showed on a line. A claim: whoever can execute its test does, before it counts for more. */
interface VetoClaim {
  readonly alias: Alias;
  readonly file: string;
  readonly line: number;
  readonly quote: string;
  readonly input: string;
  readonly expected: string;
  readonly got: string;
  /** Text of a test, written by a model: to be executed in a sandbox only. */
  readonly test?: string;
}

export type CheckedReview =
  | { readonly kind: 'pass'; readonly because: string }
  | {
      readonly kind: 'claims';
      readonly claims: readonly [VetoClaim, ...VetoClaim[]];
      readonly because: string;
    }
  /** There is no usable review: it neither helps nor harms. */
  | { readonly kind: 'ignored'; readonly because: string };

/** A veto without a changed line that was shown is none. */
export function checkReview(
  alias: Alias,
  review: Review,
  shown: { readonly patch: BlindPatch; readonly nonce: string; readonly instructions: string },
): CheckedReview {
  if (review.verdict === 'pass') return { kind: 'pass', because: review.because };
  const [first, ...rest] = review.claims.flatMap((claim): VetoClaim[] => {
    const { file, line, quote, input, expected, got, test } = claim;
    const verdict: Verdict = {
      citations: [{ candidate: 'first', file, line, quote }],
      failures: [{ candidate: 'first', input, expected, got }],
      because: review.because,
      better: 'second',
    };
    const checked = checkVerdict(verdict, { ...shown, first: shown.patch, second: EMPTY_PATCH });
    const [cited] = checked.kind === 'verdict' ? checked.verdict.citations : [];
    if (!cited) return [];
    const where = { file: cited.file, line: cited.line, quote };
    return [{ alias, ...where, input, expected, got, ...(test ? { test } : {}) }];
  });
  return first
    ? { kind: 'claims', claims: [first, ...rest], because: review.because }
    : { kind: 'ignored', because: 'The reviewer named no changed line of the patch.' };
}

const EMPTY_PATCH: BlindPatch = { production: '', tests: '', lines: [], injections: [] };

/** What came of executing a claim's test; null where it has none or it could not be run. */
export type Reproduction = {
  readonly onCandidate: 'passed' | 'failed';
  /** It was admitted as a independent test: one that nobody passes says nothing about this candidate. */
  readonly admitted: boolean;
} | null;

/** `confirmed`: its test counts and fails here. `doubt`: a line was named, and no test that counts shows it. `refuted`: its test passes. */
export type ObjectionOutcome = 'confirmed' | 'doubt' | 'refuted';

/** What execution makes of one claim. */
export function objectionOutcome(ran: Reproduction): ObjectionOutcome {
  if (ran?.onCandidate === 'passed') return 'refuted';
  return ran?.admitted ? 'confirmed' : 'doubt';
}

interface ReviewOutcome {
  /** `vetoed`: a test shows it. `doubted`: a line was named, and a person should look. */
  readonly kind: 'passed' | 'doubted' | 'vetoed';
  readonly because: string;
}

/**
 * A veto holds when its test counts and fails here. A line alone is a doubt: it lowers confidence and
 * is shown, and no candidate falls by it, because a reviewer that was talked into it could name a line of any patch.
 */
export function reviewOutcome(review: CheckedReview, reproductions: readonly Reproduction[]): ReviewOutcome {
  if (review.kind !== 'claims') return { kind: 'passed', because: review.because };
  const settled = review.claims.map((claim, i) => ({
    claim,
    outcome: objectionOutcome(reproductions[i] ?? null),
  }));
  const shown = settled.find(({ outcome }) => outcome === 'confirmed');
  if (shown) return { kind: 'vetoed', because: `A test by the reviewer fails: ${claimText(shown.claim)}` };
  const open = settled.find(({ outcome }) => outcome === 'doubt');
  if (!open) return { kind: 'passed', because: "The reviewer's concern was not confirmed: its tests pass." };
  return { kind: 'doubted', because: `The reviewer has a doubt: ${claimText(open.claim)}` };
}

const claimText = ({ file, line, input, expected, got }: VetoClaim): string =>
  `${file}:${line}, input ${input}: expected ${expected}, got ${got}.`;
