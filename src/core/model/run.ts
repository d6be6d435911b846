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

/** Where a run came from, and so where its result goes. */
export type Origin = GitHubOrigin | LocalOrigin;

export interface GitHubOrigin {
  readonly kind: 'github';
  readonly installationId: number;
  readonly repositoryId: number;
  readonly owner: string;
  readonly name: string;
  readonly issue: number;
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
  readonly base: { readonly ref: string; readonly sha: Sha };
  readonly settings: Settings;
  /** AGENTS.md or CLAUDE.md of the base commit, cut to its first part; absent where there is none or it is not wanted. */
  readonly instructions?: { readonly path: string; readonly text: string };
  /** What the operator's ceilings lowered in the repository's settings, a sentence each. */
  readonly lowered: readonly string[];
}

/** The states of a run; `core/lifecycle` holds the legal transitions. */
export const RUN_STATES = [
  'queued',
  'admitted',
  'refused',
  'briefed',
  'coded',
  'examined',
  'judged',
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

/** The frozen statement of the work that every coder gets. Parsed from the planner's answer, so bounded (I6). */
export const Brief = z.object({
  goal: z
    .string()
    .min(1)
    .max(2_000)
    .describe('What must be true when the work is done, in one or two sentences.'),
  definitionOfDone: z.array(z.string().min(1).max(500)).min(1).max(12).describe('Checkable statements.'),
  plan: z.array(z.string().min(1).max(500)).max(12).describe('Steps, in order.'),
  files: z.array(z.string().min(1).max(300)).max(30).describe('Files that will probably change.'),
  assumptions: z.array(z.string().min(1).max(500)).max(12).describe('What was taken for granted.'),
  questions: z.array(z.string().min(1).max(500)).max(5).describe('What a maintainer should be asked.'),
});
export type Brief = z.infer<typeof Brief>;
