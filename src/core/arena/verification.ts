import { succeeded, type TestRun } from '../evidence/index.ts';
import { counted } from '../model/index.ts';
import type { BaseResult, TestCounts, Verification } from './records.ts';

const MAX_FAILURES = 20;
const MAX_FAILURE_CHARS = 400;

/**
 * What a test run showed. `base`: the same commands on the base. If they wrote a report there, an answer whose tests write
 * none, or with which fewer tests run, has not passed: it may have ended the test program, or deleted tests.
 */
export function countsOfRun(run: TestRun, base: TestCounts | null): TestCounts {
  const outcomes = Object.entries(run.tests);
  const failures = outcomes.filter(([, outcome]) => outcome === 'failed').map(([name]) => name);
  const of = (outcome: string) => outcomes.filter(([, one]) => one === outcome).length;
  const reported = run.source === 'report';
  const isWhole = base?.reported !== true || (reported && outcomes.length >= totalOf(base));
  const ok = succeeded(run) && failures.length === 0 && isWhole;
  const whole = outcomes.length === 0 ? { passed: ok ? 1 : 0, failed: ok ? 0 : 1 } : null;
  return {
    passed: whole?.passed ?? of('passed'),
    failed: whole?.failed ?? failures.length,
    skipped: of('skipped'),
    ok,
    reported,
    seconds: run.ms / 1000,
    failures: failures.slice(0, MAX_FAILURES).map((name) => name.slice(0, MAX_FAILURE_CHARS)),
  };
}

/** Of a run that does not count although its commands succeeded. */
export const notCounting = (counts: TestCounts): TestCounts => ({
  ...counts,
  ok: false,
  ...(counts.reported ? {} : { passed: 0, failed: 1 }),
});

const totalOf = ({ passed, failed, skipped }: TestCounts): number => passed + failed + skipped;

interface Executed {
  readonly built: boolean | null;
  readonly tests: TestCounts | null;
  readonly hiddenTests: TestCounts | null;
}

/**
 * Whether an answer solves its task. *Solved*: it applies and builds, the hidden tests pass (without any: the verify
 * commands), all tests that are known without it were run, and no test of the base that passed is broken. `why`: what
 * execution found against it although no test fails; it names the first reason.
 */
export function verificationOf(
  executed: Executed,
  more: Pick<Verification, 'change'> & { readonly why: string | null },
): Verification {
  const { built, tests, hiddenTests } = executed;
  const decisive = hiddenTests ?? tests;
  const solved = built !== false && decisive?.ok === true && more.why === null;
  const why = solved ? null : (more.why ?? failureText(hiddenTests === null ? 'verify' : 'hidden', decisive));
  return { applied: true, built, tests, hiddenTests, solved, why, change: more.change };
}

function failureText(kind: 'verify' | 'hidden', counts: TestCounts | null): string {
  const what = kind === 'hidden' ? 'hidden test' : 'test';
  if (counts === null) return 'Nothing was executed.';
  if (!counts.reported) return kind === 'hidden' ? 'The hidden tests fail.' : 'The verify commands fail.';
  const [first] = counts.failures;
  if (first === undefined) return 'No test fails, but the command does, or fewer tests ran than on the base.';
  return `${counted(counts.failed, `${what} fails`, `${what}s fail`)}, such as ${first}.`;
}

/**
 * Why a task is left out of ratings; null if it tells contestants apart. `notStarted`: commands that the shell could not
 * start on the base. `reference`: why the task's reference does not solve it; null if it does, or there is none.
 */
export function whyUnrated(
  { built, tests, hiddenTests }: Executed,
  broken: { readonly notStarted: string | null; readonly reference: string | null },
): string | null {
  if (built === false) return 'The base commit cannot be set up or built.';
  // Such a task tells nothing, whatever else is wrong with it.
  if ((hiddenTests ?? tests)?.ok === true)
    return hiddenTests
      ? 'Its hidden tests pass on the base without a change.'
      : 'Its verify commands pass on the base without a change.';
  if (broken.notStarted !== null) return broken.notStarted;
  return broken.reference === null ? null : `Its reference does not solve it. ${broken.reference}`;
}

/**
 * Whether a task is broken by what can be corrected without changing it: its base does not build, a program is missing,
 * or its reference fails. Nobody is asked then, and its base is executed again. A task whose base passes stays as it is.
 */
export const isBroken = ({
  rated,
  tests,
  hiddenTests,
}: Pick<BaseResult, 'hiddenTests' | 'rated' | 'tests'>): boolean =>
  !rated && (hiddenTests ?? tests)?.ok !== true;

/** Messages of npm and make, which end with other exit codes than a shell. */
const NO_SUCH_COMMAND = /^npm (?:error|ERR!) Missing script:|\bNo rule to make target\b/m;

/** What says that a task's commands are broken, as a sentence; null if they ran. `what`: of which commands. */
export function notStarted(what: 'verify commands' | 'hidden tests', run: TestRun): string | null {
  const { exitCode, tail } = run;
  const isMissing = exitCode === 126 || exitCode === 127;
  if (!isMissing && (succeeded(run) || !NO_SUCH_COMMAND.test(tail))) return null;
  const line = tail.split('\n').findLast((one) => one.trim() !== '');
  return `A command of its ${what} cannot be started (exit code ${exitCode})${line === undefined ? '' : `: ${line.trim().slice(0, 300)}`}`;
}

const CHECK_SCRIPT = /(?:^|[/._-])(?:check|verify|test|tests|validate|assert|smoke|ci)[\w-]*(?:\.\w+)?$/i;

/**
 * Of the files that commands name, those that check the work and are not part of it: scripts of a shell, and files that
 * are named for it.
 */
export function checkScripts(commands: readonly string[], files: readonly string[]): readonly string[] {
  const words = new Set(commands.flatMap((line) => line.split(/[\s;&|"'`()<>=]+/)).map(withoutDot));
  return files.filter((path) => words.has(path) && (/\.(?:sh|bash)$/.test(path) || CHECK_SCRIPT.test(path)));
}

const withoutDot = (word: string): string => word.replace(/^(?:\.\/)+/, '');
