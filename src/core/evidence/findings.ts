import { counted } from '../model/index.ts';
import type { BaseTests, Evidence, GateReport, TestRun } from './evidence.ts';
import { failsAgainst } from './independent-results.ts';
import { EXPECTATION_KINDS, type TamperingFinding, type TamperingKind } from './integrity/index.ts';
import { originalTests } from './original-tests.ts';
import { isExitCode, isTestOf, outcomeIn } from './test-runs.ts';

/** Findings about what tests check, as opposed to code that may detect or replace them. */
const ABOUT_CODE: ReadonlySet<TamperingKind> = new Set([
  'environment-detected',
  'assertions-patched',
  'exit-trick',
  'tests-rewritten',
  'attributes',
  'files-ignored',
]);
/** Tests that a patch disables although its code fails them: this hides a regression and cannot be honest. */
const HIDES_FAILURES: ReadonlySet<TamperingKind> = new Set(['test-skipped', 'assertion-neutralised']);

/** Findings of the gate `types`, on which tests say nothing. */
const ABOUT_TYPES: ReadonlySet<TamperingKind> = new Set(['checker-configured', 'type-error']);

/** The findings in a patch; none if the gate `untampered` found nothing or was not checked. */
export const findingsOf = ({ gates }: Pick<Evidence, 'gates'>): readonly TamperingFinding[] =>
  gates.flatMap(({ findings = [] }) => findings);

/** The findings that a person should look at. */
export const questionsOf = (one: Pick<Evidence, 'gates'>): readonly TamperingFinding[] =>
  findingsOf(one).filter(({ severity }) => severity === 'question');

/** `path:line: what it does`. */
export const findingText = ({ path, line, what }: TamperingFinding): string =>
  `${path}${line === undefined ? '' : `:${line}`}: ${what}`;

/** Questions about code that an honest program may contain, too: possible reasons for unsteady behaviour. */
export const codeQuestionsOf = (one: Pick<Evidence, 'gates'>): readonly TamperingFinding[] =>
  questionsOf(one).filter(({ kind }) => ABOUT_CODE.has(kind));

/** Maximum findings named by a failed gate; the rest is counted. */
const MAX_GATES_NAMED = 3;

/** The report of `untampered` with its findings; one that became a gate fails it. */
function withFindings(report: GateReport, findings: readonly TamperingFinding[]): GateReport {
  const gates = findings.filter(({ severity }) => severity === 'gate');
  const [first] = gates;
  if (!report.passed || !first) return { ...report, findings };
  const named = gates
    .slice(0, MAX_GATES_NAMED)
    .map((one) => `${findingText(one)}. ${one.settled ?? ''}`.trim());
  const more = gates.length - named.length;
  const because = [...named, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
  return { ...report, passed: false, because, ...(first.hunk ? { hunk: first.hunk } : {}), findings };
}

const mapFindings = (
  gates: readonly GateReport[],
  settle: (finding: TamperingFinding) => TamperingFinding,
): readonly GateReport[] =>
  gates.map((report) => (report.findings ? withFindings(report, report.findings.map(settle)) : report));

/** Adds findings to the gate `untampered`; one that is a gate fails it. */
export const withMoreFindings = (
  gates: readonly GateReport[],
  more: readonly TamperingFinding[],
): readonly GateReport[] =>
  more.length === 0
    ? gates
    : gates.map((report) => {
        if (report.gate !== 'untampered') return report;
        const all = withFindings(report, [...more, ...(report.findings ?? [])]);
        if (!all.passed) return all;
        const because = `A person should look at these lines: ${more.map(findingText).join('; ')}.`;
        return { ...all, because: report.findings ? `${because} ${report.because}` : because };
      });

/**
 * What the original tests say about each question of a candidate. `base` is the suite on the base commit, `own` the
 * result of the same tests on the candidate's code. A test that is disabled although the code fails it, and a test file
 * that is removed although the code passes it, become gates.
 */
export const settledByTests = (
  gates: readonly GateReport[],
  base: TestRun,
  own: BaseTests | undefined,
): readonly GateReport[] =>
  mapFindings(gates, (one) =>
    one.severity === 'question' && !ABOUT_CODE.has(one.kind) && !ABOUT_TYPES.has(one.kind)
      ? settledFinding(one, base, own)
      : one,
  );

function settledFinding(
  finding: TamperingFinding,
  base: TestRun,
  own: BaseTests | undefined,
): TamperingFinding {
  const { kind } = finding;
  const original = originalTests(finding, base, own);
  if (!original || !own)
    return { ...finding, original: 'not-run', settled: 'The original version was not executed.' };
  const { ids, of } = original;
  const ofFile = of === 'all' ? '' : ' of this file';
  const known = new Set(ids);
  const broken = own.regressions.filter((id) => known.has(id));
  if (broken.length === 0 && of !== 'all' && isFileRemoval(finding) && !finding.declared) {
    const settled = `The code passes the ${counted(ids.length, 'test')} of this file, so nothing requires their removal.`;
    return { ...finding, severity: 'gate', original: 'passes', settled };
  }
  if (broken.length === 0) {
    const which = of === 'all' ? 'original tests' : counted(ids.length, 'original test');
    return { ...finding, original: 'passes', settled: `The code passes the ${which}${ofFile}.` };
  }
  const hides = HIDES_FAILURES.has(kind) && (of === 'tests' || (of === 'file' && !finding.tests));
  return {
    ...finding,
    ...(hides ? { severity: 'gate' as const } : {}),
    original: 'fails',
    settled: `The code fails ${counted(broken.length, 'test')} with the original version: ${broken[0]}${broken.length > 1 ? ', …' : ''}.`,
  };
}

/** A whole test file is removed, or all tests in it. */
const isFileRemoval = ({ kind, line }: TamperingFinding): boolean =>
  kind === 'test-deleted' && line === undefined;

/**
 * Base tests that a candidate breaks as the brief says are no regressions: they are in a file that the brief says must
 * change, the candidate changes it, and its own version (`own`) passes. A test that its own version lacks must have a
 * successor: the file has as many new passing tests as tests that are gone. The brief may repeat what strangers wrote,
 * so it excuses nobody from having these tests.
 */
export function withoutSuperseded(
  tests: BaseTests,
  one: Pick<Evidence, 'gates'>,
  runs: { readonly base: TestRun; readonly own?: TestRun | undefined },
): BaseTests {
  const { base, own } = runs;
  const files = new Set(findingsOf(one).flatMap(({ declared, path }) => (declared ? [path] : [])));
  if (files.size === 0 || own?.source !== 'report') return tests;
  const superseded = new Set(
    [...files].flatMap((path) => {
      const broken = tests.regressions.filter((id) => !isExitCode(id) && isTestOf(id, path));
      const gone = broken.filter((id) => outcomeIn(own, id) === undefined);
      const successors = Object.keys(own.tests).filter(
        (id) => isTestOf(id, path) && outcomeIn(own, id) === 'passed' && outcomeIn(base, id) === undefined,
      );
      const kept = broken.filter((id) => outcomeIn(own, id) === 'passed');
      return successors.length >= gone.length ? [...kept, ...gone] : kept;
    }),
  );
  if (superseded.size === 0) return tests;
  const regressions = tests.regressions.filter((id) => !superseded.has(id));
  return { ...tests, regressions, superseded: [...superseded].sort() };
}

/**
 * A changed expectation is no longer a question if a survivor of another model family makes the same change: what
 * several families change alike is probably what the task asks for. The result does not depend on the order.
 */
export function settledByOthers(evidence: readonly Evidence[]): readonly Evidence[] {
  const survivors = evidence.filter(({ survivor }) => survivor);
  const makers = new Map<string, Evidence[]>();
  for (const one of survivors)
    for (const key of new Set(questionsOf(one).flatMap(changeKey)))
      makers.set(key, [...(makers.get(key) ?? []), one]);
  return evidence.map((one) => {
    const settle = (finding: TamperingFinding): TamperingFinding => {
      const [key] = finding.severity === 'question' ? changeKey(finding) : [];
      const others = (key === undefined ? [] : (makers.get(key) ?? [])).filter(
        ({ family }) => family !== undefined && one.family !== undefined && family !== one.family,
      );
      if (!one.survivor || others.length === 0) return finding;
      const names = others.map(({ alias }) => alias).sort();
      const settled = `${names.join(', ')} of ${names.length === 1 ? 'another model family makes' : 'other model families make'} the same change.`;
      return { ...finding, severity: 'note', settled };
    };
    return questionsOf(one).length === 0 ? one : { ...one, gates: mapFindings(one.gates, settle) };
  });
}

/**
 * Changed tests that the candidate's code fails become gates if another survivor shows that they need not change: it
 * breaks no base test, fails no independent test, and passes one of the task that the candidate fails. Tests that most
 * survivors break, and tests that the brief says must change, do not count.
 */
export function confirmedByOthers(evidence: readonly Evidence[]): readonly Evidence[] {
  const showing = evidence.filter(isSoundAndProven);
  return evidence.map((one) => {
    // A test that passes on the base, too, shows nothing that the task asks for.
    const others = showing.filter(
      (other) =>
        other.alias !== one.alias &&
        failsAgainst(one.independentTests, other.independentTests, ({ guard }) => !guard) > 0,
    );
    const [other] = others.map(({ alias }) => alias).sort();
    if (!one.survivor || other === undefined || (one.baseTests?.regressions ?? []).length === 0) return one;
    const gates = mapFindings(one.gates, (finding) =>
      finding.severity === 'question' && finding.original === 'fails' && !finding.declared
        ? {
            ...finding,
            severity: 'gate',
            settled: `${finding.settled ?? ''} ${other} breaks no existing test and passes tests of the task that this one fails, so they need not change.`,
          }
        : finding,
    );
    return { ...one, gates, survivor: gates.every(({ passed }) => passed) };
  });
}

const isSoundAndProven = ({ survivor, baseTests, independentTests }: Evidence): boolean =>
  survivor &&
  baseTests?.source === 'report' &&
  baseTests.regressions.length === 0 &&
  (baseTests.contested ?? []).length === 0 &&
  (baseTests.superseded ?? []).length === 0 &&
  independentTests !== undefined &&
  independentTests.failing.length === 0;

/** A changed expectation, in its file; none if the finding is no expectation, or its change is unknown. */
const changeKey = ({ kind, path, change }: TamperingFinding): readonly string[] =>
  EXPECTATION_KINDS.has(kind) && change !== undefined ? [[kind, path, change].join('\0')] : [];
