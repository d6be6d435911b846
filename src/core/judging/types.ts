import type { Alias, Usage } from '../model/index.ts';
import type { PatchFile } from '../patches/index.ts';

/** The author of a candidate. Never shown to judges; used to select them and to scrub names. */
export interface Author {
  readonly agent: string;
  /** `provider/model`. */
  readonly model: string;
  readonly prompt: string;
}

/** An input for which a candidate did not produce the expected result in an executed test. */
interface FailingInput {
  readonly input: string;
  readonly expected: string;
  readonly got: string;
}

/** Tests of one kind that were executed on a candidate's code. */
export interface TestFact {
  readonly passed: number;
  readonly total: number;
  /** Names of failing tests. Only of tests that no candidate wrote, because a name is free text. */
  readonly failing: readonly string[];
}

/** Execution evidence, as far as judges see it. Absent: not executed. */
export interface ExecutionFacts {
  /** The repository's own tests; `failing` are the regressions. */
  readonly base?: TestFact;
  /** Tests generated from the brief alone. */
  readonly independent?: TestFact;
  /** Tests of other candidates: counts only. */
  readonly peers?: { readonly passed: number; readonly total: number };
  readonly inputs: readonly FailingInput[];
  /**
   * Inputs for which it behaves differently from most others that pass the given tests. Which behaviour is correct is
   * unknown.
   */
  readonly differences: readonly { readonly input: string; readonly others: string; readonly own: string }[];
}

/** One candidate as shown to judges. */
export interface Competitor {
  readonly alias: Alias;
  readonly files: readonly PatchFile[];
  readonly facts: ExecutionFacts;
  /** Null when unknown, for example for a stored patch. */
  readonly author: Author | null;
}

/** The input of a judgement. */
export interface JudgingPool {
  /** The task: the brief if there is one, otherwise the issue. Untrusted text. */
  readonly task: string;
  /** In order of evidence, best first: seeds the knockout and breaks its ties. The order has no other effect. */
  readonly competitors: readonly Competitor[];
  /** All authors in the run, including those of rejected candidates: their names are scrubbed, too. */
  readonly authors: readonly Author[];
}

/** From the point of view of `a`. */
export type PairOutcome = 'a' | 'b' | 'tie';

export interface JudgedPair {
  readonly a: Alias;
  readonly b: Alias;
  /** One for each judge with two valid answers, one per order. */
  readonly byJudge: readonly {
    readonly judge: string;
    readonly outcome: PairOutcome;
    /** False when the verdict changed with the order; it then counts as a tie. */
    readonly consistent: boolean;
    /** From the answer in which `a` came first. Written by a model. */
    readonly because: string;
    /** The changed lines that it cited, all verified. */
    readonly cited: readonly { readonly alias: Alias; readonly file: string; readonly line: number }[];
  }[];
  /** Judges would see identical patches: counts as a tie without asking. */
  readonly alike?: true;
}

export interface JudgeRecord extends Judge {
  /** Number of answers requested, and number that counted. */
  readonly asked: number;
  readonly answered: number;
  /** Why answers did not count, one sentence each, without duplicates. */
  readonly problems: readonly string[];
  /** Why none of its answers count. */
  readonly discarded?: string;
  /** It judged a candidate written by its own family. */
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

/** An injection in a candidate's patch. Shown to people; hidden from judges. */
export interface PromptInjection {
  readonly alias: Alias;
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** A failure predicted by a judge. A claim, not evidence: it may be turned into a test and executed. */
export interface FailureClaim extends FailingInput {
  readonly alias: Alias;
  readonly judge: string;
}

export type JudgedConfidence = 'clear' | 'likely' | 'toss-up';

/** One of the judges, identified by its position in the list. */
export interface Judge {
  /** `judge-1`, …: also its spender in the ledger. */
  readonly judge: string;
  /** `provider/model`. */
  readonly model: string;
  readonly family: string;
}

/**
 * The combined verdict of the judges, as plain JSON. Only survivors are judged, so a candidate that failed a gate
 * never wins by it.
 */
export interface Judgement {
  /** `discarded`: no answer was valid. `unanswered`: there was no answer. */
  readonly kind: 'judged' | 'discarded' | 'unanswered';
  readonly format: 'round-robin' | 'knockout';
  /** One sentence for people. */
  readonly because: string;
  /** Strongest first, equals in order of evidence; empty unless `judged`. */
  readonly standings: readonly JudgedStanding[];
  /** Confidence that the strongest beats the next; `toss-up` unless `judged`. */
  readonly confidence: JudgedConfidence;
  /** Standard errors between the strongest and the next; 0 unless `judged`. */
  readonly margin: number;
  readonly pairs: readonly JudgedPair[];
  readonly judges: readonly JudgeRecord[];
  /** Number of judges asked, and of judges with at least one pair that counted. */
  readonly quorum: { readonly asked: number; readonly answered: number };
  /** What was left out or is less reliable, one sentence each. */
  readonly notes: readonly string[];
  readonly injections: readonly PromptInjection[];
  readonly claims: readonly FailureClaim[];
  readonly spent: Usage;
}
