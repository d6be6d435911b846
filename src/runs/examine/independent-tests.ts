import type { z } from 'zod';
import {
  type AcceptedTests,
  acceptTests,
  declarationsOf,
  importedFiles,
  knowsDeclarations,
  looksLikeTest,
  MAX_WRITTEN_TESTS,
  newTestPaths,
  type TestNaming,
  testNamings,
  type WrittenTest,
  WrittenTests,
} from '../../core/independent-tests/index.ts';
import { familyOf } from '../../core/judging/index.ts';
import { asFault, type Brief, type Task } from '../../core/model/index.ts';
import { roleOf } from '../../core/patches/index.ts';
import { block, commentsBlock, leftOutNotes, MAX_TASK_CHARS } from '../../core/prompts/index.ts';
import type { Gateway, Model, Random } from '../../ports/index.ts';
import { askModel, payerOf } from '../ask-model.ts';
import { type Remember, stableNonce } from '../context.ts';
import type { CheckRunner } from './areas.ts';

/** Dependencies of a test writer. */
export interface TestWriter {
  readonly gateway: Pick<Gateway, 'open' | 'route'>;
  readonly model: Model;
  readonly random: Pick<Random, 'nonce'>;
  /** `provider/model` names in the order in which they are asked, from `writersInOrder`. */
  readonly models: readonly string[];
  readonly task: Pick<Task, 'runId' | 'origin' | 'title' | 'body' | 'comments' | 'leftOut' | 'settings'>;
  readonly brief: Brief;
  /** Share of the budget for each spender, 0 to 1; absent: as the question says. */
  readonly share?: number;
  readonly remember: Remember;
  readonly signal: AbortSignal;
}

export interface WriterQuestion<T> {
  /** Name of the caller in the ledger. */
  readonly spender: 'writer' | 'distinguisher' | 'reviewer' | `review-${string}`;
  /** Share of the run's budget for all calls of this spender, 0 to 1. */
  readonly share: number;
  readonly instructions: string;
  readonly prompt: string;
  readonly schema: z.ZodType<T>;
}

export type WriterAnswer<T> =
  | { readonly kind: 'answer'; readonly value: T; readonly model: string }
  /** One sentence for people. */
  | { readonly kind: 'nothing'; readonly why: string };

/** Stores an answer for the run. A missing answer is not stored: an unavailable provider is asked again. */
export const answerOnce = <T>(
  writer: Pick<TestWriter, 'remember'>,
  key: string,
  work: () => Promise<WriterAnswer<T>>,
): Promise<WriterAnswer<T>> => writer.remember(key, work, ({ kind }) => kind === 'answer');

/** Maximum number of models asked. Our default. */
const MAX_MODELS = 2;

/** Asks for one schema-checked answer, within a share of the budget. Failures of models and providers are values. */
export async function askWriters<T>(
  writer: TestWriter,
  { share, ...question }: WriterQuestion<T>,
): Promise<WriterAnswer<T>> {
  const payer = payerOf(writer.task);
  const capUsd = Math.min(1, writer.share ?? share) * payer.runCapUsd;
  let why = 'No model is configured.';
  for (const model of writer.models.slice(0, MAX_MODELS)) {
    const reply = await askModel(writer, payer, { ...question, model, capUsd });
    if (reply.kind === 'answer') return { kind: 'answer', value: reply.value, model };
    why = reply.why;
  }
  return { kind: 'nothing', why };
}

/** The requirements as blocks: the issue, comments by people with write access, the brief. */
export function taskBlocks(
  { task, brief }: Pick<TestWriter, 'task' | 'brief'>,
  nonce: string,
): readonly string[] {
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`];
  const text = [
    brief.goal,
    ...list('Done means', brief.definitionOfDone),
    ...list('Assumptions', brief.assumptions),
    ...list('Worth a test', brief.acceptance ?? []),
  ];
  return [
    ...leftOutNotes(task),
    block('TASK', nonce, `${task.title}\n\n${task.body}`, MAX_TASK_CHARS),
    ...commentsBlock(task.comments, nonce),
    block('BRIEF', nonce, text.join('\n\n')),
  ];
}

/** Texts that state requirements; the planner's assumptions are not included. */
const requirementTexts = ({ task, brief }: Pick<TestWriter, 'task' | 'brief'>): readonly string[] => [
  task.title,
  task.body,
  ...task.comments.map((one) => one.body),
  brief.goal,
  ...brief.definitionOfDone,
];

/** Share of a run's budget for independent tests. Our default, tune on dev data. */
const WRITER_BUDGET_SHARE = 0.1;
/** Maximum number of base files whose declarations are shown. Our default. */
const MAX_FILES = 25;
const MAX_DECLARATIONS_CHARS = 20_000;
const MAX_SAMPLE_CHARS = 12_000;

/** Result of a writer. Plain JSON. */
interface WriterResult extends AcceptedTests {
  /** One sentence for people about what the writer could not do; absent if there is nothing to report. */
  readonly note?: string;
  /** `provider/model` of the writer; absent if none answered. */
  readonly model?: string;
}

/** What a writer is shown of the base, and where its tests are placed. */
export interface WriterContext {
  readonly naming: TestNaming;
  readonly sample: string;
  readonly declarations: string;
}

/**
 * Asks a writer for tests of the task. It sees the issue, the brief, the base's declarations and one of its test files,
 * but no candidate, so it can be asked as soon as there is a brief. Failure to write tests is a value, never a fault.
 */
export async function writeIndependentTests(
  runner: CheckRunner,
  writer: TestWriter,
  instructions: string,
): Promise<WriterResult> {
  const setting = await writerContextOf(runner, writer);
  if (setting === null)
    return noTestsWritten('The base has no test file that shows how tests are written here.');
  const key = JSON.stringify(['independent-tests', writer.task.runId]);
  const result = await answerOnce(writer, key, async (): Promise<WriterAnswer<WriterResult>> => {
    const paths = newTestPaths(setting.naming, runner.baseFiles, 'independent', MAX_WRITTEN_TESTS);
    const nonce = await stableNonce(writer, key);
    const answer = await askWriters(writer, {
      spender: 'writer',
      share: WRITER_BUDGET_SHARE,
      instructions,
      prompt: [
        ...taskBlocks(writer, nonce),
        ...writerContextBlocks(setting, nonce),
        `The tests will stand at these paths, in this order:\n${paths.join('\n')}`,
        'Write the tests.',
      ].join('\n\n'),
      schema: WrittenTests,
    });
    if (answer.kind === 'nothing') return answer;
    const { tests, note } = answer.value;
    const accepted = await acceptWrittenTests(runner, writer, {
      origin: 'writer',
      paths,
      written: tests,
      example: setting.sample,
    });
    const value = { ...accepted, model: answer.model, ...(note.trim() === '' ? {} : { note }) };
    return { ...answer, value };
  });
  if (result.kind === 'nothing') return noTestsWritten(`No independent tests were written: ${result.why}`);
  const family = familyOf(result.model);
  return { ...result.value, tests: result.value.tests.map((test) => ({ ...test, family })) };
}

const noTestsWritten = (note: string): WriterResult => ({ tests: [], rejected: [], note });

/** Checks written tests against the task and the base. */
export async function acceptWrittenTests(
  runner: CheckRunner,
  writer: TestWriter,
  given: {
    readonly origin: 'writer' | 'distinguishing';
    readonly paths: readonly string[];
    readonly written: readonly WrittenTest[];
    /** The test file that the writer was shown. */
    readonly example: string;
  },
): Promise<AcceptedTests> {
  const { origin, paths, written, example } = given;
  const { baseFiles } = runner;
  const imported: Record<string, string> = {};
  for (const path of importedFiles(written, paths, baseFiles)) {
    const text = await readBaseFile(runner, path);
    if (text !== null) imported[path] = text;
  }
  return acceptTests(written, {
    origin,
    paths,
    requirements: requirementTexts(writer),
    example,
    baseFiles,
    imported,
  });
}

/** Null if the base shows no convention for test file names, or none by which new files would count as tests. */
export async function writerContextOf(
  runner: CheckRunner,
  { brief }: Pick<TestWriter, 'brief'>,
): Promise<WriterContext | null> {
  const near = [...brief.files, ...runner.plan.commands.flatMap(({ command }) => command.split(/[\s'"=]+/))];
  for (const naming of testNamings(runner.baseFiles, near)) {
    const sample = await readBaseFile(runner, naming.sample);
    if (sample === null || !looksLikeTest(sample)) continue;
    if (newTestPaths(naming, [], 'independent', 1).length > 0)
      return { naming, sample, declarations: await declarationsText(runner, brief.files) };
  }
  return null;
}

export const writerContextBlocks = (
  { naming, sample, declarations }: WriterContext,
  nonce: string,
): readonly string[] => [
  ...(declarations === '' ? [] : [block('DECLARATIONS', nonce, declarations)]),
  block('EXAMPLE', nonce, `${naming.sample}\n\n${sample.slice(0, MAX_SAMPLE_CHARS)}`),
];

/** Declarations of the files that are likely to change, then of their neighbours. */
async function declarationsText(runner: CheckRunner, near: readonly string[]): Promise<string> {
  const folders = new Set(near.map((path) => path.slice(0, path.lastIndexOf('/') + 1)));
  const known = runner.baseFiles.filter((path) => roleOf(path) === 'production' && knowsDeclarations(path));
  const nearby = (path: string) =>
    near.includes(path) ? 0 : folders.has(path.slice(0, path.lastIndexOf('/') + 1)) ? 1 : 2;
  const chosen = known.toSorted((a, b) => nearby(a) - nearby(b)).slice(0, MAX_FILES);
  const parts: string[] = [];
  for (const path of chosen) {
    const lines = declarationsOf(path, (await readBaseFile(runner, path)) ?? '');
    if (lines.length > 0) parts.push(`${path}\n${lines.map((line) => `  ${line}`).join('\n')}`);
  }
  return parts.join('\n').slice(0, MAX_DECLARATIONS_CHARS);
}

/** Null also for a file that is too large: it is merely not shown. */
async function readBaseFile({ world, source, task }: CheckRunner, path: string): Promise<string | null> {
  try {
    return await world.workspaces.readFile(source, task.base.sha, path);
  } catch (thrown) {
    if (asFault(thrown).code === 'SETTINGS_INVALID') return null;
    throw thrown;
  }
}
