import { z } from 'zod';
import type { Settings } from '../settings/index.ts';

/** Where a repository says how Runoff works on it. */
export const SETTINGS_FILE = '.github/auto-dev.yml';

/** Who writes a candidate: an agent with a model and a prompt variant. */
export interface Contestant {
  /** Name of a coder adapter, e.g. `builtin`. */
  readonly agent: string;
  /** `provider/model`, e.g. `anthropic/claude-sonnet-4-5`. */
  readonly model: string;
  /** Name of a prompt variant (`plain`, `careful`, …). */
  readonly prompt: string;
  /** The program of an agent that runs any. */
  readonly argv?: readonly [string, ...string[]];
  /** Which repetition of the same agent, model and prompt this is; absent: the first. */
  readonly seed?: number;
  /** What it was asked for in a further round; absent: it competes from the start. */
  readonly round?: FurtherRound;
}

/** Rounds that can follow the first, each at most once in a run. */
const FURTHER_ROUNDS = ['repair', 'one-more', 'synthesis'] as const;
export type FurtherKind = (typeof FURTHER_ROUNDS)[number];

/** How a candidate came about that did not compete from the start. */
export interface FurtherRound {
  readonly kind: FurtherKind;
  /** The candidates whose patches it was given: one for a repair, two for a synthesis, none for one more. */
  readonly of: readonly Alias[];
}

export const CANDIDATE_STATES = [
  'queued',
  'coding',
  'coded',
  'examining',
  'examined',
  'failed',
  'cancelled',
] as const;
export type CandidateState = (typeof CANDIDATE_STATES)[number];

/** A file that holds content too big for a database row, named by its own hash. */
export interface ArtifactRef {
  readonly sha256: string;
  readonly bytes: number;
}

/** What is known of a collected patch without reading it. */
export interface PatchSummary {
  readonly files: number;
  readonly additions: number;
  readonly deletions: number;
  /** SHA-256 of the patch text, hex. */
  readonly sha256: string;
  /** The tree the patch leads to, on the run's base. */
  readonly tree: Sha;
  readonly text: ArtifactRef;
  /** `git diff-tree --raw -z` of base and tree: the authoritative list of changed paths and modes. */
  readonly raw: ArtifactRef;
}

/** What a candidate used, from the gateway's ledger. */
export interface Usage {
  readonly usd: Usd;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly calls: number;
}
export const NO_USAGE: Usage = { usd: 0, tokensIn: 0, tokensOut: 0, calls: 0 };

/** One coder's patch against the run's base commit, and how it came about. */
export interface Candidate {
  readonly runId: RunId;
  readonly alias: Alias;
  /** 0-based place in the list of contestants. */
  readonly ordinal: number;
  readonly contestant: Contestant;
  readonly state: CandidateState;
  /** Absent while coding, and where the coder left nothing behind or a patch that had to be refused. */
  readonly patch?: PatchSummary;
  readonly usage: Usage;
  /** Wall time of the coder, milliseconds. */
  readonly ms: number;
  /** One sentence for people: what it does now, or why it has no patch. */
  readonly note: string;
  readonly coderVersion?: string;
}

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
  /** What models do not read of it: comments beyond a limit, and what its page does not show; a sentence each. Absent: none. */
  readonly leftOut?: readonly string[];
  readonly base: { readonly ref: string; readonly sha: Sha };
  readonly settings: Settings;
  /** AGENTS.md or CLAUDE.md of the base commit (on GitHub: of the default branch), cut to its first part; absent where there is none or it is not wanted. */
  readonly instructions?: { readonly path: string; readonly text: string };
  /** What the operator's ceilings lowered in the repository's settings, a sentence each. */
  readonly lowered: readonly string[];
}

/** The states of a run; `NEXT` below holds the legal transitions. */
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
  assume: z.string().min(1).max(400).describe('The assumption that is made if nobody answers.'),
});
export type Question = z.infer<typeof Question>;

export const RISKS = ['low', 'medium', 'high'] as const;
const SIZES = ['small', 'medium', 'large'] as const;

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

/** Whether GitHub takes two names for the same label: case makes no difference there. */
export const isSameLabel = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Whether a label of this name is among them, as GitHub compares names. */
export const hasLabel = (labels: readonly string[], name: string): boolean =>
  labels.some((one) => isSameLabel(one, name));

/** From each state, the states that may follow. `failed` and `cancelled` may follow any state that is not final. */
const NEXT: Readonly<Record<RunState, readonly RunState[]>> = {
  queued: ['admitted', 'refused'],
  admitted: ['briefed', 'awaiting_answer', 'awaiting_approval'],
  refused: [],
  // An answer leads to a new brief, which may ask again.
  awaiting_answer: ['briefed', 'admitted', 'awaiting_approval'],
  awaiting_approval: ['briefed', 'admitted', 'awaiting_answer'],
  briefed: ['coded'],
  coded: ['examined'],
  // Back to the coders for a further round.
  examined: ['judged', 'briefed'],
  judged: ['published', 'awaiting_pick'],
  // Nobody codes or judges any more: a person picks one, or none.
  awaiting_pick: ['published', 'closed'],
  published: ['merged', 'closed'],
  merged: [],
  closed: [],
  failed: [],
  cancelled: [],
};

/** A run in a final state holds no resources and takes no further step; `published` still waits for its pull request. */
export const isFinal = (state: RunState): boolean => NEXT[state].length === 0;

/** The work of the run itself is over, whatever people do with its result later. */
export const isOver = (state: RunState): boolean =>
  isFinal(state) || state === 'published' || state === 'awaiting_pick';

type Move =
  | { readonly kind: 'moved' }
  | { readonly kind: 'same' }
  | { readonly kind: 'refused'; readonly why: string };

/** May a run go from one state to another? Asking for the state it is in is `same`: steps are repeated after a crash. */
export function move(from: RunState, to: RunState): Move {
  if (from === to) return { kind: 'same' };
  if (NEXT[from].includes(to)) return { kind: 'moved' };
  if ((to === 'failed' || to === 'cancelled') && !isOver(from)) return { kind: 'moved' };
  return { kind: 'refused', why: `A run that is ${from} cannot become ${to}.` };
}

interface AtWork {
  readonly state: RunState;
  /** Milliseconds since 1970 UTC. */
  readonly stages: readonly { readonly startedAt: number }[];
}

const PREPARES_AGAIN: ReadonlySet<RunState> = new Set(['queued', 'awaiting_answer', 'awaiting_approval']);

/**
 * Since when runs at work hold what they prepared, milliseconds since 1970 UTC; infinity where none is at work. A stage
 * prepares what it needs anew, and then opens areas on it for hours, with times between in which no area stands on it.
 */
export const heldSince = (runs: readonly AtWork[]): number =>
  Math.min(
    ...runs
      .filter(({ state }) => !isOver(state) && !PREPARES_AGAIN.has(state))
      .map(({ stages }) => Math.max(0, ...stages.map(({ startedAt }) => startedAt))),
  );
