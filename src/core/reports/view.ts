import type { Dialogue } from '../brief/index.ts';
import type { Debate } from '../debate/index.ts';
import type { BaseFacts, Evidence, TestTable } from '../evidence/index.ts';
import type { IndependentTestReport } from '../independent-tests/index.ts';
import type { Judgement, WinnerReview } from '../judging/index.ts';
import type {
  Actor,
  Alias,
  Brief,
  Candidate,
  Contestant,
  FaultCode,
  FieldEnd,
  Overlaps,
  PullWork,
  RunId,
  RunState,
  Sha,
  Stage,
  StageTimes,
  Task,
  Usage,
  Usd,
} from '../model/index.ts';
import type { Patch } from '../patches/index.ts';
import type { Decision, Ranked } from '../ranking/index.ts';
import type { CommandName, Settings } from '../settings/index.ts';

/** The origin of a run, as far as readers need it. */
export type OriginView =
  | {
      readonly kind: 'github';
      readonly repository: string;
      /** Number of the issue, or of the pull request if `work` describes work on one. */
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

/** The published results of a run, in the shape in which the store keeps them. */
export type OutcomeView =
  | {
      readonly kind: 'pull';
      readonly number: number;
      readonly url: string;
      readonly branch: string;
      /** The commit that Runoff pushed there last. */
      readonly headSha: Sha;
      /** That commit starts GitHub's CI although the settings hold it: a person asked for it. */
      readonly ciStarted?: true;
      readonly branches: Readonly<Record<Alias, string>>;
      readonly comparisonUrl: string;
    }
  | { readonly kind: 'branches'; readonly branches: Readonly<Record<Alias, string>> }
  | {
      readonly kind: 'table';
      readonly comparisonUrl?: string;
      /** Why the winner has no pull request, as a sentence; absent if none was to be opened. */
      readonly refusedBecause?: string;
      /** The reason is not a rejection by GitHub: the winner's stored changes are damaged. */
      readonly isDamaged?: true;
      readonly branches: Readonly<Record<Alias, string>>;
    };

interface TroubleView {
  readonly code: FaultCode | 'REFUSED';
  readonly message: string;
  readonly advice: string;
}

/** The path of the defining file for each command, or `SUGGESTED`. */
export type CommandFiles = Readonly<Partial<Record<CommandName | 'types', string>>>;

/** A step on the base commit before coders start, with its command. */
export type BaseStep =
  | { readonly name: 'checkout' | 'lend' }
  | { readonly name: 'set-up' | 'build' | 'types' | 'tests'; readonly command: string };

/** A part of the examination of all candidates. */
export interface ExaminationStep {
  readonly name:
    | 'candidates'
    | 'repeats'
    | 'surroundings'
    | 'mutants'
    | 'probes'
    | 'own-tests'
    | 'peer-tests'
    | 'written-tests';
  /** How many of its runs are done, out of how many; `of` is null if their number is not known beforehand. */
  readonly done: number;
  readonly of: number | null;
  /** Milliseconds that were left of the examination's time when this was reported. */
  readonly leftMs: number;
}

/** Critics read the winner's diff, and their tests are run. */
interface ReviewStep {
  readonly name: 'review';
}

/** What is being executed on the base commit or on candidates. */
export type ActivityStep = BaseStep | ExaminationStep | ReviewStep;

/** Packages that are installed in the working tree of a local repository, and what became of them. */
export type LentView =
  /** Base and candidates use a copy of these folders. `instead`: the set-up command that was not run. */
  | { readonly kind: 'used'; readonly folders: readonly string[]; readonly instead?: string }
  /** `why`: a clause. */
  | { readonly kind: 'unused'; readonly why: string };

/** Commands in use on base and candidates. */
export interface ChecksView {
  readonly setup?: string;
  readonly build?: string;
  /** The type check; absent for none, or if it is a step of the tests. */
  readonly types?: string;
  /** Absent if no test command is known for the repository. */
  readonly test?: string;
  /** The file that defines each command: the settings file, or another one from which it was detected. */
  readonly from?: CommandFiles;
  /** Commands set by the settings, including disabled ones: they are never replaced. */
  readonly named?: readonly CommandName[];
  /** Detected commands that failed on the base commit, with their replacements if any. */
  readonly instead?: Readonly<Partial<Record<CommandName, string>>>;
  /** Packages of the local working tree; absent: none were considered. */
  readonly lent?: LentView;
  /** The commands were tried on the base commit and are final for this run. */
  readonly settled?: true;
  /** What is being executed on the base commit or on candidates; absent for nothing. */
  readonly step?: ActivityStep & {
    /** Milliseconds since 1970 UTC. */
    readonly since: number;
  };
  /** Test results on the base commit; absent before they were run there. */
  readonly base?: BaseFacts;
}

/** Where candidates were executed. */
export interface SandboxView {
  readonly backend: string;
  readonly detail: string;
  /** Protections that are weaker than in the default sandbox, one sentence each. */
  readonly weaker: readonly string[];
}

/** A candidate as shown to readers; null is what blind mode hides. */
export interface CandidateView extends Omit<Candidate, 'contestant' | 'usage'> {
  readonly contestant: Contestant | null;
  /** Tokens and cost would tell the model by its price. */
  readonly usage: Usage | null;
}

/** How far a sequential field has got, and what it probably costs. US dollars; null: unknown, or hidden by blind mode. */
export interface SequenceView {
  /** Contestants that start at once, and all of them. */
  readonly first: number;
  readonly of: number;
  /** What these probably cost. */
  readonly firstUsd: Usd | null;
  readonly allUsd: Usd | null;
  /** Absent while further contestants may start. */
  readonly end?: FieldEnd;
}

/** One run as shown to readers: all data that reports may use. */
export interface RunView {
  readonly id: RunId;
  readonly origin: OriginView;
  readonly title: string;
  readonly state: RunState;
  readonly stages: readonly StageView[];
  readonly candidates: readonly CandidateView[];
  /** Blind mode hides who wrote which candidate. */
  readonly namesHidden?: true;
  readonly evidence: readonly Evidence[];
  readonly ranking: readonly Ranked[];
  /** All test results; absent where only the evidence was read, or if they are not kept. */
  readonly testTable?: TestTable;
  readonly independentTests?: IndependentTestReport;
  readonly judgement?: Judgement;
  readonly decision?: Decision;
  /** Reviews of the candidates in first place, in order. */
  readonly review?: readonly WinnerReview[];
  readonly outcome?: OutcomeView;
  readonly trouble?: TroubleView;
  /** Why it was cancelled, or ended without a merge: a clause; absent if it was not. */
  readonly endedBecause?: string;
  /** `spent` is the cost of the whole run metered by the gateway, including the planner. */
  readonly budget: {
    readonly run: Usd;
    /** Maximum cost of one candidate; absent if unknown. */
    readonly candidate?: Usd;
    readonly spent: Usd;
  };
  /** The repository's titles are conventional commits, and so are Runoff's; absent otherwise. */
  readonly conventionalTitles?: true;
  /** What each stage usually takes in this repository; absent: too few runs. */
  readonly times?: StageTimes;
  /** Maximum time of one coder, in milliseconds; absent if unknown. */
  readonly candidateMs?: number;
  readonly checks?: ChecksView;
  readonly sandbox?: SandboxView;
  readonly base?: Task['base'];
  /** The commit of the base branch at publication, if it differs from `base`. */
  readonly baseMovedTo?: Sha;
  /** Open pull requests that change files of the published candidate, too; absent if none were looked for. */
  readonly overlaps?: Overlaps;
  /** The issue's title or text has changed since the run started. */
  readonly editedSince?: boolean;
  /** The person who requested the run; absent for local runs. */
  readonly requestedBy?: Actor;
  /** One for each voter; voters have write permission. */
  readonly votes?: readonly { readonly by: Actor; readonly alias: Alias }[];
  /**
   * People's picks, in order; the last one is in effect. `alias` null: none of them; `by` null: at the command line.
   */
  readonly picks?: readonly { readonly alias: Alias | null; readonly by: Actor | null }[];
  readonly brief?: Brief;
  readonly debate?: Debate;
  /** Questions about the brief and people's answers; absent if none were asked. */
  readonly dialogue?: Dialogue;
  /** Of a queued run; position 1 starts next. `why`: an additional reason for waiting, a sentence. */
  readonly queue?: { readonly position: number; readonly of: number; readonly why?: string };
  /** Repository settings that the operator's ceilings lowered, one sentence each. */
  readonly lowered?: readonly string[];
  /** What earlier runs of the repository changed in this one, one sentence each; absent for nothing. */
  readonly learned?: readonly string[];
  /** Of a sequential field; absent if all contestants start at once. */
  readonly sequence?: SequenceView;
  /** Comments that the task lacks because of a limit, one sentence each. */
  readonly leftOut?: readonly string[];
  /** The label that requests a run: removed when the run starts; setting it again starts a new one. */
  readonly label: string;
  /** The page of the run; absent without pages, and for local runs. */
  readonly pageUrl?: string;
  /** `hold`: the pushed commits ask GitHub's CI to skip them. */
  readonly ci: Settings['ci'];
  /** Milliseconds since 1970 UTC. `now` is the time of the view; for a finished run, the time of its end. */
  readonly startedAt: number;
  readonly now: number;
}

/** A candidate's patch, for the reports that show it. */
export interface DiffView {
  readonly patch: Patch;
  /** GitHub's page that compares base and branch; absent if no branch was pushed. */
  readonly compareUrl?: string;
}
export type Diffs = Readonly<Record<Alias, DiffView>>;

/** A comment, or the body of a pull request. The marker is also the first line of the body. */
export interface Report {
  readonly marker: string;
  readonly body: string;
}

/** The complete basis of a decision as plain JSON: execution results, all scores, and the judges' verdicts. */
export interface DecisionRecord {
  /** Of all examined candidates. */
  readonly evidence: readonly Evidence[];
  /** Best first, with the scores of each strategy and what separates each candidate from the next. */
  readonly ranking: readonly Ranked[];
  readonly decision: Decision | null;
  /** Null if no judge was asked. */
  readonly judgement: Judgement | null;
}

/** The fault or refusal that ended a run without a result; undefined if its result was published all the same. */
export const fatalTrouble = ({ state, trouble }: RunView): TroubleView | undefined =>
  state === 'failed' || state === 'refused' ? trouble : undefined;

/** Null until the run is decided. */
export const decisionRecord = ({ evidence, ranking, decision, judgement }: RunView): DecisionRecord | null =>
  decision ? { evidence, ranking, decision, judgement: judgement ?? null } : null;
