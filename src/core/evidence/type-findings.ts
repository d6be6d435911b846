import { counted } from '../model/index.ts';
import type { GateReport, TypeCheckResult, TypeCheckRun, TypeFinding } from './evidence.ts';

/** Characters of one message, and findings of one run, that are kept. More findings are no basis for a comparison. */
const MAX_MESSAGE_CHARS = 500;
const MAX_FINDINGS = 5_000;
/** Characters of one line that are read. */
const MAX_READ_LINE_CHARS = 2_000;

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

/** tsc colours its output if its configuration says so. */
const COLOURS = /\p{Cc}\[[\d;]*m/gu;

/** Findings in the output of a type checker; null if they are too many, or if it checked only a part. */
export function typeFindings(output: string): readonly TypeFinding[] | null {
  if (CHECKED_LITTLE.test(output)) return null;
  const found: TypeFinding[] = [];
  let pending: string | null = null;
  for (const raw of output.split('\n')) {
    const line = raw.slice(0, MAX_READ_LINE_CHARS).replace(COLOURS, '').trimEnd();
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
  return found;
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

/** Why a run on the base cannot be compared with others, as a clause; null if it can. */
function typeCheckFault({ exitCode, stopped, findings, errors = [] }: TypeCheckRun): string | null {
  if (stopped !== null) return 'exceeds a limit';
  if (exitCode === 0 || findings.length > 0) return null;
  const [first] = errors;
  return `ends with exit code ${exitCode ?? 'none'} without findings that can be compared${first === undefined ? '' : ` (${first})`}`;
}

/** Why a type check is left out, as a sentence; null for one that runs on the base. */
export function leftOutTypeCheck(onBase: TypeCheckRun): string | null {
  const fault = typeCheckFault(onBase);
  return fault === null
    ? null
    : `The type check \`${onBase.name.replaceAll('`', "'")}\` ${fault} on the base commit, so it was left out.`;
}

/** Lines move, so findings are compared by file and message; numbers of lines in messages do not count. */
const keyOfFinding = ({ file, message }: TypeFinding): string =>
  JSON.stringify([file, message.replace(/\b(line|lines) \d+/gi, '$1')]);

/** The findings that the base lacks, each as often as it occurs more than there, and the number of those that are gone. */
function comparedFindings(
  base: readonly TypeFinding[],
  own: readonly TypeFinding[],
): { readonly added: readonly TypeFinding[]; readonly gone: number } {
  const left = new Map<string, number>();
  for (const one of base) left.set(keyOfFinding(one), (left.get(keyOfFinding(one)) ?? 0) + 1);
  const added = own.filter((one) => {
    const key = keyOfFinding(one);
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    return count === 0;
  });
  return { added, gone: [...left.values()].reduce((sum, count) => sum + count, 0) };
}

/** Findings kept per candidate, and named in a sentence. */
const MAX_ADDED_KEPT = 20;
const MAX_SHOWN_FINDINGS = 3;
const MAX_SHOWN_FINDING_CHARS = 200;

/**
 * Compares a candidate's type checks with those of the base, in the same order. `moved`: files of the base that the
 * candidate deletes; what was found there may be found in other files.
 */
export function compareTypeChecks(
  base: readonly TypeCheckRun[],
  own: readonly TypeCheckRun[],
  moved: ReadonlySet<string> = new Set(),
): { readonly gate: GateReport; readonly result: TypeCheckResult } {
  const pairs = base.flatMap((before) => {
    const after = own.find(({ name }) => name === before.name);
    return after ? [{ before, after }] : [];
  });
  const compared = pairs.map(({ before, after }) => {
    const { added, gone } = comparedFindings(before.findings, after.findings);
    const movable = before.findings.filter(({ file }) => moved.has(file));
    const { added: fresh } = comparedFindings(movable.map(withoutFile), added.map(withoutFile));
    const isFresh = new Set(fresh.map(({ message }) => message));
    return {
      name: before.name,
      added: added.filter(({ message }) => isFresh.has(message)),
      gone,
      fault: typeCheckFault(after),
    };
  });
  const added = compared.flatMap((one) => one.added);
  const result = {
    added: added.slice(0, MAX_ADDED_KEPT),
    addedCount: added.length,
    onBase: pairs.reduce((sum, { before }) => sum + before.findings.length, 0),
    gone: compared.reduce((sum, { gone }) => sum + gone, 0),
    ms: pairs.reduce((sum, { after }) => sum + after.ms, 0),
  };
  return { gate: gateOf(compared, result), result };
}

const withoutFile = (one: TypeFinding): TypeFinding => ({ ...one, file: '' });

function gateOf(
  compared: readonly { readonly name: string; readonly fault: string | null }[],
  { added, addedCount, onBase }: TypeCheckResult,
): GateReport {
  const broken = compared.find(({ fault }) => fault !== null);
  if (broken)
    return {
      gate: 'types',
      passed: false,
      because: `The type check ${broken.name} ${broken.fault}; it runs on the base commit.`,
    };
  const names = compared.map(({ name }) => name).join(', ');
  if (addedCount === 0)
    return {
      gate: 'types',
      passed: true,
      because:
        onBase === 0
          ? `The type check finds nothing: ${names}.`
          : `The type check finds nothing that it does not find on the base commit (${onBase} there): ${names}.`,
    };
  const named = added.slice(0, MAX_SHOWN_FINDINGS).map(findingText);
  const rest = addedCount - named.length;
  return {
    gate: 'types',
    passed: false,
    because: `The type check has ${counted(addedCount, 'finding')} that the base commit lacks: ${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`,
  };
}

/** `src/a.ts:12: TS2322: …` */
const findingText = ({ file, line, message }: TypeFinding): string =>
  `${file === '' ? '' : `${file}${line === undefined ? '' : `:${line}`}: `}${message.slice(0, MAX_SHOWN_FINDING_CHARS)}`;
