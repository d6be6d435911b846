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
  /** `.gitattributes` hides or transforms content. */
  'attributes',
  /** `.gitignore` hides tests. */
  'files-ignored',
] as const;
export type TamperingKind = (typeof TAMPERING_KINDS)[number];

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
  /** True: does not disqualify; base versions of the tests are used, and a person may be asked. */
  readonly contested: boolean;
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
  /** Not enough to disqualify by itself, whatever the brief declares. */
  readonly slight?: boolean;
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
