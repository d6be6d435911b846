import type { Alias, RunId, Sha, Usd } from './run.ts';

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
export const FURTHER_ROUNDS = ['repair', 'one-more', 'synthesis'] as const;
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
