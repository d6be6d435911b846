import type { NeutralOrigin, NeutralTests, TestOutcome } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';

/** A test file that nobody who competes has written. Plain JSON. */
export interface NeutralTest {
  /** Ours, unique in a run: `writer-1`, `distinguishing-2`, `issue-3`. */
  readonly id: string;
  readonly origin: NeutralOrigin;
  /** Where it is laid, from the top of the repository. Chosen by us, never by a model (I6). */
  readonly path: string;
  readonly text: string;
  /** What it should do on the base: `fails` for what the task asks for, `passes` for what must stay as it is. */
  readonly onBase: 'fails' | 'passes';
  /**
   * `file`: the whole file is one vote, lost by a candidate that fails any admitted case of it. `case`: each case is a
   * vote of its own, for a file that gathers independent examples.
   */
  readonly votes: 'file' | 'case';
  /** Ids of its cases as the runner reports them; absent: all new ones that are reported for the file. */
  readonly cases?: readonly string[];
  /** In the writer's words: what it checks. */
  readonly title?: string;
  /** Words of issue or brief that its expectation rests on. */
  readonly quote?: string;
  /** In the writer's words: why the quote means this expectation. */
  readonly why?: string;
}

/** One execution of one test file on one tree. */
export interface Trial {
  /**
   * `ran`: the runner reported; a case that is not in `cases` did not pass. `broke`: it was stopped, did not build or left no
   * report, so no case passed. `unknown`: says nothing of this tree, as an exit code does of one whose own tests fail.
   */
  readonly kind: 'ran' | 'broke' | 'unknown';
  /** By case id, of this file only. */
  readonly cases: Readonly<Record<string, TestOutcome>>;
  /** The end of what the runner said, bounded; absent where it is not known to be about this file. */
  readonly said?: string;
}

/** All executions of one test: the same number on each tree for a test that stayed in question. */
export interface Trials {
  readonly base: readonly Trial[];
  /** By alias. */
  readonly survivors: Readonly<Record<Alias, readonly Trial[]>>;
}

/** `refactoring`: behaviour is to stay as it is, so tests that pass on the base count like any other. */
export type Aim = 'change' | 'refactoring';

/** What became of a test, or of one case of it. */
export type Standing = 'admitted' | 'suspect' | 'refused';

/** One vote: a test file, or one case of it. */
export interface NeutralVote {
  /** The test's id, or the case's. */
  readonly id: string;
  /** The test it belongs to. */
  readonly test: string;
  readonly origin: NeutralOrigin;
  /**
   * `suspect`: it behaves on the base as it should and no survivor meets it (or most change what it wants to stay), so
   * that rather the test is wrong: shown, never scored. `refused`: not fit to say anything.
   */
  readonly standing: Standing;
  /** One sentence for people. */
  readonly because: string;
  /** Aliases that pass it, and that fail it, sorted, as far as it was tried on them. Who is in neither is not judged by it. */
  readonly passedBy: readonly Alias[];
  readonly failedBy: readonly Alias[];
}

/** What the neutral tests of a run say. Plain JSON. */
export interface Admission {
  readonly tests: readonly NeutralTest[];
  /** One for each vote, in order of the tests. */
  readonly votes: readonly NeutralVote[];
  /** Of every survivor that was tried, by alias; without an entry where no test was admitted. */
  readonly byAlias: Readonly<Record<Alias, NeutralTests>>;
}
