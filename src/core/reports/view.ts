import type { Dialogue } from '../brief/index.ts';
import type { Debate } from '../debate/index.ts';
import type { BaseFacts, Evidence } from '../evidence/index.ts';
import type { IndependentTestReport } from '../independent-tests/index.ts';
import type { Judgement, WinnerReview } from '../judging/index.ts';
import type {
  Actor,
  Alias,
  Brief,
  Candidate,
  FaultCode,
  PullWork,
  RunId,
  RunState,
  Sha,
  Stage,
  Usd,
} from '../model/index.ts';
import type { Patch } from '../patches/index.ts';
import type { Decision, Ranked } from '../ranking/index.ts';
import type { CommandName, Settings } from '../settings/index.ts';

/** Where a run came from, as far as a reader needs it. */
export type OriginView =
  | {
      readonly kind: 'github';
      readonly repository: string;
      /** Of the issue; of the pull request where `work` says what is done on one. */
      readonly issue: number;
      readonly work?: PullWork;
    }
  | { readonly kind: 'local'; readonly path: string };

interface StageView {
  readonly stage: Stage;
  /** Milliseconds since 1970 UTC. */
  readonly startedAt: number;
  readonly endedAt?: number;
}

/** What a run left behind where its users look; the store keeps it in this shape. */
export type OutcomeView =
  | {
      readonly kind: 'pull';
      readonly number: number;
      readonly url: string;
      readonly branch: string;
      /** The commit that we pushed there last. */
      readonly headSha: Sha;
      readonly branches: Readonly<Record<Alias, string>>;
      readonly comparisonUrl: string;
    }
  | { readonly kind: 'branches'; readonly branches: Readonly<Record<Alias, string>> }
  | {
      readonly kind: 'table';
      readonly comparisonUrl?: string;
      /** Why there is no pull request of the winner, a sentence; absent where none was to be opened. */
      readonly refusedBecause?: string;
      /** It was not GitHub who refused it: what the winner changed is damaged. */
      readonly isDamaged?: true;
      readonly branches: Readonly<Record<Alias, string>>;
    };

interface TroubleView {
  readonly code: FaultCode | 'REFUSED';
  readonly message: string;
  readonly advice: string;
}

/** A path in the repository for each command, or `SUGGESTED`. */
export type CommandFiles = Readonly<Partial<Record<CommandName, string>>>;

/** What is done with the base commit before coders start, and the command that does it. */
export type BaseStep =
  | { readonly name: 'checkout' }
  | { readonly name: 'set-up' | 'build' | 'tests'; readonly command: string };

/** Commands in use on base and candidates. */
export interface ChecksView {
  readonly setup?: string;
  readonly build?: string;
  /** Absent where the repository has no tests that Runoff knows how to run. */
  readonly test?: string;
  /** The file that says each command: the settings file, or another one that it was detected from. */
  readonly from?: CommandFiles;
  /** Commands that the settings decide, also where they switch one off: they are never replaced. */
  readonly named?: readonly CommandName[];
  /** Detected commands that failed on the base commit, where another one or none is used. */
  readonly instead?: Readonly<Partial<Record<CommandName, string>>>;
  /** The commands were tried on the base commit, and stay as they are for this run. */
  readonly settled?: true;
  /** What is done with the base commit right now; absent before and after that. */
  readonly step?: BaseStep & {
    /** Milliseconds since 1970 UTC. */
    readonly since: number;
  };
  /** What the tests gave on the base commit; absent before they were run there. */
  readonly base?: BaseFacts;
}

/** Where candidates were executed. */
export interface SandboxView {
  readonly backend: string;
  readonly detail: string;
  /** What is weaker there than in the default sandbox, a sentence each. */
  readonly weaker: readonly string[];
}

/** One run as its readers see it: everything a sentence about it may use. */
export interface RunView {
  readonly id: RunId;
  readonly origin: OriginView;
  readonly title: string;
  readonly state: RunState;
  readonly stages: readonly StageView[];
  readonly candidates: readonly Candidate[];
  readonly evidence: readonly Evidence[];
  readonly ranking: readonly Ranked[];
  readonly independentTests?: IndependentTestReport;
  readonly judgement?: Judgement;
  readonly decision?: Decision;
  /** Reviews of those who had the first place, in order. */
  readonly review?: readonly WinnerReview[];
  readonly outcome?: OutcomeView;
  readonly trouble?: TroubleView;
  /** `spent` is what the gateway metered for the whole run, planner included. */
  readonly budget: {
    readonly run: Usd;
    /** What one candidate may spend; absent where it is not known. */
    readonly candidate?: Usd;
    readonly spent: Usd;
  };
  readonly checks?: ChecksView;
  readonly sandbox?: SandboxView;
  readonly base?: { readonly ref: string; readonly sha: Sha };
  /** What the base branch pointed to when the result was published, where that is another commit than `base`. */
  readonly baseMovedTo?: Sha;
  /** The issue's title or text is another than the one the run was started with. */
  readonly editedSince?: boolean;
  /** Who asked for the run; absent for local runs. */
  readonly requestedBy?: Actor;
  /** One for each person with write permission that voted. */
  readonly votes?: readonly { readonly by: Actor; readonly alias: Alias }[];
  /** What people picked, in order; the last one stands. `alias` null: none of them; `by` null: at the command line. */
  readonly picks?: readonly { readonly alias: Alias | null; readonly by: Actor | null }[];
  readonly brief?: Brief;
  readonly debate?: Debate;
  /** What the run asked about its brief, and what people said; absent where nothing was asked. */
  readonly dialogue?: Dialogue;
  /** Of a queued run; position 1 starts next. `why`: what else it waits for, a sentence. */
  readonly queue?: { readonly position: number; readonly of: number; readonly why?: string };
  /** What the operator's ceilings lowered in the repository's settings, a sentence each. */
  readonly lowered?: readonly string[];
  /** Which comments the task lacks because of a limit, a sentence each. */
  readonly leftOut?: readonly string[];
  /** The label that asks for a run: taken off when it starts, set again to start anew. */
  readonly label: string;
  /** `hold`: the pushed commits ask GitHub's own CI not to start. */
  readonly ci: Settings['ci'];
  /** Milliseconds since 1970 UTC. `now` is when the view was taken; of a run that is over, when it ended. */
  readonly startedAt: number;
  readonly now: number;
}

/** A candidate's patch, for the reports that show it. */
export interface DiffView {
  readonly patch: Patch;
  /** GitHub's page that compares base and branch; absent where no branch was pushed. */
  readonly compareUrl?: string;
}
export type Diffs = Readonly<Record<Alias, DiffView>>;

/** A comment or a pull request's body. The marker is also the first line of the body. */
export interface Report {
  readonly marker: string;
  readonly body: string;
}
