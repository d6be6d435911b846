import type { DiffLine, Hunk } from '../../patches/index.ts';

/** All kinds of tampering, by the names used in reports and tests. */
export const TAMPERING_KINDS = [
  /** A test file, a test, or a row of a test table was removed or no longer counts as a test. */
  'test-deleted',
  /** A base test is skipped, made conditional, or returns before its assertions. */
  'test-skipped',
  /** A focused test disables the others. */
  'test-focused',
  /** An assertion was removed. */
  'assertion-removed',
  /** An assertion is less strict: a weaker matcher, a wider tolerance, more time or more retries. */
  'assertion-weakened',
  /** An assertion can no longer fail: it is always true, its failure is swallowed, or it is conditional. */
  'assertion-neutralised',
  /** An assertion expects something else. */
  'expectation-changed',
  /** A snapshot was changed or removed. */
  'snapshot-changed',
  /** Data or code used by tests was changed or removed. */
  'fixture-changed',
  /** A coverage threshold was lowered or removed. */
  'threshold-lowered',
  /** The configuration of the test runner was changed. */
  'runner-configured',
  /** Production code checks whether it runs under test. */
  'environment-detected',
  /** The process exits, or its exit code is set, before the tests finish. */
  'exit-trick',
  /** Assertions, the test runner or functions that they depend on are replaced. */
  'assertions-patched',
  /** Test files of the base commit are written by a build, or while tests run. */
  'tests-rewritten',
  /** `.gitattributes` hides or transforms content. */
  'attributes',
  /** `.gitignore` hides tests. */
  'files-ignored',
  /** The configuration of the type checker was changed, or a file hides code from it. */
  'checker-configured',
  /** A type checker that does not eliminate has new findings. */
  'type-error',
] as const;
export type TamperingKind = (typeof TAMPERING_KINDS)[number];

/** Changes that follow from a changed behaviour, so that others who change it make them, too. */
export const EXPECTATION_KINDS: ReadonlySet<TamperingKind> = new Set([
  'expectation-changed',
  'snapshot-changed',
  'fixture-changed',
]);

/**
 * What a finding means for the candidate. `gate`: it cannot be honest, so the gate `untampered` fails. `question`: it
 * may be tampering or a part of the task, so its lines are shown to a person, and the pick is never `clear`. `note`: it
 * is shown, and changes nothing. The first is the most severe.
 */
export const SEVERITIES = ['gate', 'question', 'note'] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * The severity of each kind, unless a rule says otherwise. Changed tests, snapshots, thresholds and runner
 * configuration are questions, because the examination uses the base's versions of these files, so that they cannot
 * help the candidate.
 */
export const SEVERITY_OF_KIND: Readonly<Record<TamperingKind, Severity>> = {
  'test-deleted': 'question',
  'test-skipped': 'gate',
  'test-focused': 'gate',
  'assertion-removed': 'question',
  'assertion-weakened': 'question',
  'assertion-neutralised': 'gate',
  'expectation-changed': 'question',
  'snapshot-changed': 'question',
  'fixture-changed': 'question',
  'threshold-lowered': 'question',
  'runner-configured': 'question',
  'environment-detected': 'gate',
  'exit-trick': 'gate',
  'assertions-patched': 'gate',
  'tests-rewritten': 'gate',
  attributes: 'gate',
  'files-ignored': 'gate',
  'checker-configured': 'question',
  'type-error': 'question',
};

/** One place where a patch tampers with its own examination. */
export interface TamperingFinding {
  readonly kind: TamperingKind;
  readonly path: string;
  /** 1-based, in the patched file; for a removed line, in the base. Absent when the finding is about the whole file. */
  readonly line?: number;
  /** What the patch does, as a clause. */
  readonly what: string;
  /** The surrounding lines, bounded. */
  readonly hunk?: string;
  /** Names, in the base's source, of the tests or groups that it affects; absent if it may affect all of the file. */
  readonly tests?: readonly string[];
  /**
   * Of an expectation: what changed, without white space, so that two changes are the same if these are equal. Absent
   * if it is too long to be kept; it then equals no other.
   */
  readonly change?: string;
  readonly severity: Severity;
  /** The brief says that this file must change; absent otherwise. */
  readonly declared?: true;
  /**
   * Whether the candidate's code passes the original version of what it changes; `not-run` if that was not executed.
   * Absent if it was not asked.
   */
  readonly original?: 'passes' | 'fails' | 'not-run';
  /** What execution, the brief or other candidates say about it, in one sentence; absent for nothing. */
  readonly settled?: string;
}

/** A line of a patch and its hunk. */
export interface Change {
  readonly line: DiffLine;
  readonly hunk: Hunk;
}

/** A finding before it is checked against what the brief declares. */
export interface Suspicion {
  readonly kind: TamperingKind;
  readonly what: string;
  /** The change to show; null if there are no lines. */
  readonly at: Change | null;
  /** The finding is about the whole file, not this line. */
  readonly whole?: boolean;
  /** Names of the tests or groups that it affects; absent if it may affect all of the file. */
  readonly tests?: readonly string[];
  /** All that changes here, without white space; default: all changed lines of the file. */
  readonly change?: string;
  /** Default: that of its kind. */
  readonly severity?: Severity;
}

const DIFF_PREFIXES = { context: ' ', added: '+', removed: '-' } as const;
const CONTEXT_LINES = 5;
const MAX_EXCERPT_LINE = 200;

/** The lines around one line of a hunk, bounded. */
export function excerpt(hunk: Hunk, index: number): string {
  const from = Math.max(0, index - CONTEXT_LINES);
  return hunk.lines
    .slice(from, index + CONTEXT_LINES + 1)
    .map((line) => DIFF_PREFIXES[line.kind] + line.text.slice(0, MAX_EXCERPT_LINE))
    .join('\n');
}

export const wasOrWere = (n: number): string => (n === 1 ? 'was' : 'were');
