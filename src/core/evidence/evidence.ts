import type { Alias } from '../model/index.ts';

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

/** One execution of a test command in the sandbox. */
export interface TestRun {
  /** `exit-code`: the runner gave no structured report, so `tests` is empty. */
  readonly source: 'report' | 'exit-code';
  readonly exitCode: number | null;
  readonly stopped: 'wall' | 'silence' | 'memory' | 'disk' | 'cancelled' | null;
  readonly ms: number;
  /** By test id: file, suites and name joined by ` > `; a repeated id gets ` #2`, ` #3`. */
  readonly tests: Readonly<Record<string, TestOutcome>>;
  /** The end of the output, bounded, escapes removed. */
  readonly tail: string;
}

/** What the base suite, with base versions of all test files, said about a candidate's production code. */
export interface BaseTests {
  readonly passed: number;
  readonly failed: number;
  readonly total: number;
  /** Tests that pass on base and fail, are skipped or are missing here. With `exit-code` only: the one id `exit code`. */
  readonly regressions: readonly string[];
  /** Tests that fail on base and pass here. */
  readonly fixed: readonly string[];
  /** Tests that most survivors of several families break: taken out of `regressions`, a person is asked. */
  readonly contested?: readonly string[];
  readonly source: TestRun['source'];
  readonly exitCode: number | null;
  readonly ms: number;
}

/** Tests that another survivor added, run on this candidate's production code. */
export interface PeerTests {
  readonly author: Alias;
  readonly passed: number;
  readonly total: number;
  readonly failing: readonly string[];
}

/** Where a test comes from that nobody who competes has written. */
export const NEUTRAL_ORIGINS = ['issue', 'writer', 'distinguishing'] as const;
export type NeutralOrigin = (typeof NEUTRAL_ORIGINS)[number];

/** Neutral tests that were admitted by execution, run on one candidate's production code. */
export interface NeutralTests {
  readonly passed: number;
  readonly total: number;
  readonly failing: readonly {
    readonly id: string;
    readonly origin: NeutralOrigin;
    /** The end of what the runner said about it, bounded; absent where it said nothing. */
    readonly said?: string;
  }[];
}

/** All that was executed for one candidate. Plain JSON. */
export interface Evidence {
  readonly alias: Alias;
  readonly gates: readonly GateReport[];
  readonly survivor: boolean;
  /** SHA-256 of the patch text, or the empty string where there is none: the last tie. */
  readonly patchSha256: string;
  /** Added plus removed lines of production files. */
  readonly productionLines: number;
  /** Tests in this patch that the base does not have and that pass on its own code. */
  readonly addedTests: number;
  /** Coder's wall time, milliseconds. */
  readonly coderMs: number;
  readonly baseTests?: BaseTests;
  /** Absent where no neutral test was admitted. */
  readonly neutralTests?: NeutralTests;
  readonly peerTests: readonly PeerTests[];
}
