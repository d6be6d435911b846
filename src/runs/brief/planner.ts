import { z } from 'zod';
import { checkBrief, forecast, repositoryMap } from '../../core/brief/index.ts';
import { asFault, Brief, Fault, type FaultCode, type Task } from '../../core/model/index.ts';
import {
  block,
  commentsBlock,
  leftOutNotes,
  MAX_TASK_CHARS,
  repliesBlock,
} from '../../core/prompts/index.ts';
import { money } from '../../core/reports/index.ts';
import type { RepositorySource } from '../../ports/index.ts';
import { askModel, payerOf, rememberAnswers } from '../ask-model.ts';
import { contestantsOf } from '../contestants.ts';
import { type ModelPorts, readTextAt, sourceOf, stableNonce, titleAndBody, type World } from '../context.ts';

/** What asking the planner takes. */
export type PlannerPorts = ModelPorts & Pick<World, 'coders' | 'github' | 'log' | 'workspaces'>;

/**
 * What one plan may cost, both turns together: a share of the run's budget, or US dollars if that is more. Each plan
 * that people ask for is counted by itself, so that theirs is not refused because of what earlier ones cost
 * (docs/decisions/0239).
 */
const PLAN_SHARE = 0.2;
const MIN_PLAN_USD = 1;
/** Files that a planner may ask for, and characters of them that it gets. Our defaults. */
const MAX_FILES = 8;
const MAX_FILE_CHARS = 24_000;
const MAX_FILES_CHARS = 80_000;
/** Of each document of the repository. */
const MAX_DOCUMENT_CHARS = 6_000;
/** Where GitHub looks for the guide of a repository to those who contribute. */
const CONTRIBUTING = /^(?:\.github\/|docs\/)?contributing(?:\.(?:md|rst|txt))?$/i;

const PlannerAnswer = Brief.extend({
  read: z.array(z.string().max(300)).max(20).optional().describe('Paths to be shown first; mostly empty.'),
});
type PlannerAnswer = z.infer<typeof PlannerAnswer>;

/** What maintainers replied to an earlier brief of the same run. */
export interface EarlierBrief {
  readonly brief: Brief;
  /** A line for each answer or request, oldest first. */
  readonly replies: readonly string[];
}

/**
 * Asks for a brief, once more with the files that the planner wants to see. The answer is schema-checked data, held
 * against the repository; nothing in it is executed (I6).
 */
export async function plan(
  world: PlannerPorts,
  task: Task,
  since: EarlierBrief | null,
  signal: AbortSignal,
): Promise<Brief> {
  const source = await sourceOf(world, task);
  const paths = await world.workspaces.listFiles(source, task.base.sha);
  const shown = await plannerQuestion(world, task, source, paths, since);
  const spender = since === null ? 'brief' : `brief-${since.replies.length + 1}`;
  const first = await askPlanner(world, task, { turn: 'first', spender, shown, files: () => [] }, signal);
  const wanted = [...new Set(first.read ?? [])].filter((path) => paths.includes(path)).slice(0, MAX_FILES);
  const files = await readWantedFiles(world, task, source, wanted);
  const turn = { turn: 'read', spender, shown, files: (nonce: string) => filesBlocks(files, nonce) } as const;
  const second = files.length === 0 ? null : await secondAnswer(world, task, turn, signal);
  const { read: _, ...written } = second ?? first;
  const { brief, notes } = checkBrief(written, paths);
  const cost = forecast(brief, task.settings, costsOf(world, task), task.learned?.sequence ? 1 : undefined);
  // What critics named holds for the brief that follows from it.
  const acceptance = since?.brief.acceptance;
  return {
    ...brief,
    ...(acceptance ? { acceptance } : {}),
    ...(cost ? { forecast: cost } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  };
}

/** Failures after which the answer that a planner gave before it saw the files is used, which is complete. */
const FIRST_ANSWER_DOES: ReadonlySet<FaultCode> = new Set(['BUDGET_TOO_SMALL', 'MODEL_UNAVAILABLE']);

/** The answer of a planner that has seen the files; null if there is none. */
async function secondAnswer(
  world: PlannerPorts,
  task: Task,
  turn: PlannerTurn,
  signal: AbortSignal,
): Promise<PlannerAnswer | null> {
  try {
    return await askPlanner(world, task, turn, signal);
  } catch (thrown) {
    if (!FIRST_ANSWER_DOES.has(asFault(thrown).code)) throw thrown;
    world.log.warn(
      { run: task.runId, err: thrown },
      'The plan is the one written before the planner saw files.',
    );
    return null;
  }
}

const costsOf = (world: Pick<World, 'coders' | 'defaults' | 'gateway' | 'prompts'>, { settings }: Task) =>
  contestantsOf(world, settings).map(
    ({ model }) =>
      (tokens: Parameters<World['gateway']['estimate']>[1]) =>
        world.gateway.estimate(model, tokens),
  );

type ShownFiles = (nonce: string) => readonly string[];

/** `shown`: what both turns show first. */
interface PlannerTurn {
  readonly turn: 'first' | 'read';
  /** Name of the plan in the ledger. */
  readonly spender: string;
  readonly shown: ShownFiles;
  /** The files that the planner asked for. */
  readonly files: ShownFiles;
}

/** Asks the planner, and where it gives no answer the next coder's model. */
async function askPlanner(
  world: PlannerPorts,
  task: Task,
  asked: PlannerTurn,
  signal: AbortSignal,
): Promise<PlannerAnswer> {
  const first = plannerModel(world, task);
  const second = contestantsOf(world, task.settings).find(({ model }) => model !== first)?.model;
  try {
    return await askModelOnce(world, task, first, asked, signal);
  } catch (thrown) {
    const fault = asFault(thrown);
    if (fault.code !== 'MODEL_UNAVAILABLE' || second === undefined || signal.aborted) throw thrown;
    world.log.warn({ run: task.runId, err: thrown }, 'The planner wrote no brief; another model is asked.');
    return askModelOnce(world, task, second, asked, signal).catch((again: unknown) => {
      const also = asFault(again);
      throw also.code === fault.code ? new Fault(fault.code, `${fault.message} ${also.message}`) : also;
    });
  }
}

async function askModelOnce(
  world: ModelPorts,
  task: Task,
  model: string,
  { turn, spender, shown, files }: PlannerTurn,
  signal: AbortSignal,
): Promise<PlannerAnswer> {
  const key = JSON.stringify(['plan', turn, model, [...shown(''), ...files('')]]);
  const remember = rememberAnswers(world, task.runId);
  return remember(key, async () => {
    // The same after a crash: what the model answered before it was shown its mistakes is not paid again. And the same
    // in both turns, so that the second one begins as the first: the files are of the base commit, so that they were
    // written before it was drawn, too.
    const nonce = await stableNonce(
      { random: world.random, remember },
      JSON.stringify(['plan', 'first', model, shown('')]),
    );
    const common = shown(nonce).join('\n\n');
    const { run } = task.settings.budget;
    const capUsd = Math.min(Math.max(MIN_PLAN_USD, PLAN_SHARE * run), run);
    const reply = await askModel({ ...world, signal }, payerOf(task), {
      spender,
      model,
      capUsd,
      instructions: world.prompts.planner,
      prompt: [common, ...files(nonce), 'Write the brief.'].join('\n\n'),
      sharedChars: common.length,
      schema: PlannerAnswer,
      repairs: 1,
    });
    if (reply.kind === 'answer') return reply.value;
    const spent = `Spent so far: ${money(reply.usage.usd)}.`;
    if (reply.cap !== null) {
      const code =
        reply.cap === 'day' || reply.cap === 'repository-day' ? 'DAY_BUDGET_REACHED' : 'BUDGET_TOO_SMALL';
      const limit =
        reply.cap === 'spender' && capUsd < run
          ? ` One plan may cost ${money(capUsd)}: 20% of \`budget.run\`, but at least ${money(MIN_PLAN_USD)}.`
          : '';
      throw new Fault(code, `The budget does not cover the planner: ${reply.why} ${spent}${limit}`);
    }
    throw new Fault('MODEL_UNAVAILABLE', `The planner (${model}) wrote no brief: ${reply.why}`);
  });
}

export function plannerModel(
  world: Pick<World, 'coders' | 'defaults' | 'gateway' | 'prompts'>,
  task: Task,
): string {
  const [first] = contestantsOf(world, task.settings);
  if (!first) throw new Fault('MODEL_KEY_MISSING', 'No model is configured.');
  return first.model;
}

async function plannerQuestion(
  world: Pick<World, 'workspaces'>,
  task: Task,
  source: RepositorySource,
  paths: readonly string[],
  since: EarlierBrief | null,
): Promise<ShownFiles> {
  const { languages, tree } = repositoryMap(paths);
  const readme = paths.find((path) => /^readme(\.\w+)?$/i.test(path));
  const readmeText = readme ? await readTextAt(world, source, task.base.sha, readme) : null;
  const guide = paths.find((path) => CONTRIBUTING.test(path));
  const guideText = guide ? await readTextAt(world, source, task.base.sha, guide) : null;
  const { checks } = task.settings;
  return (nonce) => [
    ...leftOutNotes(task),
    block('TASK', nonce, titleAndBody(task), MAX_TASK_CHARS),
    ...commentsBlock(task.comments, nonce),
    ...(readmeText ? [block('README', nonce, readmeText, MAX_DOCUMENT_CHARS)] : []),
    ...(guideText ? [block('CONTRIBUTING', nonce, guideText, MAX_DOCUMENT_CHARS)] : []),
    ...(task.instructions ? [block('INSTRUCTIONS', nonce, task.instructions.text, MAX_DOCUMENT_CHARS)] : []),
    block('MAP', nonce, `Kinds of files: ${languages}\nTests: ${checks.test ?? 'not known'}\n\n${tree}`),
    ...(since
      ? [
          block('YOUR EARLIER BRIEF', nonce, JSON.stringify(since.brief, null, 1)),
          ...repliesBlock(since.replies, nonce),
        ]
      : []),
  ];
}

interface ReadFile {
  readonly path: string;
  readonly text: string;
  /** Characters of it that are shown. */
  readonly most: number;
}

async function readWantedFiles(
  world: Pick<World, 'workspaces'>,
  task: Task,
  source: RepositorySource,
  wanted: readonly string[],
): Promise<readonly ReadFile[]> {
  const files: ReadFile[] = [];
  let left = MAX_FILES_CHARS;
  for (const path of wanted) {
    const text = await readTextAt(world, source, task.base.sha, path);
    if (text === null || left <= 0) continue;
    const most = Math.min(MAX_FILE_CHARS, left);
    left -= Math.min(most, text.length);
    files.push({ path, text, most });
  }
  return files;
}

const filesBlocks = (files: readonly ReadFile[], nonce: string): readonly string[] =>
  files.map(({ path, text, most }) => {
    const head = `${path}\n\n`;
    return block('FILE', nonce, `${head}${text}`, head.length + most);
  });
