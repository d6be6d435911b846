/** What a changed file is for. Only `source` is compared between candidates. */
export type FileUse = 'source' | 'test' | 'docs' | 'config' | 'scratch';

/** A candidate as agreement sees it: the text of its patch, and optionally who stands behind it. */
export interface AgreeingPatch {
  /** An alias, or the id of a request; names the candidate in the result and has no other effect. */
  readonly id: string;
  /** Unified diff, git's or plain; whatever it holds, reading it does not fail. */
  readonly text: string;
  /** Model family of its author: candidates of one family have one vote together. Absent: nothing is known. */
  readonly family?: string | undefined;
  /** Whether it applies to the base. Absent: nobody tried. */
  readonly applies?: boolean | undefined;
}

/** What makes a patch unlikely to be right, whatever the others do. */
export const GUARDS = [
  /** It was tried, and the patch does not apply to the base. */
  'does-not-apply',
  /** It changes tests, docs, configuration or scratch files only. */
  'no-source-change',
  /** Nothing that it changes is more than comments and formatting; also an empty patch. */
  'no-effective-change',
  /** A hunk closes more brackets than it opens, or fewer. */
  'unbalanced-brackets',
  /** It takes many lines out of tests that were there. */
  'removes-tests',
  /** Reproductions, debug scripts or backups are left in it. */
  'scratch-files',
] as const;
export type Guard = (typeof GUARDS)[number];

/** How far one candidate agrees with the others of its pool. */
export interface Agreement {
  readonly id: string;
  /** What ranks candidates: grows with `share` and is lowered by every guard; 0 to 1. */
  readonly score: number;
  /** Agreement of its source changes with the others', the mean over votes, 0 to 1; 0 where there is no other. */
  readonly share: number;
  /** The part of `share` that says: its changes read like the others'. */
  readonly text: number;
  /** The part of `share` that says: it changes something wherever the others do. */
  readonly cover: number;
  /** 0-based number of its class, in order of the classes' `normalised` text. */
  readonly cls: number;
  /** Ids of the candidates in its class, its own included, sorted. */
  readonly alike: readonly string[];
  /** Files that it changes, of those that are compared, sorted, and how many of the other candidates change each. */
  readonly files: readonly Shared[];
  /** Functions that it changes, as `path: first line`, as far as the diff names them. */
  readonly functions: readonly Shared[];
  readonly guards: readonly Guard[];
}

export interface Shared {
  readonly name: string;
  /** How many of the other candidates change it too. */
  readonly others: number;
}

/** The static score: never below 0, at most 120. */
export interface StaticScore {
  readonly score: number;
  /** Each deduction and each bonus as a sentence, in the order of the rules. */
  readonly because: readonly string[];
}
