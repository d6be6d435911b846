import { fileKindOf } from '../likeness/index.ts';
import { counted } from '../model/index.ts';
import { matchesAny, type Patch, type PatchFile } from '../patches/index.ts';
import { canRun, silenceOf } from './base-facts.ts';
import { GATES, type GateReport, type TestRun } from './evidence.ts';
import { findingText } from './findings.ts';
import { hasContent } from './languages.ts';
import {
  findTampering,
  type PatchTexts,
  SEVERITIES,
  type Severity,
  sourcesOf,
  type TamperingFinding,
  type TamperingKind,
  type TamperingOptions,
} from './tampering.ts';
import { isBesideProduction, type TaskKind } from './task-kind.ts';
import { brokenSteps, succeeded, testsAlone } from './test-runs.ts';

/** Maximum size of a patch that is worth reviewing. Defaults, to be tuned on dev data. */
interface ScopeLimits {
  readonly files: number;
  /** Added plus removed lines. */
  readonly lines: number;
  /** Characters of the whole patch, including binary parts. */
  readonly textLength: number;
  /** Characters of one added line of code: longer lines are minified or generated. */
  readonly lineLength: number;
}
const SCOPE_LIMITS: ScopeLimits = {
  files: 300,
  lines: 20_000,
  textLength: 4 * 2 ** 20,
  lineLength: 50_000,
};

interface StaticOptions extends TamperingOptions {
  /** What the task asks for. Default: code. */
  readonly kind?: TaskKind;
  readonly limits?: Partial<ScopeLimits>;
  /** Base versions of the files that `watchedFiles` names; without them every suspicious line in these files counts. */
  readonly baseTexts?: Readonly<Record<string, string>>;
}

/** Gates that need no execution: `content`, `scope`, `untampered`. */
export function staticGates(
  patch: Patch,
  settings: { readonly protect: readonly string[] },
  options: StaticOptions = {},
): readonly GateReport[] {
  const tooBig = sizeFault(patch, { ...SCOPE_LIMITS, ...options.limits });
  // An oversized patch is rejected without checking its lines.
  return tooBig
    ? [
        gateFailed('content', 'Not checked: the patch is too large.'),
        gateFailed('scope', tooBig),
        gateFailed('untampered', 'Not checked: the patch is too large.'),
      ]
    : [contentGate(patch, options.kind), scopeGate(patch, settings.protect), untamperedGate(patch, options)];
}

/** Texts to parse for these gates; none for an oversized patch. */
export const gateSources = (patch: Patch, { baseTexts = {}, limits = {} }: StaticOptions): PatchTexts =>
  sizeFault(patch, { ...SCOPE_LIMITS, ...limits }) === null
    ? sourcesOf(patch, baseTexts)
    : { base: [], patched: [] };

/** Whether every gate was checked and passed. */
export const isSurvivor = (gates: readonly GateReport[]): boolean =>
  GATES.every((name) => gates.some((report) => report.gate === name)) &&
  gates.every((report) => report.passed);

const gatePassed = (gate: GateReport['gate'], because: string): GateReport => ({
  gate,
  passed: true,
  because,
});
const gateFailed = (gate: GateReport['gate'], because: string, hunk?: string): GateReport =>
  hunk === undefined ? { gate, passed: false, because } : { gate, passed: false, because, hunk };

function contentGate(patch: Patch, kind: TaskKind = 'code'): GateReport {
  const production = patch.production;
  if (patch.files.length === 0) return gateFailed('content', 'The patch changes nothing.');
  if (kind === 'tests') {
    const other = patch.files.filter((file) => !isBesideProduction(file)).map(({ path }) => path);
    if (other.length > 0)
      return gateFailed(
        'content',
        `The task asks for tests alone; the patch also changes ${firstFew(other)}.`,
      );
    const tests = patch.tests.filter((file) => file.change !== 'deleted' && hasContent(file));
    return tests.length > 0
      ? gatePassed(
          'content',
          `The task asks for tests; the patch changes ${counted(tests.length, 'test file')}.`,
        )
      : gateFailed('content', 'The task asks for tests, and the patch adds none.');
  }
  const settings = patch.files.filter(
    ({ path, change }) => fileKindOf(path, change === 'added') === 'config',
  );
  if (kind === 'configuration' && production.length === 0 && settings.length > 0)
    return gatePassed('content', `The patch changes ${counted(settings.length, 'configuration file')}.`);
  if (production.length === 0)
    return gateFailed('content', 'The patch changes only tests or their configuration.');
  return production.some(hasContent)
    ? gatePassed('content', `The patch changes ${counted(production.length, 'production file')}.`)
    : gateFailed('content', 'The patch changes only whitespace and comments.');
}

function scopeGate(patch: Patch, protect: readonly string[]): GateReport {
  const touched = patch.files.filter((file) => matchesAny(protect, file.path)).map((file) => file.path);
  if (touched.length === 0)
    return gatePassed('scope', `${counted(patch.files.length, 'file')}, none of them protected.`);
  return gateFailed('scope', `The patch changes protected files: ${firstFew(touched)}.`);
}

function sizeFault(patch: Patch, limits: ScopeLimits): string | null {
  const lines = patch.files.reduce((total, file) => total + file.additions + file.deletions, 0);
  const length = patch.files.reduce((total, file) => total + file.section.length, 0);
  if (patch.files.length > limits.files)
    return `The patch changes ${patch.files.length} files; at most ${limits.files} are accepted.`;
  if (lines > limits.lines) return `The patch changes ${lines} lines; at most ${limits.lines} are accepted.`;
  if (length > limits.textLength)
    return `The patch is ${length} characters long; at most ${limits.textLength} are accepted.`;
  const long = patch.files.find((file) => !file.binary && hasLongLine(file, limits.lineLength));
  return long ? `${long.path} has a line of more than ${limits.lineLength} characters.` : null;
}

const hasLongLine = (file: PatchFile, most: number): boolean =>
  file.section.length > most &&
  file.section.split('\n').some((line) => line.startsWith('+') && line.length > most + 1);

/** The most severe first, and those first that execution may make gates. */
function untamperedGate(patch: Patch, { baseTexts = {}, ...options }: StaticOptions): GateReport {
  const rank = (one: TamperingFinding) =>
    2 * SEVERITIES.indexOf(one.severity) + (MAY_BECOME_GATES.has(one.kind) ? 0 : 1);
  const findings = findTampering(patch, baseTexts, options)
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, MAX_FINDINGS)
    .map((one, i) => (i < MAX_WITH_LINES ? one : withoutLines(one)));
  if (findings.length === 0)
    return gatePassed(
      'untampered',
      'No change of existing tests, snapshots or their configuration was found, other than additions.',
    );
  const of = (severity: Severity) => findings.filter((one) => one.severity === severity);
  const [gates, questions] = [of('gate'), of('question')];
  const report =
    gates[0] !== undefined
      ? gateFailed('untampered', `${sentences(gates)}.`, gates[0].hunk)
      : gatePassed(
          'untampered',
          questions.length > 0
            ? `A person should look at these lines: ${sentences(questions)}.`
            : `Changed, as the task may require: ${sentences(findings)}.`,
        );
  return { ...report, findings };
}

const MAY_BECOME_GATES: ReadonlySet<TamperingKind> = new Set([
  'test-deleted',
  'test-skipped',
  'assertion-neutralised',
]);
/**
 * Maximum findings kept for one candidate, to bound memory: settling needs all of them, and a patch has at most 300
 * files. Reports show fewer. Default.
 */
const MAX_FINDINGS = 2_000;
/** Findings kept with their lines. Default: more than anybody reads. */
const MAX_WITH_LINES = 100;

const withoutLines = ({ hunk: _, change: __, ...one }: TamperingFinding): TamperingFinding => one;

function sentences(findings: readonly TamperingFinding[]): string {
  const named = findings.slice(0, MAX_FINDINGS_SHOWN).map(findingText).join('; ');
  return findings.length > MAX_FINDINGS_SHOWN
    ? `${named}; and ${findings.length - MAX_FINDINGS_SHOWN} more`
    : named;
}

const MAX_FINDINGS_SHOWN = 3;

const firstFew = (items: readonly string[]): string =>
  items.slice(0, 5).join(', ') + (items.length > 5 ? ` and ${items.length - 5} more` : '');

/** When the only result of the base tests is an uninformative exit code, the gate passes; null when there is more. */
function silentGate(base: TestRun, run: TestRun): GateReport | null {
  if (canRun(base) && base.source === 'report') return null;
  switch (silenceOf(base)) {
    case null:
      return null;
    case 'no-command':
      return gatePassed('tests-run', 'No tests were run: no test command is known.');
    case 'not-started':
      return gatePassed(
        'tests-run',
        'No tests were run: the test command could not be started on the base commit.',
      );
    case 'stopped':
      return gatePassed('tests-run', 'No tests were run: they exceed a limit on the base commit.');
    default:
      return gatePassed(
        'tests-run',
        succeeded(run)
          ? 'The test command passes; it fails on the base commit.'
          : 'The tests are inconclusive: their command also fails on the base commit.',
      );
  }
}

/** Checks that the tests gave a result. `base` is the same command on the base commit. */
export function testsRunGate(base: TestRun, run: TestRun): GateReport {
  const silent = silentGate(base, run);
  if (silent) return silent;
  if (run.stopped)
    return gateFailed('tests-run', `The tests were stopped: ${STOP_REASONS[run.stopped]}.`, run.tail);
  if (run.exitCode === null)
    return gateFailed('tests-run', 'The test command was killed by a signal.', run.tail);
  if (base.source === 'exit-code') {
    return run.exitCode === 126 || run.exitCode === 127
      ? gateFailed(
          'tests-run',
          `The test command could not be started (exit code ${run.exitCode}).`,
          run.tail,
        )
      : gatePassed('tests-run', `The test command ended with exit code ${run.exitCode}.`);
  }
  if (run.source !== 'report') {
    return gateFailed(
      'tests-run',
      `The tests wrote no report (exit code ${run.exitCode}), although they do on the base commit.`,
      run.tail,
    );
  }
  const count = Object.keys(testsAlone(run).tests).length;
  if (count === 0 && Object.keys(testsAlone(base).tests).length > 0) {
    return gateFailed('tests-run', `The test report is empty (exit code ${run.exitCode}).`, run.tail);
  }
  const why = run.belowCoverage ? ', because coverage is below the threshold of the repository' : '';
  return gatePassed('tests-run', `${counted(count, 'test')} reported (exit code ${run.exitCode}${why}).`);
}

/**
 * Fails when, with the patch's own test files, tests fail that do not fail on the base: committing it would break the
 * build. Null on success. `before`: the base's tests on the patch's other code.
 */
export function ownTestsGate(base: TestRun, own: TestRun, before: TestRun): GateReport | null {
  if (silentGate(base, own)) return null;
  if (own.stopped) {
    return gateFailed(
      'tests-run',
      `With the patch's own test files, the tests were stopped: ${STOP_REASONS[own.stopped]}.`,
      own.tail,
    );
  }
  if (base.source === 'exit-code') {
    const broken = brokenSteps(base, own);
    if (own.exitCode === 0 && broken.length === 0) return null;
    return failingTestsGate(
      own,
      own.exitCode === 0
        ? `this test fails: ${firstFew(broken)}`
        : `the tests end with exit code ${own.exitCode}`,
    );
  }
  const fails = ({ tests }: TestRun, id: string) => Object.hasOwn(tests, id) && tests[id] === 'failed';
  const red = Object.keys(own.tests).filter((id) => fails(own, id) && !fails(base, id));
  if (red.length === 0) return null;
  const existing = red.filter((id) => fails(before, id)).sort();
  const fresh = red.filter((id) => !fails(before, id)).sort();
  const counts = [
    ...(existing.length > 0 ? [counted(existing.length, 'existing test')] : []),
    ...(fresh.length > 0 ? [counted(fresh.length, existing.length > 0 ? 'other test' : 'test')] : []),
  ];
  const verb = red.length === 1 ? 'fails' : 'fail';
  return failingTestsGate(own, `${counts.join(' and ')} ${verb}: ${firstFew([...existing, ...fresh])}`);
}

const failingTestsGate = ({ tail }: TestRun, what: string): GateReport => ({
  ...gateFailed('tests-run', `With the patch's own test files, ${what}.`, tail),
  ownTestsFail: true,
});

const STOP_REASONS: Readonly<Record<NonNullable<TestRun['stopped']>, string>> = {
  wall: 'they exceeded both `timeout.check` and three times the duration on the base commit, or both five minutes and ten times the duration on the base commit',
  silence: 'they neither printed nor computed anything for a quarter of their time limit',
  memory: 'they exceeded the memory limit',
  disk: 'they exceeded the disk limit',
  cancelled: 'run cancelled',
};
