import type { TestRun } from '../../core/evidence/index.ts';
import {
  DistinguishingTest,
  type IndependentTest,
  joinAdmissions,
  NO_ADMISSION,
  newTestPaths,
  type TaskKind,
  type TestAdmission,
} from '../../core/independent-tests/index.ts';
import { familyOf } from '../../core/judging/index.ts';
import type { Alias } from '../../core/model/index.ts';
import { block } from '../../core/prompts/index.ts';
import { stableNonce } from '../context.ts';
import { admitTests, type TestedSurvivor } from './admit.ts';
import type { CheckRunner } from './areas.ts';
import {
  acceptWrittenTests,
  answerOnce,
  askWriters,
  type TestWriter,
  taskBlocks,
  type WriterAnswer,
  type WriterContext,
  writerContextBlocks,
  writerContextOf,
} from './independent-tests.ts';

/** Maximum number of rounds, and of candidates shown (selection notes, S6). */
const MAX_ROUNDS = 3;
const MAX_CANDIDATES_SHOWN = 4;
/** Share of a run's budget for all rounds together. Our default, tune on dev data. */
const DISTINGUISHING_BUDGET_SHARE = 0.1;

/** A candidate that the evidence so far may not separate from others. */
export interface ComparedCandidate {
  readonly survivor: TestedSurvivor;
  /** Candidates of one class are shown once. */
  readonly changeClass: string;
  /**
   * The production part of its patch; null if it contains names that cannot be removed: then it is executed but not
   * shown.
   */
  readonly diff: string | null;
}

export interface DistinguishInput {
  /** Runs a round if time allows, else returns null. */
  readonly inTime: <T>(round: number, work: () => Promise<T>) => Promise<T | null>;
  readonly contenders: readonly ComparedCandidate[];
  /**
   * Aliases that these independent tests and all other evidence do not separate, best first; fewer than two: decided.
   */
  readonly undecided: (independent: TestAdmission) => readonly Alias[];
  /** Independent tests admitted earlier. */
  readonly before: TestAdmission;
  /** Removes from a diff what identifies its author or addresses its reader. */
  readonly blind: (text: string) => string;
  readonly instructions: string;
  readonly onBase: TestRun;
  readonly taskKind: TaskKind;
}

/** Result of all rounds. Plain JSON. */
interface DistinguishResult {
  /** Admission of the new tests; only those that separated candidates. */
  readonly admission: TestAdmission;
  /** Result of each round and why no further one followed; for people, partly a model's text. */
  readonly notes: readonly string[];
}

/**
 * While candidates are undecided, has a model that sees their anonymised diffs write a test on which they should
 * differ, and runs it on the base and all candidates. At most three rounds, each only after one that separated
 * candidates.
 */
export async function distinguish(
  runner: CheckRunner,
  writer: TestWriter,
  given: DistinguishInput,
): Promise<DistinguishResult> {
  const setting = await writerContextOf(runner, writer);
  if (setting === null)
    return {
      admission: NO_ADMISSION,
      notes: ['The base has no test file that shows how tests are written here.'],
    };
  const notes: string[] = [];
  let admission = NO_ADMISSION;
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const open = candidatesToSeparate(given, admission);
    if (open === null) break;
    const found = await given.inTime(round, async () => {
      const on = { given, setting, open, round, admission };
      const written = await writeDistinguishingTest(runner, writer, on);
      return typeof written === 'string' ? written : admitRoundTest(runner, given, written, round);
    });
    if (found === null) break;
    if (typeof found === 'string') {
      notes.push(`Round ${round}: ${found}`);
      break;
    }
    notes.push(`Round ${round}: ${found.votes.map((vote) => vote.because).join(' ')}`);
    if (!found.votes.some((vote) => separates(vote, open))) break;
    admission = joinAdmissions(admission, found);
  }
  return { admission, notes };
}

/** Whether a test that counts passes on one of the undecided candidates and fails on another one. */
const separates = (
  { status, passedBy, failedBy }: TestAdmission['votes'][number],
  open: readonly ComparedCandidate[],
): boolean => {
  const isIn = (aliases: readonly Alias[]) => open.some(({ survivor }) => aliases.includes(survivor.alias));
  return status === 'admitted' && isIn(passedBy) && isIn(failedBy);
};

/** Candidates to separate, in order; null if there is nothing to do. */
function candidatesToSeparate({ contenders, undecided, before }: DistinguishInput, admission: TestAdmission) {
  const aliases = undecided(joinAdmissions(before, admission));
  const open = aliases.flatMap((alias) => contenders.filter(({ survivor }) => survivor.alias === alias));
  return new Set(open.map(({ changeClass }) => changeClass)).size < 2 ? null : open;
}

interface DistinguishRound {
  readonly given: DistinguishInput;
  readonly setting: WriterContext;
  readonly open: readonly ComparedCandidate[];
  readonly round: number;
  readonly admission: TestAdmission;
}

/** The test of one round, or why there is none. */
async function writeDistinguishingTest(
  runner: CheckRunner,
  writer: TestWriter,
  on: DistinguishRound,
): Promise<IndependentTest | string> {
  const { given, setting, round, admission } = on;
  const before = [...given.before.tests, ...admission.tests];
  const shown = shownPatches(on);
  if (shown.length < 2) return 'Too few of the patches can be shown without a name in them.';
  const key = JSON.stringify([
    'distinguishing-test',
    writer.task.runId,
    round,
    shown.toSorted(),
    before.map(({ path, title }) => [path, title]),
  ]);
  const result = await answerOnce(writer, key, async (): Promise<WriterAnswer<IndependentTest | string>> => {
    const taken = [...runner.baseFiles, ...before.map(({ path }) => path)];
    const places = newTestPaths(setting.naming, taken, 'distinguishing', 1);
    const answer = await askWriters(writer, {
      spender: 'distinguisher',
      share: DISTINGUISHING_BUDGET_SHARE,
      instructions: given.instructions,
      prompt: await distinguishingQuestion(writer, on, places[0] ?? '', key),
      schema: DistinguishingTest,
    });
    if (answer.kind === 'nothing') return answer;
    const { test, note } = answer.value;
    if (test === null) {
      const value = note.trim() || 'The brief does not say which behaviour is right.';
      return { ...answer, value };
    }
    const { sample: example } = setting;
    const how = { origin: 'distinguishing', paths: places, written: [test], example } as const;
    const { tests, rejected } = await acceptWrittenTests(runner, writer, how);
    const [accepted] = tests;
    const value = accepted
      ? { ...accepted, id: `distinguishing-${round}` }
      : (rejected[0]?.because ?? 'It was not accepted.');
    return { ...answer, value };
  });
  if (result.kind === 'nothing') return result.why;
  return typeof result.value === 'string'
    ? result.value
    : { ...result.value, family: familyOf(result.model) };
}

/** One patch per class, where it can be shown. */
function shownPatches({ given, open }: DistinguishRound): readonly string[] {
  const seen = new Set<string>();
  return open
    .flatMap(({ changeClass, diff }) =>
      diff === null || seen.has(changeClass) ? [] : [seen.add(changeClass) && given.blind(diff)],
    )
    .slice(0, MAX_CANDIDATES_SHOWN);
}

/** Contains nothing that identifies an author: no name, no position, no class size. */
async function distinguishingQuestion(
  writer: TestWriter,
  on: DistinguishRound,
  place: string,
  key: string,
): Promise<string> {
  const { given, setting, admission } = on;
  const nonce = await stableNonce(writer, key);
  const shown = shownPatches(on).toSorted();
  const order = await writer.remember(`order:${key}`, async () => shown.map(() => writer.random.nonce()));
  const shuffled = shown
    .map((text, i) => ({ text, at: order[i] ?? '' }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
  const before = [...given.before.tests, ...admission.tests].flatMap((test) => test.title ?? []);
  return [
    ...taskBlocks(writer, nonce),
    ...writerContextBlocks(setting, nonce),
    ...shuffled.map(({ text }, i) => block(`PATCH ${i + 1}`, nonce, text)),
    ...(before.length > 0 ? [block('TESTED ALREADY', nonce, before.join('\n'))] : []),
    `The test will stand at ${place}`,
    'Write the test.',
  ].join('\n\n');
}

async function admitRoundTest(
  runner: CheckRunner,
  given: DistinguishInput,
  test: IndependentTest,
  round: number,
): Promise<TestAdmission> {
  return admitTests(runner, [test], {
    survivors: given.contenders.map(({ survivor }) => survivor),
    onBase: given.onBase,
    taskKind: given.taskKind,
    name: `d${round}`,
  });
}
