import type { DiffLine, Hunk } from '../../patches/index.ts';

/** Every way in which a patch can make its own examination easier, by the names that reports and tests use. */
export const TAMPERING_KINDS = [
  /** A test file, a test, or a row of a table of cases is gone, or is no test any more. */
  'test-deleted',
  /** A test of the base is skipped, put under a condition, or ends before its assertions. */
  'test-skipped',
  /** One test silences the others. */
  'test-focused',
  /** An assertion is gone. */
  'assertion-removed',
  /** An assertion says less: a weaker matcher, a wider tolerance, more time or more tries. */
  'assertion-weakened',
  /** An assertion cannot fail any more: always true, its failure swallowed, only under a condition. */
  'assertion-neutralised',
  /** An assertion asks for something else. */
  'expectation-changed',
  /** Recorded output is different or gone. */
  'snapshot-changed',
  /** Data or code that tests use is different or gone. */
  'fixture-changed',
  /** A bound that coverage must reach is lower or gone. */
  'threshold-lowered',
  /** What decides which tests run, and how, is different. */
  'runner-configured',
  /** Production code asks whether it is being tested. */
  'environment-detected',
  /** The process ends, or its exit code is set, before the tests could. */
  'exit-trick',
  /** Assertions, the test runner or what they rest on are replaced. */
  'assertions-patched',
  /** `.gitattributes` hides or transforms content. */
  'attributes',
  /** `.gitignore` hides tests. */
  'files-ignored',
] as const;
export type TamperingKind = (typeof TAMPERING_KINDS)[number];

/** One place where a patch makes its own examination easier. */
export interface TamperingFinding {
  readonly kind: TamperingKind;
  readonly path: string;
  /** 1-based, in the patched file; of a removed line, in the base. Absent where the whole file is meant. */
  readonly line?: number;
  /** What was done, as a clause. */
  readonly what: string;
  /** The lines around it, bounded. */
  readonly hunk?: string;
  /** True: no reason to disqualify; base versions of the tests decide, and a person may be asked. */
  readonly contested: boolean;
}

/** A line of a patch and the hunk that it stands in. */
export interface Change {
  readonly line: DiffLine;
  readonly hunk: Hunk;
}

/** A finding before it is known whether the brief declared it. */
export interface Suspicion {
  readonly kind: TamperingKind;
  readonly what: string;
  /** What is shown; null where there are no lines. */
  readonly at: Change | null;
  /** The file as a whole is meant, not this line of it. */
  readonly whole?: boolean;
  /** Too little to disqualify by itself, whatever the brief says. */
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
