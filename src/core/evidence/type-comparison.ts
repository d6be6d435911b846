import { counted } from '../model/index.ts';
import type { PatchFile } from '../patches/index.ts';
import { HOW_STOPPED } from './base-facts.ts';
import type { GateReport, TypeCheckResult, TypeCheckRun, TypeFinding } from './evidence.ts';
import type { TamperingFinding } from './integrity/index.ts';

/** Why a run on the base cannot be compared with others, as a clause; null if it can. */
function typeCheckFault({ exitCode, stopped, findings, errors = [] }: TypeCheckRun): string | null {
  if (stopped !== null) return `is ${HOW_STOPPED[stopped]}`;
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

/** Findings kept per candidate, and named in a sentence. */
const MAX_ADDED_KEPT = 20;
const MAX_SHOWN_FINDINGS = 3;
const MAX_SHOWN_FINDING_CHARS = 200;

/** One check of a candidate, compared with the base. */
interface ComparedCheck {
  readonly name: string;
  readonly advisory: boolean;
  readonly added: readonly TypeFinding[];
  readonly gone: number;
  readonly fault: string | null;
}

/**
 * Compares a candidate's type checks with those of the base, in the same order. `files` are those that it changes: what
 * is found in one that it renames may be what was found there before. `questions`: see `checkerQuestions`.
 */
export function compareTypeChecks(
  base: readonly TypeCheckRun[],
  own: readonly TypeCheckRun[],
  files: readonly PatchFile[] = [],
  questions: readonly TamperingFinding[] = [],
): { readonly gate: GateReport; readonly result: TypeCheckResult } {
  const pairs = base.flatMap((before) => {
    const after = own.find(({ name }) => name === before.name);
    return after ? [{ before, after }] : [];
  });
  const compared: readonly ComparedCheck[] = pairs.map(({ before, after }) => ({
    name: before.name,
    // Results of the base may be kept from a run in which nobody had asked for the check yet, or somebody had.
    advisory: after.advisory === true,
    ...newFindings(before.findings, after.findings, files),
    fault: typeCheckFault(after),
  }));
  const added = compared.flatMap((one) => one.added);
  const result = {
    added: added.slice(0, MAX_ADDED_KEPT),
    addedCount: added.length,
    onBase: pairs.reduce((sum, { before }) => sum + before.findings.length, 0),
    gone: compared.reduce((sum, { gone }) => sum + gone, 0),
    ms: pairs.reduce((sum, { after }) => sum + after.ms, 0),
    ...(compared.some(({ fault }) => fault !== null) ? { failed: true as const } : {}),
    ...(questions.length > 0 ? { configured: questions.map(({ path }) => path) } : {}),
  };
  const advisory = compared.filter((one) => one.advisory).flatMap((one) => one.added);
  const findings = [...questions, ...advisory.slice(0, MAX_SHOWN_FINDINGS).map(typeQuestion)];
  const gate = gateOf(compared, result);
  return { gate: findings.length > 0 ? { ...gate, findings } : gate, result };
}

const typeQuestion = ({ file, line, message }: TypeFinding): TamperingFinding => ({
  kind: 'type-error',
  path: file,
  ...(line === undefined ? {} : { line }),
  what: `the type check finds ${message.slice(0, MAX_SHOWN_FINDING_CHARS)}`,
  severity: 'question',
});

/** Why a check is broken or what it finds, as a sentence; null for nothing. */
function objection(checks: readonly ComparedCheck[]): string | null {
  const broken = checks.find(({ fault }) => fault !== null);
  if (broken) return `The type check ${broken.name} ${broken.fault}; it runs on the base commit.`;
  const added = checks.flatMap((one) => one.added);
  if (added.length === 0) return null;
  const named = added.slice(0, MAX_SHOWN_FINDINGS).map(typeFindingText);
  const rest = added.length - named.length;
  return `The type check has ${counted(added.length, 'finding')} that the base commit lacks: ${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`;
}

function gateOf(
  compared: readonly ComparedCheck[],
  { onBase, configured = [] }: TypeCheckResult,
): GateReport {
  const failure = objection(compared.filter(({ advisory }) => !advisory));
  if (failure !== null) return { gate: 'types', passed: false, because: failure };
  const advice = objection(compared.filter(({ advisory }) => advisory));
  const names = compared.map(({ name }) => name).join(', ');
  const found =
    advice !== null
      ? `${advice} It does not eliminate, because neither settings nor CI run this check.`
      : onBase === 0
        ? `The type check finds nothing: ${names}.`
        : `The type check finds nothing that it does not find on the base commit (${onBase} there): ${names}.`;
  const changed =
    configured.length === 0
      ? ''
      : ` The patch changes what it checks: ${configured.slice(0, MAX_SHOWN_FINDINGS).join(', ')}.`;
  return { gate: 'types', passed: true, because: `${found}${changed}` };
}

/** `src/a.ts:12: TS2322: …` */
const typeFindingText = ({ file, line, message }: TypeFinding): string =>
  `${file === '' ? '' : `${file}${line === undefined ? '' : `:${line}`}: `}${message.slice(0, MAX_SHOWN_FINDING_CHARS).replace(/\.$/, '')}`;

/**
 * Parts of messages that change with code elsewhere: places (`line 7`, `a.go:4:2`, `a.ts(3,7)`), counts of what is not
 * listed, and the properties that TypeScript lists before it counts the rest.
 */
const MOVABLE_PARTS: readonly (readonly [RegExp, string])[] = [
  [/\b(lines?|columns?) \d+/gi, '$1'],
  [/(\.\w{1,10})(?::\d+){1,2}/g, '$1'],
  [/\(\d+,\s?\d+\)/g, '()'],
  [/(missing the following properties from type .{1,200}?'): .*/g, '$1'],
  [/\b\d+ (more|others?|errors?|overloads?)\b/gi, '$1'],
  [/\bOverload \d+ of \d+/g, 'Overload'],
];

const findingKey = (file: string, message: string): string =>
  JSON.stringify([
    file,
    MOVABLE_PARTS.reduce((text, [part, instead]) => text.replaceAll(part, instead), message),
  ]);

/**
 * The findings that the base lacks: lines move, so each file and message may occur as often as there. Also the number
 * of those that are gone. `files` are those that the candidate changes.
 */
function newFindings(
  base: readonly TypeFinding[],
  own: readonly TypeFinding[],
  files: readonly PatchFile[],
): { readonly added: readonly TypeFinding[]; readonly gone: number } {
  const renamed = renamedFiles(files);
  const left = new Map<string, number>();
  for (const { file, message } of base) {
    const key = findingKey(file, message);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  const isAbsent = absentOnBase(base, files);
  const added = own.filter((one) => {
    const key = findingKey(formerName(one.file, renamed), one.message);
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    return count === 0 && !isAbsent(one);
  });
  return { added, gone: [...left.values()].reduce((sum, count) => sum + count, 0) };
}

/**
 * Messages about what is not installed where the check runs, by code: packages, their types, and the global names that
 * they declare. The second part is the name in question; none if the message follows from an absent package.
 */
const ABSENCES: readonly RegExp[] = [
  /^(?<code>TS(?:2307|7016|2688)): [^']*'(?<name>[^'.][^']*)'/,
  // Global names of test runners and of Node, for which TypeScript suggests to install their types.
  /^(?<code>TS(?:2580|2582|2584|2591|2592|2593)): [^']*'(?<name>[^']+)'/,
  /^(?<code>TS2304): Cannot find name '(?<name>describe|it|test|suite|expect|assert|vi|jest|(?:before|after)(?:Each|All)?|process|require|module|Buffer|global|__dirname|__filename)'/,
  /"(?<name>[^"]+)".*\[(?<code>import(?:-not-found|-untyped)?)\]$/,
  /"(?<name>[^"]+)".*\((?<code>reportMissing(?:Imports|ModuleSource|TypeStubs))\)$/,
  /^(?<code>Untyped decorator makes function|Class cannot subclass .* \(has type "Any"\))/,
];

function absenceOf(message: string): { readonly code: string; readonly key: string } | null {
  for (const form of ABSENCES) {
    const { code, name = '' } = form.exec(message)?.groups ?? {};
    if (code !== undefined) return { code, key: JSON.stringify([code, name]) };
  }
  return null;
}

/**
 * What is absent on the base is absent for each candidate: a new test file cannot find the test runner's types, either.
 * The same name counts everywhere, other names in added files only.
 */
function absentOnBase(
  base: readonly TypeFinding[],
  files: readonly PatchFile[],
): (one: TypeFinding) => boolean {
  const absences = base.flatMap(({ message }) => absenceOf(message) ?? []);
  const keys = new Set(absences.map(({ key }) => key));
  const codes = new Set(absences.map(({ code }) => code));
  const added = files.filter(({ change }) => change === 'added').map(({ path }) => path);
  return ({ file, message }) => {
    const absence = absenceOf(message);
    if (absence === null) return false;
    return keys.has(absence.key) || (codes.has(absence.code) && added.some((path) => namesPath(file, path)));
  };
}

/** pyright names files from the root. */
const namesPath = (file: string, path: string): boolean =>
  file === path || (file.startsWith('/') && file.endsWith(`/${path}`));

/** The share of an added file's lines that a deleted one had, from which on git calls it renamed. */
const RENAMED_SHARE = 0.5;

/** Deleted files by the added ones that most of their lines moved to. */
function renamedFiles(files: readonly PatchFile[]): ReadonlyMap<string, string> {
  const deleted = files.flatMap(({ change, path, hunks }) =>
    change === 'deleted' ? [{ path, lines: new Set(changedLines(hunks, 'removed')) }] : [],
  );
  const pairs = files.flatMap(({ change, path, hunks }) => {
    const lines = change === 'added' && deleted.length > 0 ? changedLines(hunks, 'added') : [];
    const shares = deleted.map((one) => ({
      path: one.path,
      share: lines.filter((line) => one.lines.has(line)).length / lines.length,
    }));
    const [best] = shares.toSorted((a, b) => b.share - a.share);
    return lines.length > 0 && best && best.share >= RENAMED_SHARE ? [[path, best.path] as const] : [];
  });
  return new Map(pairs);
}

const changedLines = (hunks: PatchFile['hunks'], kind: 'added' | 'removed'): readonly string[] =>
  hunks.flatMap(({ lines }) =>
    lines.flatMap((line) => (line.kind === kind && /\w/.test(line.text) ? [line.text.trim()] : [])),
  );

/** The file's name before the candidate renamed it. */
function formerName(file: string, renamed: ReadonlyMap<string, string>): string {
  for (const [path, former] of renamed)
    if (namesPath(file, path)) return file.slice(0, file.length - path.length) + former;
  return file;
}
