import type { TestOutcome, TestRun } from '../evidence/index.ts';
import type { IndependentTest, Trial } from './types.ts';

/** How the outcome of a test run is divided among the files that were laid for it. */
export interface RunContextOfTests {
  /** The same command on the base without any of them: what it names is not new. */
  readonly onBase: TestRun;
  /** The command was told to run these files and no others. */
  readonly focused: boolean;
  /** Without them, all tests of this tree pass: only then an exit code speaks of them. */
  readonly passesWithout: boolean;
}

/** Characters of a runner's words that are kept: the end. */
const MAX_MESSAGE_CHARS = 1_500;
const BROKEN_TRIAL: Trial = { kind: 'broke', cases: {} };
const UNKNOWN: Trial = { kind: 'unknown', cases: {} };

/** What a run says of the only file that was laid for it. */
export function trialFromOwnRun(test: IndependentTest, run: TestRun, reading: RunContextOfTests): Trial {
  if (run.source === 'none') return UNKNOWN;
  const byExitCode = reading.onBase.source !== 'report';
  // The end of a whole suite's output is about anything.
  const tail =
    reading.focused || (byExitCode && reading.passesWithout)
      ? { message: run.tail.slice(-MAX_MESSAGE_CHARS) }
      : {};
  if (run.stopped) return { ...BROKEN_TRIAL, ...tail };
  if (byExitCode) return { ...exitCodeCase(test, run, reading), ...tail };
  if (run.source !== 'report') return { ...BROKEN_TRIAL, ...tail };
  // Where tests are compiled, the report names what they became.
  const named = namedCases(test.path, run, reading);
  const cases = named.length > 0 ? named : newCases(test.path, run, reading);
  return { ...tail, ...completedTrial(cases, run) };
}

/**
 * What a run says of several files laid together, in their order; null where it cannot be told apart, as when one of them
 * kept the others from being reported.
 */
export function trialsFromSharedRun(
  tests: readonly IndependentTest[],
  run: TestRun,
  reading: RunContextOfTests,
): readonly Trial[] | null {
  if (run.stopped || run.source !== 'report') return null;
  const trials: Trial[] = [];
  for (const test of tests) {
    if (!Object.keys(run.tests).some((id) => isCaseOf(test.path, id))) return null;
    trials.push(completedTrial(namedCases(test.path, run, reading), run));
  }
  return trials;
}

/** With what the runner said about the cases that failed. */
function completedTrial(cases: Cases, { messages = {} }: TestRun): Trial {
  const words = cases.flatMap(([id]) => (Object.hasOwn(messages, id) ? (messages[id] ?? []) : []));
  const all = words.join('\n').slice(-MAX_MESSAGE_CHARS);
  return { kind: 'ran', cases: Object.fromEntries(cases), ...(all === '' ? {} : { message: all }) };
}

/** A runner without a report has one case for the file: the command's exit code. */
function exitCodeCase(
  test: IndependentTest,
  run: TestRun,
  { passesWithout, focused }: RunContextOfTests,
): Trial {
  if (!passesWithout && !focused) return UNKNOWN;
  return { kind: 'ran', cases: { [test.path]: run.exitCode === 0 ? 'passed' : 'failed' } };
}

type Cases = readonly (readonly [string, TestOutcome])[];

const isCaseOf = (path: string, id: string): boolean => id === path || id.startsWith(`${path} > `);

/** Cases whose id names the file. */
function namedCases(path: string, run: TestRun, { onBase }: RunContextOfTests): Cases {
  const bare = hasScriptsOnly(onBase);
  return Object.entries(run.tests).filter(([id]) => isCaseOf(path, id) && (bare || !isWholeFile(id)));
}

/** Cases that the base does not have: a command for one file may run its whole folder. */
function newCases(path: string, run: TestRun, { onBase }: RunContextOfTests): Cases {
  const bare = hasScriptsOnly(onBase);
  const module = path.replace(/\.\w+$/, '').replaceAll('/', '.');
  const old = new Set([...Object.keys(onBase.tests), ...(onBase.flaky ?? [])]);
  const known = (id: string) => old.has(id) || old.has(id.replace(/ #\d+$/, ''));
  return Object.entries(run.tests).filter(
    // pytest names a module that it cannot import.
    ([id]) => (bare || !isWholeFile(id)) && id !== module && !known(id),
  );
}

const isFile = (name: string): boolean => /^[^\s>]+\.\w{1,8}$/.test(name);

/**
 * An id that stands for a file, not for a case of it: it passes when the process ends well, even if it ended before
 * any case was over.
 */
function isWholeFile(id: string): boolean {
  const [file = '', name, ...more] = id.split(' > ');
  if (!isFile(file) || more.length > 0) return false;
  return name === undefined || name === 'did not load' || (isFile(name) && file.endsWith(name));
}

/** Does the runner name the file of each test? Only then can files be run together. */
export const namesFiles = ({ tests }: Pick<TestRun, 'tests'>): boolean =>
  Object.keys(tests).some((id) => isFile(id.split(' > ', 1)[0] ?? ''));

/** All tests of this repository are plain scripts: here a file is a case. */
const hasScriptsOnly = ({ tests }: TestRun): boolean => {
  const ids = Object.keys(tests);
  return ids.length > 0 && ids.every(isWholeFile);
};
