import { z } from 'zod';
import { Question, SEVERITIES, type Severity, type Usd } from '../model/index.ts';

const textUpTo = (most: number) => z.string().max(most);

/** A defect of the spec, as reported by a critic. */
export const SpecIssue = z.object({
  title: textUpTo(120).min(1).describe('The fault in a few words.'),
  quote: textUpTo(400)
    .min(1)
    .describe('The words of the spec that are wrong, or after which something is missing, exactly.'),
  severity: z.enum(SEVERITIES),
  scenario: textUpTo(600).describe(
    'A concrete case in which the spec as it stands leads to a failure: who does what, and what goes wrong. Empty: there is none.',
  ),
  edit: textUpTo(800).describe('What the spec should say instead.'),
  needsHuman: z.boolean().describe('Only a maintainer can decide it.'),
});
export type SpecIssue = z.infer<typeof SpecIssue>;

/** A test for the finished work, named by a critic. */
export const AcceptanceTest = z.object({
  given: textUpTo(400).min(1).describe('Concrete input or state.'),
  expect: textUpTo(400).min(1).describe('What must be observed.'),
  catches: textUpTo(300).min(1).describe('The plausible wrong implementation that fails it.'),
});
export type AcceptanceTest = z.infer<typeof AcceptanceTest>;

/** Maximum issues of one critique. Default. */
const MAX_ISSUES = 8;

/** A critic's answer in any round. */
export const Critique = z.object({
  issues: z.array(SpecIssue).max(MAX_ISSUES),
  rechecked: z
    .array(z.object({ issue: textUpTo(8), stands: z.boolean(), because: textUpTo(400) }))
    .max(20)
    .describe('Your issues that were rejected: does each still stand? Empty in the first round.'),
  approved: z.boolean().describe('The spec can go to the engineers as it is.'),
});
export type Critique = z.infer<typeof Critique>;

/** What a critic must add to its first approval, so that it does not approve by default. */
export const ChallengedCritique = Critique.extend({
  checks: z
    .array(textUpTo(300).min(10))
    .min(3)
    .max(6)
    .describe('What you checked, each with the words of the spec that settle it.'),
  test: AcceptanceTest,
});
export type ChallengedCritique = z.infer<typeof ChallengedCritique>;

/** The synthesiser's answer: a verdict on every open issue, and patches of the spec. */
export const Synthesis = z.object({
  verdicts: z
    .array(
      z.object({
        issue: textUpTo(8),
        verdict: z.enum(['accept', 'reject', 'ask']),
        because: textUpTo(400).min(1),
        question: Question.optional().describe('With `ask` only.'),
      }),
    )
    .max(40),
  edits: z
    .array(
      z.object({
        issue: textUpTo(8).describe('The accepted issue that it settles.'),
        find: textUpTo(2_000).min(1).describe('Words of the spec, exactly as they stand, that occur once.'),
        replace: textUpTo(2_000).describe(
          'What stands there instead. To add, repeat what was found and add to it.',
        ),
      }),
    )
    .max(40),
});
export type Synthesis = z.infer<typeof Synthesis>;

export interface Cost {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: Usd;
}
export const ZERO_COST: Cost = { inputTokens: 0, outputTokens: 0, usd: 0 };

/** The result of one critic in one round. */
export type CriticTurn = {
  /** Persona. */
  readonly critic: string;
  /** `provider/model`. */
  readonly model: string;
} & (
  | {
      readonly kind: 'answered';
      readonly approved: boolean;
      /** Issues that this critic raised in this round; ids of the ledger. */
      readonly raised: readonly string[];
      /** Rejected issues that it maintains. */
      readonly upheldIssues: readonly string[];
      /** Of an approval that was challenged. */
      readonly checks: readonly string[];
    }
  /** Not asked again, because the spec is the one that it approved. */
  | { readonly kind: 'stands' }
  /** Shown, but does not count as an approval. */
  | { readonly kind: 'failed'; readonly why: string }
);

/** The result of one issue. Open ones have not been answered yet. */
type IssueStatus =
  | { readonly kind: 'open' }
  | { readonly kind: 'accepted'; readonly because: string }
  | { readonly kind: 'rejected'; readonly because: string }
  | { readonly kind: 'asked'; readonly because: string; readonly question: Question };

export interface LedgerEntry extends SpecIssue {
  /** `I1`, `I2`, …: in the order in which they were raised. */
  readonly id: string;
  readonly round: number;
  readonly critic: string;
  readonly severity: Severity;
  readonly status: IssueStatus;
  /** How many times it was rejected and upheld. */
  readonly upheld: number;
  /** Its critic accepted the rejection. */
  readonly withdrawn?: boolean;
  /** Why its severity was lowered from the critic's, if it was. */
  readonly loweredBecause?: string;
}

export interface DebateRound {
  /** 0-based. In round 0 critics do not see each other's critiques. */
  readonly roundNumber: number;
  readonly critiques: readonly CriticTurn[];
  /** Absent if no issue was open. */
  readonly synthesis?: {
    readonly model: string;
    /** The spec after it. */
    readonly spec: string;
    /** Rejected edits, one sentence each. */
    readonly refused: readonly string[];
    /** Why there was none, if the synthesizer failed. */
    readonly failed?: string;
  };
  readonly hasConsensus: boolean;
  /** Unified diff; empty when the round changed nothing. */
  readonly diffFromPrevious: string;
  /** Share of the spec's lines that the round changed, 0 to 1. */
  readonly changed: number;
  readonly cost: Cost;
}

const STOPS = ['consensus', 'rounds', 'repeated', 'budget', 'growth', 'failed'] as const;
export type Stop = (typeof STOPS)[number];

/** A critic's state between rounds. */
export interface CriticMemory {
  /** The last spec that it reviewed; null before its first review. */
  readonly lastSpec: string | null;
  readonly approved: boolean;
  /** Its approval has been challenged; this happens only once. */
  readonly challenged: boolean;
}

/** A debate as stored and shown: after each round, and at its end. */
export interface Debate {
  readonly original: string;
  readonly spec: string;
  readonly rounds: readonly DebateRound[];
  readonly ledger: readonly LedgerEntry[];
  readonly acceptance: readonly AcceptanceTest[];
  readonly cost: Cost;
  /** By critic, while the debate is running; used to resume it. */
  readonly memories: Readonly<Record<string, CriticMemory>>;
  /** Absent while the debate is running. */
  readonly end?: { readonly stop: Stop; readonly because: string };
}
