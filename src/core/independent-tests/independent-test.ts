import type { IndependentTestOrigin, IndependentTests, TestOutcome, TestRun } from '../evidence/index.ts';
import type { Alias, Brief } from '../model/index.ts';

/** A test file that no competing model wrote. Plain JSON. */
export interface IndependentTest {
  /** Assigned by Runoff, unique in a run: `writer-1`, `distinguishing-2`, `issue-3`. */
  readonly id: string;
  readonly origin: IndependentTestOrigin;
  /** Model family of its writer; absent: no model wrote it, or an unknown one. */
  readonly family?: string;
  /** Its path from the top of the repository. Chosen by Runoff, never by a model (I6). */
  readonly path: string;
  readonly text: string;
  /** Expected result on the base: `fails` for required behaviour, `passes` for behaviour to preserve. */
  readonly onBase: 'fails' | 'passes';
  /**
   * `file`: the whole file is one vote; a candidate must pass all of its admitted cases. `case`: each case is a
   * separate vote, for a file of independent examples.
   */
  readonly votes: 'file' | 'case';
  /** Ids of its cases as the runner reports them; absent: all new ones reported for the file. */
  readonly cases?: readonly string[];
  /** In the writer's words: what it checks. */
  readonly title?: string;
  /** Quote from the issue or brief on which its expectation is based. */
  readonly quote?: string;
  /** In the writer's words: how the quote implies the expectation. */
  readonly why?: string;
}

/** One execution of one test file on one tree. */
export interface Trial {
  /**
   * `ran`: the runner reported; a case missing from `cases` did not pass. `broke`: it was stopped, did not build or
   * wrote no report, so no case passed. `unknown`: no information about this tree, for example an exit code when the
   * tree's own tests fail.
   */
  readonly kind: 'ran' | 'broke' | 'unknown';
  /** By case id, of this file only. */
  readonly cases: Readonly<Record<string, TestOutcome>>;
  /** The end of the runner's output, bounded; absent if it may be about other files. */
  readonly message?: string;
}

/** All executions of one test: the same number on each tree, unless the test was rejected early. */
export interface Trials {
  readonly base: readonly Trial[];
  /** By alias. */
  readonly survivors: Readonly<Record<Alias, readonly Trial[]>>;
}

/** `refactoring`: behaviour must not change, so tests that pass on the base count fully. */
export type TaskKind = 'change' | 'refactoring';

/** The result of a test, or of one case of it. */
type VoteStatus = 'admitted' | 'suspect' | 'refused';

/** One vote: a test file, or one case of it. */
export interface IndependentTestVote {
  /** The test's id, or the case's. */
  readonly id: string;
  /** The test it belongs to. */
  readonly test: string;
  readonly origin: IndependentTestOrigin;
  /**
   * `suspect`: it behaves on the base as expected, but no survivor passes it (or most change the behaviour that it
   * preserves), so the test is probably wrong: shown, never scored. `refused`: gives no usable information.
   */
  readonly status: VoteStatus;
  /** One sentence for people. */
  readonly because: string;
  /**
   * Aliases that pass it and that fail it, sorted, as far as it was executed. A candidate in neither list is not
   * judged by it.
   */
  readonly passedBy: readonly Alias[];
  readonly failedBy: readonly Alias[];
}

/** The results of a run's independent tests. Plain JSON. */
export interface TestAdmission {
  readonly tests: readonly IndependentTest[];
  /** One for each vote, in order of the tests. */
  readonly votes: readonly IndependentTestVote[];
  /** For every survivor that was tested, by alias; no entry if no test was admitted. */
  readonly byAlias: Readonly<Record<Alias, IndependentTests>>;
}

const SAME_BEHAVIOUR =
  /\bno (?:functional|behaviou?ral|visible) changes?\b|\bwithout (?:changing|a change (?:of|in)) (?:the |any |its )?(?:observable |public |external )?behaviou?r|\bbehaviou?r (?:stays|remains|must stay|must remain|is|must be) (?:the same|unchanged|as it is)/i;
const REFACTORING = /\brefactor|\brestructur/i;
const CHANGE_WORDS = /\b(?:fix|bug|add|support|allow|implement|new)/i;

/**
 * Whether behaviour must be preserved. True only if the title or the brief's goal says so; otherwise the task counts
 * as a change, and tests that pass on the base count less.
 */
export function taskKindOf(title: string, brief: Pick<Brief, 'goal'>): TaskKind {
  const text = `${title}\n${brief.goal}`;
  if (CHANGE_WORDS.test(text)) return 'change';
  return SAME_BEHAVIOUR.test(text) || REFACTORING.test(text) ? 'refactoring' : 'change';
}

/**
 * Orders models for writing tests: first those of families that wrote fewer candidates, otherwise in input order.
 * Models of one family share blind spots: another family's tests find what both coder and test would miss.
 */
export function writersInOrder(
  models: readonly string[],
  authors: readonly string[],
  familyOf: (model: string) => string,
): readonly string[] {
  const wrote = (model: string) => authors.filter((author) => familyOf(author) === familyOf(model)).length;
  const ranked = [...new Set(models)].map((model, place) => ({ model, place, wrote: wrote(model) }));
  return ranked.sort((a, b) => a.wrote - b.wrote || a.place - b.place).map(({ model }) => model);
}

/** Tests written by models with their results, for people. Plain JSON, partly written by a model. */
export interface IndependentTestReport {
  /** `provider/model` names of those who wrote. */
  readonly models: readonly string[];
  readonly tests: readonly (Omit<IndependentTestVote, 'test'> & {
    readonly title: string;
    readonly quote?: string;
  })[];
  /** Sentences: what was not written, or not accepted, and why. */
  readonly notes: readonly string[];
}

/** How people know a vote: the title of its test, or what the runner calls the case. */
export const voteTitle = (
  tests: readonly IndependentTest[],
  { id, test }: Pick<IndependentTestVote, 'id' | 'test'>,
): string => tests.find((one) => one.id === test)?.title ?? id;

/** One line for each vote of an admission. */
export function independentTestReport(
  { tests, votes }: TestAdmission,
  more: Pick<IndependentTestReport, 'models' | 'notes'>,
): IndependentTestReport {
  return {
    ...more,
    tests: votes.map(({ test, ...vote }) => {
      const quote = tests.find((one) => one.id === test)?.quote;
      return { ...vote, title: voteTitle(tests, { id: vote.id, test }), ...(quote ? { quote } : {}) };
    }),
  };
}

/** How to attribute the result of a test run to the files that were added for it. */
export interface RunContextOfTests {
  /** The same command on the base without these files: what it reports is not new. */
  readonly onBase: TestRun;
  /** The command was restricted to these files. */
  readonly focused: boolean;
  /** Without these files all tests of this tree pass: only then is the exit code about them. */
  readonly passesWithout: boolean;
}

/** Maximum characters of a runner's output that are kept, from its end. */
const MAX_TRIAL_MESSAGE_CHARS = 1_500;
const BROKEN_TRIAL: Trial = { kind: 'broke', cases: {} };
const UNKNOWN_TRIAL: Trial = { kind: 'unknown', cases: {} };

/** The result of a run for the only file that was added. */
export function trialFromOwnRun(test: IndependentTest, run: TestRun, reading: RunContextOfTests): Trial {
  if (run.source === 'none') return UNKNOWN_TRIAL;
  const byExitCode = reading.onBase.source !== 'report';
  // The end of a whole suite's output may be about anything.
  const tail =
    reading.focused || (byExitCode && reading.passesWithout)
      ? { message: run.tail.slice(-MAX_TRIAL_MESSAGE_CHARS) }
      : {};
  if (run.stopped) return { ...BROKEN_TRIAL, ...tail };
  if (byExitCode) return { ...exitCodeCase(test, run, reading), ...tail };
  if (run.source !== 'report') return { ...BROKEN_TRIAL, ...tail };
  // If tests are compiled, the report has the names of the compiled files.
  const named = namedCases(test.path, run, reading);
  const cases = named.length > 0 ? named : newCases(test.path, run, reading);
  return { ...tail, ...completedTrial(cases, run) };
}

/**
 * The results of a run for several added files, in their order; null if they cannot be attributed, for example if one
 * file prevented the others from being reported.
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

/** Includes the runner's messages about failed cases. */
function completedTrial(cases: Cases, { messages = {} }: TestRun): Trial {
  const words = cases.flatMap(([id]) => (Object.hasOwn(messages, id) ? (messages[id] ?? []) : []));
  const all = words.join('\n').slice(-MAX_TRIAL_MESSAGE_CHARS);
  return { kind: 'ran', cases: Object.fromEntries(cases), ...(all === '' ? {} : { message: all }) };
}

/** A runner without a report has one case per file: the command's exit code. */
function exitCodeCase(
  test: IndependentTest,
  run: TestRun,
  { passesWithout, focused }: RunContextOfTests,
): Trial {
  if (!passesWithout && !focused) return UNKNOWN_TRIAL;
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
 * An id for a file, not for a case of it: it passes when the process exits successfully, even if it exited before any
 * case finished.
 */
function isWholeFile(id: string): boolean {
  const [file = '', name, ...more] = id.split(' > ');
  if (!isFile(file) || more.length > 0) return false;
  return name === undefined || name === 'did not load' || (isFile(name) && file.endsWith(name));
}

/** Whether the runner reports the file of each test. Only then can files be run together. */
export const namesFiles = ({ tests }: Pick<TestRun, 'tests'>): boolean =>
  Object.keys(tests).some((id) => isFile(id.split(' > ', 1)[0] ?? ''));

/** All tests of this repository are plain scripts: a file is a case. */
const hasScriptsOnly = ({ tests }: TestRun): boolean => {
  const ids = Object.keys(tests);
  return ids.length > 0 && ids.every(isWholeFile);
};
