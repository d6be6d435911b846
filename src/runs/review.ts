import { pickOf } from '../core/decision/index.ts';
import {
  type Author,
  identitiesOf,
  judgeModels,
  MOST_WINNERS,
  panelOf,
  reviewWanted,
  type WinnerReview,
} from '../core/judging/index.ts';
import type { Alias, ArtifactRef, RunId, Task } from '../core/model/index.ts';
import type { NeutralReport } from '../core/neutral/index.ts';
import type { RunRecord } from '../ports/index.ts';
import { openBench, type Reviewer, readBaseRun, reviewCandidate } from './examine/index.ts';
import type { Guarded, StageRunner } from './guard.ts';
import { judge } from './judge/index.ts';
import { rememberAnswers } from './remember-answers.ts';
import { loadRun, loadTask } from './task.ts';
import type { PromptLibrary, World } from './world.ts';

/**
 * Where the settings want it, critics look at the diff of whoever is about to be published. What they claim is executed;
 * then the decision is made again, and who takes the place is reviewed as well, once.
 */
export async function reviewWinner(
  world: World,
  runId: RunId,
  baseRun: ArtifactRef,
  stage: StageRunner,
): Promise<Guarded<null>> {
  for (let count = 0; count < MOST_WINNERS; count += 1) {
    const reviewed = await stage('review', (signal) => reviewPick(world, runId, baseRun, signal));
    if (reviewed.kind === 'fault') return reviewed;
    if (reviewed.value !== 'contested') break;
    const judged = await stage('judge', (signal) => judgeAgain(world, runId, signal));
    if (judged.kind === 'fault') return judged;
  }
  return { kind: 'ok', value: null };
}

/** Reviews the winner, unless it was. Repeated after a crash it says the same, and what was answered is not asked again. */
async function reviewPick(
  world: World,
  runId: RunId,
  baseRun: ArtifactRef,
  signal: AbortSignal,
): Promise<'settled' | 'contested'> {
  const run = await loadRun(world, runId);
  const last = run.review?.at(-1);
  if (last && !last.after) return last.contested ? 'contested' : 'settled';
  const alias = pickOf(run.decision);
  if (alias === null || run.review?.some((one) => one.alias === alias)) return 'settled';
  const review = await reviewOf(world, run, { alias, baseRun, signal });
  if (!review) return 'settled';
  world.announcer.soon(runId);
  return review.contested ? 'contested' : 'settled';
}

interface Picked {
  readonly alias: Alias;
  readonly baseRun: ArtifactRef;
  readonly signal: AbortSignal;
}

/** Null where the settings want no review, or nobody is there to make it. */
async function reviewOf(world: World, run: RunRecord, picked: Picked): Promise<WinnerReview | null> {
  const { alias, baseRun, signal } = picked;
  const { brief, debate, evidence = [], neutral, review = [] } = run;
  const task = await loadTask(world, run.id);
  const models = judgeModels(task.settings, world.defaults.models);
  const wanted = reviewWanted(task.settings, { brief, debated: debate !== undefined });
  if (!wanted || !brief || models.length === 0) return null;
  const entries = await world.store.candidates(run.id);
  const authors = entries.map(({ contestant }) => contestant);
  const author = entries.find((entry) => entry.alias === alias)?.contestant ?? null;
  const bench = await openBench(world, run.id, signal);
  const { gateway, model, random } = world;
  const remember = rememberAnswers(world, run.id);
  const found = await reviewCandidate(
    bench,
    { gateway, model, random, models, task, brief, remember, signal },
    {
      alias,
      entries,
      evidence,
      onBase: await readBaseRun(bench, baseRun),
      reviewers: reviewersOf(world.prompts, task, models, author),
      identities: identitiesOf(authors),
    },
  );
  const tests = found.neutral ? { neutral: joined(neutral, found.neutral) } : {};
  const patch = { evidence: found.evidence, review: [...review, found.review], ...tests };
  await world.store.updateRun(run.id, patch, world.clock.now());
  return found.review;
}

/** Each asks another model first, of families that did not write the patch as far as there are such. */
function reviewersOf(
  prompts: PromptLibrary,
  { settings }: Pick<Task, 'settings'>,
  models: readonly string[],
  author: Author | null,
): readonly Reviewer[] {
  const { agents, focusAreas } = settings.critics;
  const panel = panelOf([author], models, models.length).map((judge) => judge.model);
  const focus =
    focusAreas.length === 0
      ? []
      : [
          `The maintainers ask you to look at these first:\n\n${focusAreas.map((one) => `- ${one}`).join('\n')}`,
        ];
  return agents.flatMap((name, i): Reviewer[] => {
    const persona = prompts.personas.get(name);
    if (!persona) return [];
    const at = i % panel.length;
    return [
      {
        name,
        spender: `review-${name}`,
        instructions: [prompts.reviewer.trimEnd(), '## Where to look', persona.code, ...focus].join('\n\n'),
        models: [...panel.slice(at), ...panel.slice(0, at)],
      },
    ];
  });
}

const joined = (
  before: NeutralReport | undefined,
  { models, tests, notes }: NeutralReport,
): NeutralReport => ({
  models: [...(before?.models ?? []), ...models],
  tests: [...(before?.tests ?? []), ...tests],
  notes: [...(before?.notes ?? []), ...notes],
});

/** Decides from the evidence with what critics showed, and writes down what became of the reviewed one. */
async function judgeAgain(world: World, runId: RunId, signal: AbortSignal): Promise<'judged'> {
  const judged = await judge(world, runId, signal);
  const { decision, review = [] } = await loadRun(world, runId);
  const after = { alias: pickOf(decision), because: decision?.because ?? '' };
  const told = review.map((one, i) => (i === review.length - 1 ? { ...one, after } : one));
  await world.store.updateRun(runId, { review: told }, world.clock.now());
  return judged;
}
