import type { Alias } from '../model/index.ts';
import type { Behaviour } from './behaviour.ts';
import type { ExaminationCut } from './examination-time.ts';

/** The gates in the order in which they are checked; a candidate that fails one is not a survivor (I7). */
export const GATES = [
  'collected',
  'content',
  'safe',
  'scope',
  'untampered',
  'parses',
  'builds',
  'tests-run',
  'steady',
] as const;
export type GateName = (typeof GATES)[number];

export interface GateReport {
  readonly gate: GateName;
  readonly passed: boolean;
  /** One sentence; for a failure it names file and line where there is one. */
  readonly because: string;
  /** The lines of the patch that broke the gate, bounded. */
  readonly hunk?: string;
}

export type TestOutcome = 'passed' | 'failed' | 'skipped';

/** The part of a run that belongs to one package of a workspace, or, with folder null, to none. */
export interface PackageRun extends Pick<TestRun, 'exitCode' | 'stopped' | 'ms' | 'source'> {
  readonly folder: string | null;
  /** Ids of its steps beside the tests. */
  readonly steps: readonly string[];
}

/** One execution of a test command in the sandbox. */
export interface TestRun {
  /**
   * `exit-code`: the runner gave no structured report, so `tests` has at most the steps beside the tests. `none`: no
   * command was run, as the repository has none or the base shows that it cannot run; nothing else of the run means
   * anything.
   */
  readonly source: 'report' | 'exit-code' | 'none';
  /** Of the tests; a step beside them that fails shows in `tests`. */
  readonly exitCode: number | null;
  readonly stopped: 'wall' | 'silence' | 'memory' | 'disk' | 'cancelled' | null;
  readonly ms: number;
  /** By test id: file, suites and name joined by ` > `; a repeated id gets ` #2`, ` #3`. */
  readonly tests: Readonly<Record<string, TestOutcome>>;
  /** Ids in `tests` that are steps of the command beside the tests, as a linter; absent for none. */
  readonly steps?: readonly string[];
  /** Where the command was taken apart by packages of a workspace: what was run of each. Absent for any other run. */
  readonly packages?: readonly PackageRun[];
  /** The end of the output, bounded, escapes removed. */
  readonly tail: string;
  /** The lines of the output that say why the command failed; absent for one that did not. */
  readonly errors?: readonly string[];
  /** What the runner said about failing tests, by id; bounded. Absent where it said nothing. */
  readonly messages?: Readonly<Record<string, string>>;
  /** Names of which the output says that they are not there; bounded. Absent for none. */
  readonly missingNames?: readonly string[];
  /** How often this suite was run to make this one answer; absent: once. */
  readonly runs?: number;
  /**
   * Tests that did not always give the same answer, sorted. Of several runs of the base they are not in `tests`: they are
   * quarantined. Of a candidate they are in `tests`, by majority.
   */
  readonly flaky?: readonly string[];
  /** The steps of the command were run one by one although the tests leave no report; absent for any other run. */
  readonly bySteps?: true;
  /** Of the base: what the comparison leaves out, and why, in sentences for people. Absent for nothing. */
  readonly notes?: readonly string[];
}

/** What the base suite, with base versions of all test files, said about a candidate's production code. */
export interface BaseTests {
  readonly passed: number;
  readonly failed: number;
  readonly total: number;
  /** Tests that pass on base and fail, are skipped or are missing here. With `exit-code` only: the one id `exit code`. */
  readonly regressions: readonly string[];
  /** Tests that fail on base and pass here; without steps beside the tests, and without what lacks something of the environment there. */
  readonly fixed: readonly string[];
  /** Tests that most survivors of several families break: taken out of `regressions`, a person is asked. */
  readonly contested?: readonly string[];
  /**
   * Tests that do not always give the same answer, sorted: on the base, so that they count for nothing here, or here, so that
   * two of three runs decided. Absent for none.
   */
  readonly flaky?: readonly string[];
  /** How often the suite was run on the base to find those; absent: once, as it takes long. */
  readonly baseRuns?: number;
  /** What the comparison leaves out on the base, and why, in sentences; absent for nothing. */
  readonly notes?: readonly string[];
  readonly source: Exclude<TestRun['source'], 'none'>;
  /** The base has no test that is known to pass: what is not broken here says nothing. Absent where it has. */
  readonly silent?: true;
  readonly exitCode: number | null;
  readonly ms: number;
}

/**
 * Tests that another survivor wrote, run on this candidate's production code. Those count that pass on their author's code
 * and not on the base: they ask for what the base lacks. Of these, one that needs a name which only its author has says
 * nothing here and is left out of `total`.
 */
export interface PeerTests {
  readonly author: Alias;
  readonly passed: number;
  readonly total: number;
  /** Bounded; all are counted. */
  readonly failing: readonly string[];
  /**
   * One letter for each test that counts, in the order of their ids: `p` passes here, `f` fails here, `n` needs a name
   * that only its author has. Bounded. The same place is the same test wherever this author's tests were run, so that a
   * test which fails on all others can be told.
   */
  readonly results?: string;
  /**
   * New tests that pass on the base too: they ask for nothing new, they say that something must stay. A failing one is a
   * regression that the base's own tests do not see. Absent for none.
   */
  readonly guards?: { readonly passed: number; readonly total: number; readonly failing: readonly string[] };
}

/** Where a test comes from that nobody who competes has written. */
export const INDEPENDENT_TEST_ORIGINS = ['issue', 'writer', 'distinguishing', 'reviewer'] as const;
export type IndependentTestOrigin = (typeof INDEPENDENT_TEST_ORIGINS)[number];

/** Neutral tests that were admitted by execution, run on one candidate's production code. */
export interface IndependentTests {
  readonly passed: number;
  readonly total: number;
  readonly failing: readonly {
    readonly id: string;
    readonly origin: IndependentTestOrigin;
    /** The end of what the runner said about it, bounded; absent where it said nothing. */
    readonly message?: string;
  }[];
}

export const NO_INDEPENDENT_TESTS: IndependentTests = { passed: 0, total: 0, failing: [] };

/** All that was executed for one candidate. Plain JSON. */
export interface Evidence {
  readonly alias: Alias;
  readonly gates: readonly GateReport[];
  readonly survivor: boolean;
  /** SHA-256 of the patch text, or the empty string where there is none: orders what is tied. */
  readonly patchSha256: string;
  /** Added plus removed lines of production files. */
  readonly productionLines: number;
  /** Tests in this patch that the base does not have, or has in a weaker form, and that pass on its own code. */
  readonly addedTests: number;
  /** How many of these fail without its production changes. */
  readonly provenTests?: number;
  /** Coder's wall time, milliseconds. */
  readonly coderMs: number;
  /** Absent where nothing was run. */
  readonly baseTests?: BaseTests;
  /** Absent where no independent test was admitted. */
  readonly independentTests?: IndependentTests;
  /** Examples from the issue that no candidate meets, bounded: either all are wrong or they were read wrongly. Absent for none. */
  readonly unmetExamples?: readonly string[];
  /** What was left out of the examination of all candidates for lack of time; absent for nothing. */
  readonly cut?: ExaminationCut;
  /** A defect that a reviewer named on a changed line and that execution did not refute; absent where it found none. */
  readonly doubt?: string;
  readonly peerTests: readonly PeerTests[];
  /** How it behaved on inputs derived from tests and issue, next to the others; absent where nothing was observed. */
  readonly behaviour?: Omit<Behaviour, 'id'>;
  /** Graded agreement of its source changes with the other survivors', in [0, 1]; absent where there is no other. */
  readonly agreement?: number;
  /** Files and functions that it changes, with how many other survivors change each; bounded. Absent where there is no other. */
  readonly changes?: readonly { readonly name: string; readonly others: number }[];
  /** Its class: candidates whose production changes are the same but for comments and layout, itself included; sorted. */
  readonly alike?: readonly Alias[];
  /** Family of the model that wrote it; absent where nobody knows. */
  readonly family?: string;
  /** Of the patch's form alone, 0 to 120, and a sentence for each rule that applied; see `staticScore`. */
  readonly staticScore?: { readonly score: number; readonly because: readonly string[] };
}
