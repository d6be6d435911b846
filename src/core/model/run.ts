import type { Settings } from '../settings/index.ts';
import type { Learned } from './learned.ts';

/** Path of a repository's settings file. */
export const SETTINGS_FILE = '.github/auto-dev.yml';

/** The author of a candidate: an agent with a model and a prompt variant. */
export interface Contestant {
  /** Name of a coder adapter, e.g. `builtin`. */
  readonly agent: string;
  /** `provider/model`, e.g. `anthropic/claude-sonnet-4-5`. */
  readonly model: string;
  /** Name of a prompt variant (`plain`, `careful`, …). */
  readonly prompt: string;
  /** The command of an agent that runs any program. */
  readonly argv?: readonly [string, ...string[]];
  /** The repetition of the same agent, model and prompt; absent: the first. */
  readonly seed?: number;
  /** Its task in a further round; absent: it competes from the start. */
  readonly round?: FurtherRound;
}

/** Rounds that can follow the first, each at most once in a run. */
const FURTHER_ROUNDS = ['repair', 'one-more', 'synthesis'] as const;
export type FurtherKind = (typeof FURTHER_ROUNDS)[number];

/** The origin of a candidate of a further round. */
export interface FurtherRound {
  readonly kind: FurtherKind;
  /** The candidates whose patches it received: one for a repair, two for a synthesis, none for one more. */
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

/** Metadata of a collected patch. */
export interface PatchSummary {
  readonly files: number;
  readonly additions: number;
  readonly deletions: number;
  /** SHA-256 of the patch text, hex. */
  readonly sha256: string;
  /** The tree that results from applying the patch to the run's base. */
  readonly tree: Sha;
  readonly text: ArtifactRef;
  /** `git diff-tree --raw -z` of base and tree: the authoritative list of changed paths and modes. */
  readonly raw: ArtifactRef;
}

/** Resources used by a candidate, from the gateway's ledger. */
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
  /** 0-based index in the list of contestants. */
  readonly ordinal: number;
  readonly contestant: Contestant;
  readonly state: CandidateState;
  /** Absent while coding, and if the coder left no changes or a patch that was rejected. */
  readonly patch?: PatchSummary;
  readonly usage: Usage;
  /** Wall time of the coder, milliseconds. */
  readonly ms: number;
  /** One sentence for people: its current activity, or why it has no patch. */
  readonly note: string;
  readonly coderVersion?: string;
}

/** `r` and ten characters of Crockford base 32 in lower case, e.g. `r7k2m9q4xa`. Safe in a ref, a path and a URL. */
export type RunId = string;
/** The letter under which a candidate is shown, `A` to `Z`; independent of its author. */
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

/** The task of a run on a pull request: review comments, or failing checks (otherwise review comments). */
export type PullWork = 'review' | 'fix';

/** A repository as GitHub writes its name, `owner/name`: the same in any case. */
export const fullNameOf = ({ owner, name }: { readonly owner: string; readonly name: string }): string =>
  `${owner}/${name}`;

/** The origin of a run, which also determines where its result is published. */
export type Origin = GitHubOrigin | LocalOrigin;

export interface GitHubOrigin {
  readonly kind: 'github';
  readonly installationId: number;
  readonly repositoryId: number;
  readonly owner: string;
  readonly name: string;
  /** Number of the issue, or of the pull request, where the run is discussed. */
  readonly issue: number;
  /** The task on a pull request; absent: the issue itself is the task. */
  readonly work?: PullWork;
  readonly requestedBy: Actor;
}

export interface LocalOrigin {
  readonly kind: 'local';
  /** Absolute path of the repository's top folder. */
  readonly path: string;
}

/** The task of one run, frozen at admission: later edits of the issue are ignored (I5). */
export interface Task {
  readonly runId: RunId;
  readonly origin: Origin;
  readonly title: string;
  readonly body: string;
  /** Comments by people with write access, oldest first. */
  readonly comments: readonly { readonly author: string; readonly body: string }[];
  /** What models do not read: comments beyond a limit, hidden content; one sentence each. Absent: none. */
  readonly leftOut?: readonly string[];
  readonly base: {
    readonly ref: string;
    readonly sha: Sha;
    /** `sha` is a commit of Runoff's own with the uncommitted changes of a local working tree. */
    readonly uncommitted?: true;
  };
  readonly settings: Settings;
  /** AGENTS.md or CLAUDE.md of the base commit (on GitHub: of the default branch), truncated; absent: none is read. */
  readonly instructions?: { readonly path: string; readonly text: string };
  /** Repository settings that the operator's ceilings lowered, one sentence each. */
  readonly lowered: readonly string[];
  /** Ids of the run's copies of its submodules, and of the working tree's packages, which replace set-up; absent: none. */
  readonly submodules?: string;
  readonly lent?: string;
  /** Absent: earlier runs changed nothing in this one. */
  readonly learned?: Learned;
  readonly conventionalTitles?: true;
}

/** The states of a run; `NEXT` below has the legal transitions. */
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

/** The states that may follow each state. `failed` and `cancelled` may follow any state that is not final. */
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
  // Coding and judging are over: a person picks one candidate, or none.
  awaiting_pick: ['published', 'closed'],
  published: ['merged', 'closed'],
  merged: [],
  closed: [],
  failed: [],
  cancelled: [],
};

/** A final state that people can leave: they reopen its pull request. */
const REOPENED: Partial<Record<RunState, readonly RunState[]>> = { closed: ['published', 'merged'] };

/** A run in a final state holds no resources and takes no further step; `published` is not final. */
export const isFinal = (state: RunState): boolean => NEXT[state].length === 0;

/** The run's own work is over, whatever people do with its result later. */
export const isOver = (state: RunState): boolean =>
  isFinal(state) || state === 'published' || state === 'awaiting_pick';

/** States in which a run still has work of its own, or waits for an answer that it needs for it. */
export const ACTIVE_STATES: readonly RunState[] = RUN_STATES.filter((state) => !isOver(state));

type Move =
  | { readonly kind: 'moved' }
  | { readonly kind: 'same' }
  | { readonly kind: 'refused'; readonly why: string };

/** Whether a state may follow another. The current state itself is `same`: steps are repeated after a crash. */
export function move(from: RunState, to: RunState): Move {
  if (from === to) return { kind: 'same' };
  if (NEXT[from].includes(to) || REOPENED[from]?.includes(to)) return { kind: 'moved' };
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
 * Since when active runs may be using what they prepared, milliseconds since 1970 UTC; infinity if no run is active.
 * A stage prepares what it needs and then opens areas on it for hours, with intervals in which no area exists.
 */
export const heldSince = (runs: readonly AtWork[]): number =>
  Math.min(
    ...runs
      .filter(({ state }) => !isOver(state) && !PREPARES_AGAIN.has(state))
      .map(({ stages }) => Math.max(0, ...stages.map(({ startedAt }) => startedAt))),
  );
