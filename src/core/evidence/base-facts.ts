import { type Alias, uniqueSorted } from '../model/index.ts';
import { changedPackageFiles, type Patch } from '../patches/index.ts';
import type { BaseTests, GateReport, TestOutcome, TestRun } from './evidence.ts';

/** Base tests that are excluded for one common reason. */
export interface ExcludedTests {
  /** What they lack according to their output; `failing`: any other reason. */
  readonly because: Need | 'failing';
  readonly count: number;
  /** Sorted; the first few. */
  readonly names: readonly string[];
}

/** The result of the base tests on the base commit, for people. Plain JSON, bounded. */
export interface BaseFacts {
  /** Absent when the tests give usable results. */
  readonly silence?: Silence;
  /** Why the command was stopped; absent when it was not. */
  readonly stopped?: NonNullable<TestRun['stopped']>;
  readonly exitCode: number | null;
  /** Tests that pass, and tests that passed or failed; 0 without a report. */
  readonly passed: number;
  readonly total: number;
  /** Tests that fail on the base, the largest group first. */
  readonly excluded: readonly ExcludedTests[];
  /** The lines of a silent command's output that explain the failure. */
  readonly lines: readonly string[];
  /** What a silent command lacks according to its output. */
  readonly need?: Need;
}

/** Maximum names kept of each group. */
const MAX_NAMES = 3;
/** Maximum characters of one name. */
const MAX_NAME = 100;

export function baseFacts(base: TestRun): BaseFacts {
  const silence = silenceOf(base);
  const need = silence === null ? null : needOf([...(base.errors ?? []), base.tail].join('\n'));
  const outcomes = Object.values(base.tests);
  const count = (outcome: TestOutcome) => outcomes.filter((one) => one === outcome).length;
  return {
    ...(silence === null ? {} : { silence }),
    ...(base.stopped ? { stopped: base.stopped } : {}),
    exitCode: base.exitCode,
    passed: count('passed'),
    total: count('passed') + count('failed'),
    excluded: excludedTests(base),
    lines: silence === null ? [] : (base.errors ?? []),
    ...(need === null ? {} : { need }),
  };
}

function excludedTests(base: TestRun): readonly ExcludedTests[] {
  const messages = new Map(Object.entries(base.messages ?? {}));
  const groups = new Map<ExcludedTests['because'], string[]>();
  for (const [id, outcome] of Object.entries(base.tests)) {
    if (outcome !== 'failed') continue;
    const because = needOf(messages.get(id) ?? '') ?? 'failing';
    groups.set(because, [...(groups.get(because) ?? []), id]);
  }
  return [...groups]
    .map(([because, ids]) => ({
      because,
      count: ids.length,
      names: uniqueSorted(ids)
        .slice(0, MAX_NAMES)
        .map((id) => id.slice(0, MAX_NAME)),
    }))
    .toSorted((a, b) => b.count - a.count || (a.because < b.because ? -1 : 1));
}

/**
 * Why the base tests cannot evaluate candidates:
 * - `no-command`: no test command is known for this repository
 * - `not-started`: the shell cannot start the command (exit code 126 or 127)
 * - `stopped`: the command exceeds a limit
 * - `exit-code`: it fails without a report, so the failing tests are unknown
 * - `none-passes`, `none-reported`: it writes a report, but no test in it passes
 */
export type Silence =
  | 'no-command'
  | 'not-started'
  | 'stopped'
  | 'exit-code'
  | 'none-passes'
  | 'none-reported';

/** Null when the tests give usable results: they pass, or a report says which of them do. */
export function silenceOf(base: TestRun): Silence | null {
  if (base.source === 'none') return 'no-command';
  if (base.stopped) return 'stopped';
  if (base.source === 'exit-code') {
    if (base.exitCode === 0) return null;
    return base.exitCode === 126 || base.exitCode === 127 ? 'not-started' : 'exit-code';
  }
  // The result of a linter is not a test result.
  const beside = new Set(base.steps ?? []);
  const outcomes = Object.entries(base.tests).flatMap(([id, outcome]) => (beside.has(id) ? [] : [outcome]));
  if (outcomes.length === 0) return 'none-reported';
  return outcomes.includes('passed') ? null : 'none-passes';
}

/** Whether to run the test command on candidates: a command that cannot run on the base cannot run on them. */
export function canRun(base: TestRun): boolean {
  const silence = silenceOf(base);
  return silence !== 'no-command' && silence !== 'not-started' && silence !== 'stopped';
}

/** A package, or the part of it that was compiled for another version of its language, cannot be loaded. */
const PACKAGE_SIGNS =
  /Cannot find (?:module|package) '|\bERR_MODULE_NOT_FOUND\b|\bERR_DLOPEN_FAILED\b|\bNODE_MODULE_VERSION\b|invalid ELF header|\bModuleNotFoundError\b|\bPackageNotFoundError\b|\bDistributionNotFound\b|cannot load such file -- |: (?:command )?not found\b/;

/** Share of failing tests from which installed packages are suspected. Our default. */
const SUSPICIOUS_SHARE = 0.1;

/** Whether tests on the base may fail because of the packages that are installed there. */
export function mayLackPackages(base: TestRun): boolean {
  if (base.exitCode === 0) return false;
  const texts = [...Object.values(base.messages ?? {}), ...(base.errors ?? []), base.tail];
  if (texts.some((text) => PACKAGE_SIGNS.test(text))) return true;
  const outcomes = Object.values(base.tests);
  const failed = outcomes.filter((one) => one === 'failed').length;
  return failed > SUSPICIOUS_SHARE * outcomes.length;
}

/** What a test may need that the sandbox does not provide. */
const NEEDS = ['database', 'browser', 'docker', 'display', 'time-zone', 'clock', 'network'] as const;
export type Need = (typeof NEEDS)[number];

/** PostgreSQL, MySQL, Redis, MongoDB, RabbitMQ, Elasticsearch. */
const PORTS = '(?:5432|3306|6379|27017|5672|9200)';
/** Usual names of these services in a compose file. */
const SERVICES = '(?:postgres(?:ql)?|mysql|mariadb|redis|mongo(?:db)?|rabbitmq|elasticsearch|db)';

/** Checked in this order: an unavailable database also shows as a refused connection. */
const NEED_SIGNS: readonly (readonly [Need, RegExp])[] = [
  [
    'database',
    new RegExp(
      `(?:ECONNREFUSED|[Cc]onnection refused|[Cc]onnecting to|[Cc]onnect to)[^\\n]{0,120}\\b${PORTS}\\b` +
        `|\\b${PORTS}\\b[^\\n]{0,120}(?:ECONNREFUSED|refused)` +
        `|(?:ENOTFOUND|EAI_AGAIN|could not translate host name|lookup) "?${SERVICES}\\b` +
        `|Can't connect to (?:local )?MySQL server`,
    ),
  ],
  [
    'browser',
    /Executable doesn't exist at|playwright install\b|Could not find (?:Chrom|expected browser)|Failed to launch the browser process|No binary for Chrom|cannot find Chrome binary|(?:chromedriver|geckodriver)'? executable needs to be in PATH/,
  ],
  ['docker', /Cannot connect to the Docker daemon|docker\.sock\b|Could not find a valid Docker environment/],
  ['display', /cannot open display|no display name and no \$DISPLAY|Missing X server/i],
  [
    'time-zone',
    /ZoneInfoNotFoundError|No time zone found with key|unknown time zone|Invalid time zone specified/,
  ],
  [
    // The test sets the clock or depends on the current date.
    'clock',
    /cannot set date|(?:clock_settime|settimeofday|clock_adjtime)\S*[: ].{0,80}not permitted|libfaketime|certificate has expired|CERT_HAS_EXPIRED|certificate is not yet valid|certificate expired|TokenExpiredError|jwt expired|ExpiredSignatureError/i,
  ],
  [
    'network',
    /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)\b|getaddrinfo|Temporary failure in name resolution|Name or service not known|Could not resolve host|UnknownHostException|NameResolutionError|no such host|failed to lookup address information|[Nn]etwork is unreachable/,
  ],
];

/** Maximum characters of an output that are searched. */
const MAX_SEARCHED_CHARS = 20_000;

/** What is missing according to the output of a failure; null if the output does not show it. */
export const needOf = (output: string): Need | null =>
  NEED_SIGNS.find(([, sign]) => sign.test(output.slice(-MAX_SEARCHED_CHARS)))?.[0] ?? null;

/** Gates whose commands need the packages installed by set-up. */
const EXECUTED: ReadonlySet<string> = new Set(['builds', 'tests-run']);
/** Maximum files that the sentence names. */
const MAX_NAMED_FILES = 3;

/**
 * Messages about a threshold of coverage, after which the command fails: nyc, c8 and vitest; jest; pytest-cov; coverage.py;
 * Node; SimpleCov; JaCoCo. Escape sequences may stand before them.
 */
const BELOW_COVERAGE: readonly RegExp[] = [
  /Coverage for \w{1,20} \([\d.]{1,20}%\) does not meet\b/,
  /Jest: .{0,300}(?:coverage threshold for \w{1,20} \([\d.]{1,20}%\) not met|Uncovered count for \w{1,20} \(\d{1,9}\) exceeds)\b/,
  /Required test coverage of [\d.]{1,20}% not reached\b/,
  /Coverage failure: total of [\d.]{1,20} is less than fail-under=/,
  /[\d.]{1,20}% \w{1,20} coverage does not meet threshold of [\d.]{1,20}%/,
  /coverage \([\d.]{1,20}%\) is below the expected minimum coverage\b/,
  /Coverage checks have not been met\b/,
];

/** Another reason why a command fails although no test does: vitest, jest, mocha and Node on errors outside of tests. */
const OUTSIDE_OF_TESTS =
  /\bUnhandled (?:Errors?|Rejections?)\b|\bunhandled (?:promise )?rejection|\buncaughtException\b/i;

/** Exit codes with which these programs end. A crash has others. */
const COVERAGE_EXIT_CODES: ReadonlySet<number | null> = new Set([1, 2]);

/** Whether a test command in which no test failed did so because coverage is below a threshold, by its output. */
export const failedForCoverage = (exitCode: number | null, output: string): boolean =>
  COVERAGE_EXIT_CODES.has(exitCode) && saysBelowCoverage(output) && !OUTSIDE_OF_TESTS.test(output);

/** Whether an output has the message of a threshold that is not met. */
export const saysBelowCoverage = (output: string): boolean =>
  BELOW_COVERAGE.some((message) => message.test(output));

interface Examined {
  readonly gates: readonly GateReport[];
  readonly baseTests?: BaseTests;
}

/** Why a candidate that changes package files was not set up anew. */
export type SetUpObstacle = 'not-allowed' | 'no-command' | 'eliminated' | 'only-tests';

const OBSTACLES: Readonly<Record<SetUpObstacle, string>> = {
  'not-allowed': '',
  'no-command': ', as there is no set-up command (`checks.setup`)',
  eliminated: ', as it failed a gate before set-up',
  'only-tests': ', as only files among its tests name other packages',
};

/**
 * Adds a note to the failed gates and to the tests of a candidate that changes package files and was not set up anew:
 * it is built and tested without its new packages. Without tests, the gate `builds` says so.
 */
export function withPackagesNote<T extends Examined>(
  alias: Alias,
  { files }: Patch,
  found: T,
  obstacle: SetUpObstacle,
): T {
  const changed = changedPackageFiles(files);
  if (changed.length === 0) return found;
  const rest = changed.length - MAX_NAMED_FILES;
  const names = `${changed.slice(0, MAX_NAMED_FILES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  const failed = ({ gate, passed }: GateReport) => !passed && EXECUTED.has(gate);
  const broke = found.gates.some(failed) || (found.baseTests?.regressions.length ?? 0) > 0;
  const because = `is built and tested with the packages of the base commit${OBSTACLES[obstacle]}${adviceOn(obstacle, broke)}`;
  const isUntold = !broke && !found.baseTests;
  return {
    ...found,
    gates: found.gates.map((report) =>
      failed(report) || (isUntold && report.gate === 'builds')
        ? { ...report, because: `${report.because.replace(/\.$/, '')}. It changes ${names}, but ${because}` }
        : report,
    ),
    ...(found.baseTests
      ? {
          baseTests: {
            ...found.baseTests,
            notes: [...(found.baseTests.notes ?? []), `${alias} changes ${names}, but ${because}`],
          },
        }
      : {}),
  };
}

/** Ends the sentence. */
function adviceOn(obstacle: SetUpObstacle, broke: boolean): string {
  if (obstacle !== 'not-allowed') return broke ? ': others may be missing.' : '.';
  return broke
    ? ': others may be missing. `checks.candidateSetup` installs them.'
    : '. `checks.candidateSetup` installs its own.';
}

/** How a command ended that was stopped: after “failed”, “is” or in brackets. */
export const HOW_STOPPED: Readonly<Record<NonNullable<TestRun['stopped']>, string>> = {
  wall: 'stopped at its time limit',
  silence: 'stopped after too long without output',
  memory: 'stopped at its memory limit',
  disk: 'stopped at its disk limit',
  cancelled: 'cancelled',
};
