import { z } from 'zod';
import type { Alias, Brief } from '../model/index.ts';
import type { Settings } from '../settings/index.ts';
import type { BlindPatch } from './blind.ts';
import { checkVerdict, nonEmptyText, type Verdict } from './verdict.ts';

/** A defect that a critic reported in a candidate, and the result of executing its test. */
export interface Objection extends Pick<VetoClaim, 'file' | 'line' | 'input' | 'expected' | 'got'> {
  readonly outcome: ObjectionOutcome;
  /** One sentence: the result of its test, or that it has none. */
  readonly because: string;
}

/** One critic's review of one candidate. Plain JSON; partly written by a model. */
export type CriticReport = {
  /** Name of the persona. */
  readonly critic: string;
} & (
  | {
      readonly kind: 'passed' | 'objects';
      /** `provider/model`. */
      readonly model: string;
      readonly because: string;
      /** Empty when the critic passed it. */
      readonly objections: readonly Objection[];
    }
  /** No valid review: it counts neither for nor against the candidate. */
  | { readonly kind: 'failed'; readonly why: string }
);

/** The review of the candidate in first place. Plain JSON. */
export interface WinnerReview {
  readonly alias: Alias;
  readonly critics: readonly CriticReport[];
  /** There are objections, so the decision is made again. */
  readonly contested: boolean;
  /** The candidate in first place after the new decision, and why; absent until then. */
  readonly after?: { readonly alias: Alias | null; readonly because: string };
}

/** Maximum winners reviewed in one run: the first, and its replacement. Default. */
export const MAX_REVIEWED_WINNERS = 2;

/** Whether the winner of a run is reviewed. */
export function reviewWanted(
  { review }: Pick<Settings, 'review'>,
  { brief, debated }: { readonly brief: Pick<Brief, 'risk'> | undefined; readonly debated: boolean },
): boolean {
  return review === 'always' || (review === 'auto' && (debated || brief?.risk?.level === 'high'));
}

/**
 * Whether execution confirmed an objection. Only then do critics' tests count: otherwise a passing test could change
 * the rank of other candidates.
 */
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

/** A defect that a reviewer claims for a line. Its test is executed before the claim counts. */
interface VetoClaim {
  readonly alias: Alias;
  readonly file: string;
  readonly line: number;
  readonly quote: string;
  readonly input: string;
  readonly expected: string;
  readonly got: string;
  /** Test source written by a model: execute in a sandbox only. */
  readonly test?: string;
}

export type CheckedReview =
  | { readonly kind: 'pass'; readonly because: string }
  | {
      readonly kind: 'claims';
      readonly claims: readonly [VetoClaim, ...VetoClaim[]];
      readonly because: string;
    }
  /** No valid review: it counts neither for nor against the candidate. */
  | { readonly kind: 'ignored'; readonly because: string };

/** A veto is valid only if it cites a changed line that was shown. */
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

/** The result of a claim's test; null if it has none or could not run. */
export type Reproduction = {
  readonly onCandidate: 'passed' | 'failed';
  /** The test was admitted as an independent test. A test that no candidate passes is no evidence about this one. */
  readonly admitted: boolean;
} | null;

/**
 * `confirmed`: its test counts and fails here. `doubt`: it cites a line, but no valid test shows the defect.
 * `refuted`: its test passes.
 */
export type ObjectionOutcome = 'confirmed' | 'doubt' | 'refuted';

/** Classifies one claim by the result of its test. */
export function objectionOutcome(ran: Reproduction): ObjectionOutcome {
  if (ran?.onCandidate === 'passed') return 'refuted';
  return ran?.admitted ? 'confirmed' : 'doubt';
}

interface ReviewOutcome {
  /** `vetoed`: a test shows the defect. `doubted`: a line is cited, and a person should check it. */
  readonly kind: 'passed' | 'doubted' | 'vetoed';
  readonly because: string;
}

/**
 * A veto holds only if its test counts and fails here. A cited line alone is a doubt: it lowers confidence and is
 * shown, but rejects no candidate, because a manipulated reviewer could cite a line of any patch.
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
