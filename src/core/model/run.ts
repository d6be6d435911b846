import { z } from 'zod';
import type { Settings } from '../policy/index.ts';

/** `r` and ten characters of Crockford base 32 in lower case, e.g. `r7k2m9q4xa`. Safe in a ref, a path and a URL. */
export type RunId = string;
/** The letter a candidate is shown under, `A` to `Z`; it says nothing about who wrote the patch. */
export type Alias = string;
/** US dollars. */
export type Usd = number;
/** A full git object name, 40 hex digits. */
export type Sha = string;

/** A person or App on GitHub; `id` is the identity, `login` is only for display. */
export interface Actor {
  readonly id: number;
  readonly login: string;
}

/** What a run on a pull request takes as its task: what reviewers wrote, or what fails (else what reviewers wrote). */
export type PullWork = 'review' | 'fix';

/** Where a run came from, and so where its result goes. */
export type Origin = GitHubOrigin | LocalOrigin;

export interface GitHubOrigin {
  readonly kind: 'github';
  readonly installationId: number;
  readonly repositoryId: number;
  readonly owner: string;
  readonly name: string;
  /** Where people talk about it: the number of the issue, or of the pull request that is worked on. */
  readonly issue: number;
  /** What is to be done on a pull request; absent: the issue itself is the task. */
  readonly work?: PullWork;
  readonly requestedBy: Actor;
}

export interface LocalOrigin {
  readonly kind: 'local';
  /** Absolute path of the repository's top folder. */
  readonly path: string;
}

/** What one run is asked to do, frozen at admission: later edits of the issue are not read (I5). */
export interface Task {
  readonly runId: RunId;
  readonly origin: Origin;
  readonly title: string;
  readonly body: string;
  /** Comments by people who may write to the repository, oldest first. */
  readonly comments: readonly { readonly author: string; readonly body: string }[];
  /** Which comments are missing above because of a limit, a sentence each; absent: none. */
  readonly leftOut?: readonly string[];
  readonly base: { readonly ref: string; readonly sha: Sha };
  readonly settings: Settings;
  /** AGENTS.md or CLAUDE.md of the base commit (on GitHub: of the default branch), cut to its first part; absent where there is none or it is not wanted. */
  readonly instructions?: { readonly path: string; readonly text: string };
  /** What the operator's ceilings lowered in the repository's settings, a sentence each. */
  readonly lowered: readonly string[];
}

/** The states of a run; `core/lifecycle` holds the legal transitions. */
export const RUN_STATES = [
  'queued',
  'admitted',
  'refused',
  'awaiting_answer',
  'awaiting_approval',
  'briefed',
  'coded',
  'examined',
  'judged',
  'awaiting_pick',
  'published',
  'merged',
  'closed',
  'failed',
  'cancelled',
] as const;
export type RunState = (typeof RUN_STATES)[number];

/** The stages in the order in which a run flows. */
export const STAGES = ['admit', 'brief', 'code', 'examine', 'judge', 'publish'] as const;
export type Stage = (typeof STAGES)[number];

/** How much hangs on an open question, or on a fault of the spec. */
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
  assume: z.string().min(1).max(400).describe('What is taken for granted when nobody answers.'),
});
export type Question = z.infer<typeof Question>;

export const RISKS = ['low', 'medium', 'high'] as const;
export const SIZES = ['small', 'medium', 'large'] as const;

const line = (most: number) => z.string().trim().min(1).max(most);

/** The frozen statement of the work that every coder gets. Parsed from the planner's answer, so bounded (I6). */
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
  /** Tests that critics of the spec named: each would fail a plausible wrong implementation. */
  readonly acceptance?: readonly string[];
  /** What the run will probably cost, US dollars; absent where no price is known. */
  readonly forecast?: { readonly least: Usd; readonly most: Usd };
  /** What was left out of the planner's answer, a sentence each. */
  readonly notes?: readonly string[];
};

/** A brief as it was stored: questions were once plain sentences. */
export function storedBrief(stored: Brief): Brief {
  const asked = (question: Question | string): Question =>
    typeof question === 'string'
      ? { text: question, options: [], severity: 'minor', assume: 'What the brief says.' }
      : question;
  return { ...stored, questions: stored.questions.map(asked) };
}
