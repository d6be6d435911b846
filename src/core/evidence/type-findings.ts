import type { TypeFinding } from './evidence.ts';
import { outputLines } from './lint-rules.ts';

/** Characters of one message, and findings of one run, that are kept. More findings are no basis for a comparison. */
const MAX_MESSAGE_CHARS = 500;
const MAX_FINDINGS = 5_000;

/**
 * The formats of tsc (plain and pretty), pyright, mypy, `go vet`, and `cargo check` in its short format. Only errors:
 * warnings and notes do not fail a check. Go prints no severity.
 */
const FINDING_LINES: readonly RegExp[] = [
  /^(?<file>[^\s(:][^(:]*)\((?<line>\d+),\d+\): error (?<message>TS\d+: .+)$/,
  /^(?<file>[^\s:][^:]*):(?<line>\d+):\d+ - error (?<message>TS\d+: .+)$/,
  /^error (?<message>TS\d+: .+)$/,
  /^\s*(?<file>\S[^:]*):(?<line>\d+):\d+ - error: (?<message>.+)$/,
  /^(?<file>[^\s:][^:]*):(?<line>\d+)(?::\d+)?: error: (?<message>.+)$/,
  /^(?<file>[^\s:][^:]*):(?<line>\d+):\d+: error(?<message>(?:\[E\d+\])?: .+)$/,
  /^(?:vet: )?(?<file>[^\s:][^:]*\.go):(?<line>\d+):\d+: (?<message>.+)$/,
];

/** `error[E0308]: mismatched types`, whose place is in one of the next lines. */
const RUST_ERROR = /^error(?:\[E\d+\])?: .+$/;
const RUST_PLACE = /^\s*--> (?<file>[^\s:][^:]*):(?<line>\d+):\d+$/;
/** Rust sums up with errors that have no place. */
const RUST_SUMMARY = /^error: (?:could not compile|aborting due to)/;

/** mypy found something that kept it from checking anything else. */
const CHECKED_LITTLE = /errors prevented further checking/;

/**
 * Findings in the output of a type checker that runs in `folder`; null if they are too many, or if it checked only a
 * part.
 */
export function typeFindings(output: string, folder = ''): readonly TypeFinding[] | null {
  if (CHECKED_LITTLE.test(output)) return null;
  const found: TypeFinding[] = [];
  let pending: string | null = null;
  for (const line of outputLines(output)) {
    const place = pending === null ? null : RUST_PLACE.exec(line);
    if (pending !== null && place?.groups) {
      found.push(finding({ ...place.groups, message: pending }));
      pending = null;
    } else if (RUST_ERROR.test(line)) {
      pending = RUST_SUMMARY.test(line) ? null : line;
    } else {
      const groups = firstGroups(line);
      if (groups) found.push(finding(groups));
    }
    if (found.length > MAX_FINDINGS) return null;
  }
  return found.map((one) => ({ ...one, file: fromTop(one.file, folder) }));
}

/** A path from `folder`, written from the top of the repository. */
function fromTop(file: string, folder: string): string {
  if (folder === '' || file === '' || file.startsWith('/')) return file;
  const parts = folder.split('/');
  for (const part of file.split('/'))
    if (part === '..') parts.pop();
    else parts.push(part);
  return parts.join('/');
}

type Groups = Readonly<Record<string, string | undefined>>;

function firstGroups(line: string): Groups | null {
  for (const form of FINDING_LINES) {
    const found = form.exec(line);
    if (found?.groups) return found.groups;
  }
  return null;
}

const finding = ({ file = '', line, message = '' }: Groups): TypeFinding => ({
  file: file.replace(/^(?:\.\/)+/, ''),
  ...(line === undefined ? {} : { line: Number(line) }),
  message: message.slice(0, MAX_MESSAGE_CHARS),
});
