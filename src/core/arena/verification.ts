import { succeeded, type TestRun } from '../evidence/index.ts';
import { counted } from '../model/index.ts';
import type { TestCounts, Verification } from './records.ts';

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

const totalOf = ({ passed, failed, skipped }: TestCounts): number => passed + failed + skipped;

interface Executed {
  readonly built: boolean | null;
  readonly tests: TestCounts | null;
  readonly hiddenTests: TestCounts | null;
}

/** The truth by execution: hidden tests decide if there are any, else the verify commands. */
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

/** Why a task is left out of ratings; null if it tells contestants apart. */
export function whyUnrated({ built, tests, hiddenTests }: Executed): string | null {
  if (built === false) return 'The base commit cannot be set up or built.';
  if ((hiddenTests ?? tests)?.ok !== true) return null;
  return hiddenTests
    ? 'Its hidden tests pass on the base without a change.'
    : 'Its verify commands pass on the base without a change.';
}
