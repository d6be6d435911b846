import { counted } from '../model/index.ts';
import type { PatchFile } from '../patches/index.ts';
import type { GateReport, TypeCheckResult, TypeCheckRun, TypeFinding } from './evidence.ts';
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

/**
 * Compares a candidate's type checks with those of the base, in the same order. `files` are those that it changes: what
 * is found in one that it renames may be what was found there before.
 */
export function compareTypeChecks(
  base: readonly TypeCheckRun[],
  own: readonly TypeCheckRun[],
  files: readonly PatchFile[] = [],
): { readonly gate: GateReport; readonly result: TypeCheckResult } {
  const pairs = base.flatMap((before) => {
    const after = own.find(({ name }) => name === before.name);
    return after ? [{ before, after }] : [];
  });
  const compared = pairs.map(({ before, after }) => ({
    name: before.name,
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
  };
  return { gate: gateOf(compared, result), result };
}

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
