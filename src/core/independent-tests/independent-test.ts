import type { IndependentTestOrigin, IndependentTests, TestOutcome, TestRun } from '../evidence/index.ts';
import type { Alias, Brief } from '../model/index.ts';

/** A test file that nobody who competes has written. Plain JSON. */
export interface IndependentTest {
  /** Ours, unique in a run: `writer-1`, `distinguishing-2`, `issue-3`. */
  readonly id: string;
  readonly origin: IndependentTestOrigin;
  /** Where it is laid, from the top of the repository. Chosen by us, never by a model (I6). */
  readonly path: string;
  readonly text: string;
  /** What it should do on the base: `fails` for what the task asks for, `passes` for what must stay as it is. */
  readonly onBase: 'fails' | 'passes';
  /**
   * `file`: the whole file is one vote, lost by a candidate that fails any admitted case of it. `case`: each case is a
   * vote of its own, for a file that gathers independent examples.
   */
  readonly votes: 'file' | 'case';
  /** Ids of its cases as the runner reports them; absent: all new ones that are reported for the file. */
  readonly cases?: readonly string[];
  /** In the writer's words: what it checks. */
  readonly title?: string;
  /** Words of issue or brief that its expectation rests on. */
  readonly quote?: string;
  /** In the writer's words: why the quote means this expectation. */
  readonly why?: string;
}

/** One execution of one test file on one tree. */
export interface Trial {
  /**
   * `ran`: the runner reported; a case that is not in `cases` did not pass. `broke`: it was stopped, did not build or left no
   * report, so no case passed. `unknown`: says nothing of this tree, as an exit code does of one whose own tests fail.
   */
  readonly kind: 'ran' | 'broke' | 'unknown';
  /** By case id, of this file only. */
  readonly cases: Readonly<Record<string, TestOutcome>>;
  /** The end of what the runner said, bounded; absent where it is not known to be about this file. */
  readonly message?: string;
}

/** All executions of one test: the same number on each tree for a test that stayed in question. */
export interface Trials {
  readonly base: readonly Trial[];
  /** By alias. */
  readonly survivors: Readonly<Record<Alias, readonly Trial[]>>;
}

/** `refactoring`: behaviour is to stay as it is, so tests that pass on the base count like any other. */
export type TaskKind = 'change' | 'refactoring';

/** What became of a test, or of one case of it. */
type VoteStatus = 'admitted' | 'suspect' | 'refused';

/** One vote: a test file, or one case of it. */
export interface IndependentTestVote {
  /** The test's id, or the case's. */
  readonly id: string;
  /** The test it belongs to. */
  readonly test: string;
  readonly origin: IndependentTestOrigin;
  /**
   * `suspect`: it behaves on the base as it should and no survivor meets it (or most change what it wants to stay), so
   * that rather the test is wrong: shown, never scored. `refused`: not fit to say anything.
   */
  readonly status: VoteStatus;
  /** One sentence for people. */
  readonly because: string;
  /** Aliases that pass it, and that fail it, sorted, as far as it was tried on them. Who is in neither is not judged by it. */
  readonly passedBy: readonly Alias[];
  readonly failedBy: readonly Alias[];
}

/** What the independent tests of a run say. Plain JSON. */
export interface TestAdmission {
  readonly tests: readonly IndependentTest[];
  /** One for each vote, in order of the tests. */
  readonly votes: readonly IndependentTestVote[];
  /** Of every survivor that was tried, by alias; without an entry where no test was admitted. */
  readonly byAlias: Readonly<Record<Alias, IndependentTests>>;
}

const SAME_BEHAVIOUR =
  /\bno (?:functional|behaviou?ral|visible) changes?\b|\bwithout (?:changing|a change (?:of|in)) (?:the |any |its )?(?:observable |public |external )?behaviou?r|\bbehaviou?r (?:stays|remains|must stay|must remain|is|must be) (?:the same|unchanged|as it is)/i;
const REFACTORING = /\brefactor|\brestructur/i;
const CHANGE_WORDS = /\b(?:fix|bug|add|support|allow|implement|new)/i;

/**
 * Is behaviour to stay as it is? Only where the title or the goal of the brief says so. In doubt it is a change: then
 * tests that pass on the base count for less.
 */
export function taskKindOf(title: string, brief: Pick<Brief, 'goal'>): TaskKind {
  const text = `${title}\n${brief.goal}`;
  if (CHANGE_WORDS.test(text)) return 'change';
  return SAME_BEHAVIOUR.test(text) || REFACTORING.test(text) ? 'refactoring' : 'change';
}

/**
 * Models in the order in which they are asked to write tests: those of a family that wrote fewer candidates first, otherwise
 * as given. A model has blind spots in common with its family: tests by another one find what both coder and test would miss.
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

/** What models wrote as tests, and what became of it, for people. Plain JSON; parts of it are a model's words. */
export interface IndependentTestReport {
  /** `provider/model` names of those who wrote. */
  readonly models: readonly string[];
  readonly tests: readonly (Omit<IndependentTestVote, 'id' | 'test'> & {
    readonly title: string;
    readonly quote?: string;
  })[];
  /** Sentences: what was not written, or not accepted, and why. */
  readonly notes: readonly string[];
}

/** One line for each vote of an admission. */
export function independentTestReport(
  { tests, votes }: TestAdmission,
  more: Pick<IndependentTestReport, 'models' | 'notes'>,
): IndependentTestReport {
  return {
    ...more,
    tests: votes.map(({ id, test, ...vote }) => {
      const file = tests.find((one) => one.id === test);
      return { ...vote, title: file?.title ?? id, ...(file?.quote ? { quote: file.quote } : {}) };
    }),
  };
}

/** How the outcome of a test run is divided among the files that were laid for it. */
export interface RunContextOfTests {
  /** The same command on the base without any of them: what it names is not new. */
  readonly onBase: TestRun;
  /** The command was given these files to run and no others. */
  readonly focused: boolean;
  /** Without them, all tests of this tree pass: only then an exit code speaks of them. */
  readonly passesWithout: boolean;
}

/** Characters of a runner's words that are kept: the end. */
const MAX_TRIAL_MESSAGE_CHARS = 1_500;
const BROKEN_TRIAL: Trial = { kind: 'broke', cases: {} };
const UNKNOWN_TRIAL: Trial = { kind: 'unknown', cases: {} };

/** What a run says of the only file that was laid for it. */
export function trialFromOwnRun(test: IndependentTest, run: TestRun, reading: RunContextOfTests): Trial {
  if (run.source === 'none') return UNKNOWN_TRIAL;
  const byExitCode = reading.onBase.source !== 'report';
  // The end of a whole suite's output is about anything.
  const tail =
    reading.focused || (byExitCode && reading.passesWithout)
      ? { message: run.tail.slice(-MAX_TRIAL_MESSAGE_CHARS) }
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
 * What a run says of several files laid together, in their order; null where it cannot be attributed, as when one of them
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
  const all = words.join('\n').slice(-MAX_TRIAL_MESSAGE_CHARS);
  return { kind: 'ran', cases: Object.fromEntries(cases), ...(all === '' ? {} : { message: all }) };
}

/** A runner without a report has one case for the file: the command's exit code. */
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
