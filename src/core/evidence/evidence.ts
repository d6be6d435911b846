import type { Alias } from '../model/index.ts';
import type { StopReason } from '../settings/index.ts';
import type { AssertionRecords } from './assertion-records.ts';
import type { Behaviour } from './behaviour.ts';
import type { ExaminationCut } from './examination-time.ts';
import type { IndependentTests } from './independent-results.ts';
import type { TamperingFinding } from './integrity/index.ts';
import type { BrokenRules } from './lint-rules.ts';
import type { TaskKind } from './task-kind.ts';

/** The gates in the order in which they are checked. A candidate that fails one is not a survivor (I7). */
export const GATES = [
  'collected',
  'content',
  'safe',
  'scope',
  'untampered',
  'parses',
  'builds',
  'types',
  'tests-run',
  'steady',
] as const;
export type GateName = (typeof GATES)[number];

export interface GateReport {
  readonly gate: GateName;
  readonly passed: boolean;
  /** One sentence. For a failure it names file and line if known. */
  readonly because: string;
  /** The lines of the patch that failed the gate, bounded. */
  readonly hunk?: string;
  /** Of `tests-run`: the tests ran, and some fail in the patch's own test files. Absent for other causes. */
  readonly ownTestsFail?: true;
  /** Of `untampered`: places of the patch that fail it, or that a person should look at; bounded. Absent for none. */
  readonly findings?: readonly TamperingFinding[];
  /** Of `steady`: why assertion libraries were not locked in the other surroundings. Absent if nothing prevented it. */
  readonly unlocked?: Unlocked;
}

/**
 * `base`: more of the base's tests fail with the lock. `unrecorded`: nothing that the candidate's run left shows that
 * the lock started, although the base's run shows it. `differs`: the same, and its tests gave other results with the
 * lock, so that only those of a run without it count. `stopped`: its tests reached a limit there, twice, and not in the
 * usual surroundings.
 */
export type Unlocked = 'base' | 'unrecorded' | 'differs' | 'stopped';

export type TestOutcome = 'passed' | 'failed' | 'skipped';

/** The part of a run that belongs to one package of a workspace; with folder null, to no package. */
export interface PackageRun extends Pick<TestRun, 'exitCode' | 'stopped' | 'ms' | 'source'> {
  readonly folder: string | null;
  /** Ids of its non-test steps. */
  readonly steps: readonly string[];
}

/** One execution of a test command in the sandbox. */
export interface TestRun {
  /**
   * `exit-code`: the runner wrote no structured report, so `tests` holds only non-test steps. `none`: no command was
   * run, because the repository has none or it cannot run on the base; all other fields are then meaningless.
   */
  readonly source: 'report' | 'exit-code' | 'none';
  /** Of the tests. The failure of a non-test step shows in `tests`. */
  readonly exitCode: number | null;
  readonly stopped: StopReason | null;
  readonly ms: number;
  /** By test id: file, suites and name joined by ` > `; a repeated id gets ` #2`, ` #3`. */
  readonly tests: Readonly<Record<string, TestOutcome>>;
  /** Ids in `tests` that are non-test steps of the command, such as a linter; absent for none. */
  readonly steps?: readonly string[];
  /** The run of each package when the command was split by workspace packages; absent otherwise. */
  readonly packages?: readonly PackageRun[];
  /** The modules of a build to which a run of all was restricted; absent: it is not restricted. */
  readonly modules?: readonly string[];
  /** The end of the output, bounded, without escape sequences. */
  readonly tail: string;
  /** The lines of the output that explain the failure of the command; absent if it succeeded. */
  readonly errors?: readonly string[];
  /** The runner's messages about failing tests, by id; bounded. Absent for none. */
  readonly messages?: Readonly<Record<string, string>>;
  /** By step: rules that a linter which failed finds broken, as far as its output names them. Absent for none. */
  readonly brokenRules?: Readonly<Record<string, BrokenRules>>;
  /** Names that are undefined according to the output; bounded. Absent for none. */
  readonly missingNames?: readonly string[];
  /** The command failed, though no test did, for coverage below the repository's threshold. Absent otherwise. */
  readonly belowCoverage?: true;
  /** Of a run with locked assertion libraries: what was recorded about them. Absent for nothing. */
  readonly assertions?: AssertionRecords;
  /**
   * Test files of the base commit that were written while it ran, in order; null if they cannot be listed. Absent if
   * nobody looked.
   */
  readonly rewrites?: readonly string[] | null;
  /** How many runs of this suite were combined; absent: one. */
  readonly runs?: number;
  /**
   * Tests with inconsistent results, sorted. On the base they are quarantined and not in `tests`. For a candidate
   * they are in `tests`, by majority.
   */
  readonly flaky?: readonly string[];
  /** Each command of tests; absent if all ended, and have a report that names a test that passes, or says there are none. */
  readonly commands?: readonly TestedCommand[];
  /** On the base: commands that run in another form than planned, by their texts. Absent for none. */
  readonly forms?: Readonly<Record<string, 'exit' | 'environment' | 'plain' | 'left-out'>>;
  /** On the base: a command of several steps ran as one. Absent otherwise. */
  readonly unsplit?: true;
  /** On the base: milliseconds of its build; absent: there is none. */
  readonly buildMs?: number;
  /** On the base: what the comparison ignores, and why, in sentences for people. Absent for nothing. */
  readonly notes?: readonly string[];
  /** On the base: services of the CI job that do not start here, and that candidates do not get. Absent for none. */
  readonly refusedServices?: readonly string[];
  /** On the base: the type checks, including those that do not run there. Absent for none. */
  readonly types?: readonly TypeCheckRun[];
}

/** How one command of tests ended. */
export interface TestedCommand extends Pick<TestRun, 'exitCode' | 'stopped'> {
  readonly command: string;
  readonly hasReport: boolean;
  /** The report names a test that passes. */
  readonly passes: boolean;
}

/** For people: what one execution of a suite left on one tree. */
export interface TestOutput {
  readonly exitCode: number | null;
  readonly stopped: TestRun['stopped'];
  readonly ms: number;
  readonly tail: string;
  /** The runner's messages about failing tests, by id. */
  readonly messages: Readonly<Record<string, string>>;
}

/** One line that a type checker objects to. */
export interface TypeFinding {
  /** From the top of the repository, if the checker runs there; empty if it names none. */
  readonly file: string;
  readonly line?: number;
  readonly message: string;
}

/** One execution of a type check. */
export interface TypeCheckRun extends Pick<TestRun, 'exitCode' | 'stopped' | 'ms'> {
  readonly name: string;
  /** New findings are shown but do not eliminate; absent otherwise. */
  readonly advisory?: true;
  /** In order of output. */
  readonly findings: readonly TypeFinding[];
  /** The lines of the output that explain a failure without findings; absent otherwise. */
  readonly errors?: readonly string[];
}

/** A candidate's type checks compared with those of the base. */
export interface TypeCheckResult {
  /** Findings that the base lacks, bounded. */
  readonly added: readonly TypeFinding[];
  readonly addedCount: number;
  /** Number of findings on the base, and of those that are gone. */
  readonly onBase: number;
  readonly gone: number;
  readonly ms: number;
  /** A check that runs on the base does not run here; absent otherwise. */
  readonly failed?: true;
  /** Files that configure the checker and that the candidate changes, so that findings say less; absent for none. */
  readonly configured?: readonly string[];
}

/** The result of the base suite, with base versions of all test files, on a candidate's production code. */
export interface BaseTests {
  readonly passed: number;
  readonly failed: number;
  readonly total: number;
  /**
   * Tests that pass on the base and fail, are skipped or are missing here. With `exit-code`: the single id `exit
   * code`.
   */
  readonly regressions: readonly string[];
  /**
   * Tests that fail on the base and pass here, except for non-test steps and tests that lack something in the
   * environment on the base.
   */
  readonly fixed: readonly string[];
  /** The base's suite ran there once, and what is in `fixed` failed in a second run. Absent: not run again. */
  readonly fixedAgain?: true;
  /**
   * Tests broken as the brief says, in files that must change: removed from `regressions`, because the candidate's own
   * version of them passes. Absent for none.
   */
  readonly superseded?: readonly string[];
  /** Tests broken by most survivors of several families: removed from `regressions`; a person is asked. */
  readonly contested?: readonly string[];
  /**
   * Tests with inconsistent results, sorted: on the base, so that they are ignored, or here, so that the majority of
   * three runs counts. Absent for none.
   */
  readonly flaky?: readonly string[];
  /** How many runs of the base suite were used to find them; absent: one, because the suite takes long. */
  readonly baseRuns?: number;
  /** What the comparison ignores on the base, and why, in sentences; absent for nothing. */
  readonly notes?: readonly string[];
  readonly source: Exclude<TestRun['source'], 'none'>;
  /** No base test is known to pass, so the absence of regressions proves nothing. Absent otherwise. */
  readonly silent?: true;
  readonly exitCode: number | null;
  readonly ms: number;
}

/**
 * Tests of another survivor, run on this candidate's production code. A test counts if it passes on its author's code
 * and fails on the base, so that it checks new behaviour. A test that needs a name defined only by its author is not
 * included in `total`.
 */
export interface PeerTests {
  readonly author: Alias;
  readonly passed: number;
  readonly total: number;
  /** Bounded; `total` counts all. */
  readonly failing: readonly string[];
  /**
   * One letter for each test that counts, in order of id: `p` passes here, `f` fails here, `n` needs a name that only
   * its author has. Bounded. A position refers to the same test for all candidates that ran this author's tests, so
   * that a test failing on all others can be detected.
   */
  readonly results?: string;
  /**
   * New tests that also pass on the base: they check existing behaviour. A failure is a regression that the base
   * tests do not detect. Absent for none.
   */
  readonly guards?: { readonly passed: number; readonly total: number; readonly failing: readonly string[] };
}

/** Mutants of the code under test that the base's tests miss, and on which one of a candidate's new tests fails. */
export interface MutantCount {
  readonly caught: number;
  readonly total: number;
  /** New tests that do not count, because they fail if only comments or spaces change; absent for none. */
  readonly discarded?: number;
}

/** All results of executing one candidate. Plain JSON. */
export interface Evidence {
  readonly alias: Alias;
  readonly gates: readonly GateReport[];
  readonly survivor: boolean;
  /** SHA-256 of the patch text, or the empty string without one. Breaks ties. */
  readonly patchSha256: string;
  /** Added plus removed lines of production files. */
  readonly productionLines: number;
  /** Tests in this patch that are new or stricter than on the base, and pass on its own code. */
  readonly addedTests: number;
  /** How many of these fail without its production changes. */
  readonly provenTests?: number;
  /** Coder's wall time, milliseconds. */
  readonly coderMs: number;
  /** Absent if nothing was run. */
  readonly baseTests?: BaseTests;
  /** What the task asks for; absent: code. */
  readonly task?: Exclude<TaskKind, 'code'>;
  /** Whether some candidates change files of another kind than `task`, so that the kind may be wrong. */
  readonly mixedKinds?: true;
  /** If the task asks for tests: what they catch. Absent if no mutant was run. */
  readonly mutants?: MutantCount;
  /** Absent if no type check was run. */
  readonly types?: TypeCheckResult;
  /** Absent if no independent test was admitted. */
  readonly independentTests?: IndependentTests;
  /**
   * Examples from the issue that no candidate satisfies, bounded: either all candidates are wrong or the examples
   * were misread. Absent for none.
   */
  readonly unmetExamples?: readonly string[];
  /** What was skipped for all candidates for lack of time; absent for nothing. */
  readonly cut?: ExaminationCut;
  /** A defect that a reviewer reported on a changed line and that execution did not refute; absent for none. */
  readonly doubt?: string;
  readonly peerTests: readonly PeerTests[];
  /**
   * Its behaviour on inputs derived from tests and the issue, compared with the others; absent if nothing was
   * observed.
   */
  readonly behaviour?: Omit<Behaviour, 'id'>;
  /** Similarity of its source changes to those of the other survivors, in [0, 1]; absent if there are no others. */
  readonly agreement?: number;
  /**
   * Files and functions that it changes, with the number of other survivors that change each; bounded. Absent if
   * there are no others.
   */
  readonly changes?: readonly { readonly name: string; readonly others: number }[];
  /** Its class: candidates whose production changes differ only in comments and layout, including itself; sorted. */
  readonly alike?: readonly Alias[];
  /** Family of the model that wrote it; absent if unknown. */
  readonly family?: string;
  /** Score of the patch's form alone, 0 to 120, and a sentence for each rule that applied; see `staticScore`. */
  readonly staticScore?: { readonly score: number; readonly because: readonly string[] };
}
