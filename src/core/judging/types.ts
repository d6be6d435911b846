import type { Alias, Usage } from '../model/index.ts';
import type { PatchFile } from '../patches/index.ts';

/** Who wrote a candidate. Never shown to judges: it chooses them, and says what must be scrubbed. */
export interface Author {
  readonly agent: string;
  /** `provider/model`. */
  readonly model: string;
  readonly prompt: string;
}

/** An input on which a candidate did not do what was expected, from an executed test. */
interface FailingInput {
  readonly input: string;
  readonly expected: string;
  readonly got: string;
}

/** Tests of one kind that were executed on a candidate's code. */
export interface TestFact {
  readonly passed: number;
  readonly total: number;
  /** Names of failing tests. Only of tests that no candidate wrote: a name is free text. */
  readonly failing: readonly string[];
}

/** What was executed, as far as judges are shown it. Absent: was not executed. */
export interface ExecutionFacts {
  /** The repository's own tests; `failing` are the regressions. */
  readonly base?: TestFact;
  /** Tests that a writer made from the brief alone. */
  readonly independent?: TestFact;
  /** Tests that other candidates wrote: counts only. */
  readonly peers?: { readonly passed: number; readonly total: number };
  readonly inputs: readonly FailingInput[];
  /** Inputs on which it behaves otherwise than most others: who is right is not known. */
  readonly differences: readonly { readonly input: string; readonly others: string; readonly own: string }[];
}

/** One candidate as it is put before the judges. */
export interface Competitor {
  readonly alias: Alias;
  readonly files: readonly PatchFile[];
  readonly facts: ExecutionFacts;
  /** Null where nobody knows, as with a stored patch. */
  readonly author: Author | null;
}

/** What the judges decide on. */
export interface JudgingPool {
  /** What was asked for: the brief where there is one, the issue otherwise. Untrusted text. */
  readonly task: string;
  /** In order of evidence, best first: seeds the knockout, and breaks its ties. Nothing else depends on the order. */
  readonly competitors: readonly Competitor[];
  /** Everyone who competed in the run, those who were ruled out before included: their names are scrubbed as well. */
  readonly authors: readonly Author[];
}

/** From the point of view of `a`. */
export type PairOutcome = 'a' | 'b' | 'tie';

export interface JudgedPair {
  readonly a: Alias;
  readonly b: Alias;
  /** One for each judge whose two answers counted, one for each order. */
  readonly byJudge: readonly {
    readonly judge: string;
    readonly outcome: PairOutcome;
    /** False: the order alone changed the answer, so that it counts as a tie. */
    readonly consistent: boolean;
    /** Of the answer given when `a` stood first. A model's words. */
    readonly because: string;
    /** The changed lines that it named, which are there. */
    readonly cited: readonly { readonly alias: Alias; readonly file: string; readonly line: number }[];
  }[];
  /** Judges see the same text of both, so that nobody was asked: a tie. */
  readonly alike?: true;
}

export interface JudgeRecord extends Judge {
  /** Answers asked for, and those that counted. */
  readonly asked: number;
  readonly answered: number;
  /** A sentence for each answer that did not count, equal ones once. */
  readonly problems: readonly string[];
  /** Why none of its answers counts. */
  readonly discarded?: string;
  /** It judged a candidate of its own family. */
  readonly ownFamily: boolean;
}

export interface JudgedStanding {
  readonly alias: Alias;
  /** Bradley-Terry, log-odds with mean near 0; `error` is its standard error. */
  readonly strength: number;
  readonly error: number;
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
}

/** Text in a candidate's patch that speaks to whoever reads it. Shown to people; judges do not see it. */
export interface PromptInjection {
  readonly alias: Alias;
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** What a judge says would fail. A claim, not evidence: it may be turned into a test and executed. */
export interface FailureClaim extends FailingInput {
  readonly alias: Alias;
  readonly judge: string;
}

export type JudgedConfidence = 'clear' | 'likely' | 'toss-up';

/** One of the judges; its place in the list names it. */
export interface Judge {
  /** `judge-1`, …: also its spender in the ledger. */
  readonly judge: string;
  /** `provider/model`. */
  readonly model: string;
  readonly family: string;
}

/** What the judges said, as plain JSON. It never makes a candidate win that failed a gate: only survivors are put before them. */
export interface Judgement {
  /** `discarded`: there were answers, and none can be used. `unanswered`: there were none. */
  readonly kind: 'judged' | 'discarded' | 'unanswered';
  readonly format: 'round-robin' | 'knockout';
  /** One sentence for people. */
  readonly because: string;
  /** Strongest first, equals in order of evidence; empty unless `judged`. */
  readonly standings: readonly JudgedStanding[];
  /** The strongest against the next; `toss-up` unless `judged`. */
  readonly confidence: JudgedConfidence;
  /** Standard errors between the strongest and the next; 0 unless `judged`. */
  readonly margin: number;
  readonly pairs: readonly JudgedPair[];
  readonly judges: readonly JudgeRecord[];
  /** Judges asked, and judges of whom at least one pair counted. */
  readonly quorum: { readonly asked: number; readonly answered: number };
  /** What was left out or is weaker, a sentence each. */
  readonly notes: readonly string[];
  readonly injections: readonly PromptInjection[];
  readonly claims: readonly FailureClaim[];
  readonly spent: Usage;
}
