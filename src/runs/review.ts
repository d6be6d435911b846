import type { IndependentTestReport } from '../core/independent-tests/index.ts';
import {
  type Author,
  identitiesOf,
  judgeModels,
  judgesForPair,
  MAX_REVIEWED_WINNERS,
  reviewWanted,
  type WinnerReview,
} from '../core/judging/index.ts';
import type { Alias, ArtifactRef, Task } from '../core/model/index.ts';
import { pickOf } from '../core/ranking/index.ts';
import { recordActivity } from './activity.ts';
import { rememberAnswers } from './ask-model.ts';
import { type PromptLibrary, taskOf } from './context.ts';
import {
  type ExaminePorts,
  openCheckRunner,
  type Reviewer,
  readBaseRun,
  reviewCandidate,
} from './examine/index.ts';
import { type JudgePorts, judge } from './judge/index.ts';
import type { RunContext, StageResult, StageRunner } from './stage.ts';

/**
 * Has critics review the winner's diff before publishing, if the settings require it. Their claims are executed and the
 * decision is made again; a new winner is reviewed once as well.
 */
export async function reviewWinner(
  world: ExaminePorts,
  baseRun: ArtifactRef,
  stage: StageRunner,
): Promise<StageResult<null>> {
  for (let count = 0; count < MAX_REVIEWED_WINNERS; count += 1) {
    const reviewed = await stage('review', (context) => reviewPick(world, context, baseRun));
    if (reviewed.kind === 'fault') return reviewed;
    if (reviewed.value !== 'contested') break;
    const judged = await stage('judge', (context) => judgeAfterReview(world, context));
    if (judged.kind === 'fault') return judged;
  }
  return { kind: 'ok', value: null };
}

/**
 * Reviews the winner unless it has been reviewed. Idempotent: after a crash, answered questions are not asked again.
 */
async function reviewPick(
  world: ExaminePorts,
  context: RunContext,
  baseRun: ArtifactRef,
): Promise<'settled' | 'contested'> {
  const { run } = context;
  const last = run.review?.at(-1);
  if (last && !last.after) return last.contested ? 'contested' : 'settled';
  const alias = pickOf(run.decision);
  if (alias === null || run.review?.some((one) => one.alias === alias)) return 'settled';
  const review = await reviewOf(world, context, { alias, baseRun });
  if (!review) return 'settled';
  world.announcer.soon(run.id);
  return review.contested ? 'contested' : 'settled';
}

interface ReviewedPick {
  readonly alias: Alias;
  readonly baseRun: ArtifactRef;
}

/** Null if the settings require no review or no critic is available. */
async function reviewOf(
  world: ExaminePorts,
  context: RunContext,
  picked: ReviewedPick,
): Promise<WinnerReview | null> {
  const { run, signal } = context;
  const { alias, baseRun } = picked;
  const { brief, debate, evidence = [], independentTests, review = [] } = run;
  const task = taskOf(run);
  const models = judgeModels(task.settings, world.defaults.models);
  const wanted = reviewWanted(task.settings, { brief, debated: debate !== undefined });
  if (!wanted || !brief || models.length === 0) return null;
  const entries = await world.store.candidates(run.id);
  const authors = entries.map(({ contestant }) => contestant);
  const author = entries.find((entry) => entry.alias === alias)?.contestant ?? null;
  const { gateway, model, random } = world;
  const remember = rememberAnswers(world, run.id);
  const { result: found, checks } = await recordActivity(world, run, async (onStep) => {
    onStep({ name: 'review' });
    const runner = await openCheckRunner(world, context);
    return reviewCandidate(
      runner,
      { gateway, model, random, models, task, brief, remember, signal },
      {
        alias,
        entries,
        evidence,
        onBase: await readBaseRun(runner, baseRun),
        reviewers: reviewersOf(world.prompts, task, models, author),
        identities: identitiesOf(authors),
      },
    );
  });
  const tests = found.independentTests
    ? { independentTests: mergeReports(independentTests, found.independentTests) }
    : {};
  const patch = { evidence: found.evidence, review: [...review, found.review], checks, ...tests };
  await world.store.updateRun(run.id, patch, world.clock.now());
  return found.review;
}

/** Each critic tries a different model first, if possible of a family that did not write the patch. */
function reviewersOf(
  prompts: PromptLibrary,
  { settings }: Pick<Task, 'settings'>,
  models: readonly string[],
  author: Author | null,
): readonly Reviewer[] {
  const { agents, focusAreas } = settings.critics;
  const panel = judgesForPair([author], models, models.length).map((judge) => judge.model);
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

const mergeReports = (
  before: IndependentTestReport | undefined,
  { models, tests, notes }: IndependentTestReport,
): IndependentTestReport => ({
  models: [...(before?.models ?? []), ...models],
  tests: [...(before?.tests ?? []), ...tests],
  notes: [...(before?.notes ?? []), ...notes],
});

/** Decides again from the evidence with the critics' findings, and records the result for the reviewed candidate. */
async function judgeAfterReview(world: JudgePorts, context: RunContext): Promise<null> {
  const decision = await judge(world, context);
  const { id: runId, review = [] } = context.run;
  const after = { alias: pickOf(decision), because: decision.because };
  const updated = review.map((one, i) => (i === review.length - 1 ? { ...one, after } : one));
  await world.store.updateRun(runId, { review: updated }, world.clock.now());
  return null;
}
