import { counted } from '../model/index.ts';
import type { PatchFile } from '../patches/index.ts';
import type { GateReport, TypeCheckResult, TypeCheckRun, TypeFinding } from './evidence.ts';
import type { TamperingFinding } from './integrity/index.ts';
import { newFindings } from './new-type-findings.ts';

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
    advisory: before.advisory === true,
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
  `${file === '' ? '' : `${file}${line === undefined ? '' : `:${line}`}: `}${message.slice(0, MAX_SHOWN_FINDING_CHARS)}`;
