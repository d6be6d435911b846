import { z } from 'zod';
import type { Overlaps } from './overlaps.ts';
import type { Usd } from './run.ts';

/** The importance of an open question or of a defect in the spec. */
export const SEVERITIES = ['blocking', 'major', 'minor'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One thing that only a maintainer can decide. */
export const Question = z.object({
  text: z.string().min(1).max(400).describe('One crisp question, in one sentence.'),
  options: z
    .array(z.string().min(1).max(200))
    .max(4)
    .describe('Answers to choose from; empty when it is open.'),
  severity: z
    .enum(SEVERITIES)
    .describe('`blocking`: different answers need different code, and the wrong one would be refused.'),
  assume: z.string().min(1).max(400).describe('The assumption that is made if nobody answers.'),
});
export type Question = z.infer<typeof Question>;

export const RISKS = ['low', 'medium', 'high'] as const;
const SIZES = ['small', 'medium', 'large'] as const;

const line = (most: number) => z.string().trim().min(1).max(most);

/** The frozen task description for every coder. Parsed from the planner's answer, so bounded (I6). */
export const Brief = z.object({
  goal: line(2_000).describe('What must be true when the work is done, in one or two sentences.'),
  definitionOfDone: z.array(line(500)).min(1).max(20).describe('Checkable statements.'),
  plan: z.array(line(500)).max(20).describe('Steps, in order.'),
  files: z.array(line(300)).max(30).describe('Files that will probably change.'),
  assumptions: z.array(line(500)).max(20).describe('What was taken for granted.'),
  questions: z.array(Question).max(5).describe('What a maintainer should be asked; mostly empty.'),
  testCommand: z.string().max(200).optional().describe('How the tests of this repository are probably run.'),
  risk: z
    .object({
      level: z.enum(RISKS).describe('`high`: a wrong change loses data, money, safety or a public contract.'),
      because: line(400),
    })
    .optional(),
  size: z.enum(SIZES).optional().describe('`small`: one place; `medium`: a few files; `large`: more.'),
  changedTests: z
    .array(line(300))
    .max(10)
    .optional()
    .describe('Existing test files that demand what the task wants otherwise; mostly empty.'),
});
export type Brief = z.infer<typeof Brief> & {
  /** Tests named by critics of the spec: each fails for a plausible wrong implementation. */
  readonly acceptance?: readonly string[];
  /** Estimated cost of the run in US dollars; absent if no price is known. */
  readonly forecast?: { readonly least: Usd; readonly most: Usd };
  /** What was left out of the planner's answer, one sentence each. */
  readonly notes?: readonly string[];
  /** Open pull requests that change files of the plan; absent for local runs. */
  readonly overlaps?: Overlaps;
};
