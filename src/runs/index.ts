import type { FlowContext, Flows } from '../ports/index.ts';
import { admit, enlist, permit, RunRequest } from './admit/index.ts';
import { agree } from './agree.ts';
import { brief } from './brief/index.ts';
import { CandidateInput, code, codeFurther, codeOne } from './code/index.ts';
import { stopEarly } from './early.ts';
import { ExaminationInput, examineAll, examineHere } from './examination.ts';
import { checkBase } from './examine/index.ts';
import { guard, type StageRunner } from './guard.ts';
import { judge } from './judge/index.ts';
import { conclude, publish } from './publish/index.ts';
import { reviewWinner } from './review.ts';
import { watched } from './watched.ts';
import { mostWorkMs, stagesWithin, workTimeOf } from './work-time.ts';
import type { World } from './world.ts';

export {
  type Exposure,
  exposureOfLocal,
  isLikelyWriter,
  mayWrite,
  Overrides,
  RunRequest,
} from './admit/index.ts';
export type { DebateNews } from './brief/index.ts';
export { cancelRun, closeUnpicked } from './cancel.ts';
export { COLLECTING } from './code/index.ts';
export { type DebateWish, debateText, type TextDebate } from './debate-text.ts';
export { OUTAGES } from './guard.ts';
export { inLine, sayLine } from './line.ts';
export { inquiryOf, restoreQuestion, sayMisheard } from './misheard.ts';
export { once } from './once.ts';
export { findComment, findOwn } from './own-comment.ts';
export { type PickedHere, pickHere } from './pick-local.ts';
export {
  type Applied,
  applyPick,
  choiceTexts,
  loadOnGitHub,
  openAnnouncer,
  refreshTally,
  releaseCi,
  statusUrl,
  whyNotOurs,
  writtenComparison,
} from './publish/index.ts';
export { commentThatAsked, firstQuestionText, questionText } from './question.ts';
export {
  isWaiting,
  reconcile,
  reply,
  type Said,
  sayLastWords,
  startLocalRun,
  startRun,
  sweepEnded,
  waitsFor,
} from './reconcile.ts';
export { type Keep, type Retired, retire } from './retire.ts';
export { type SelectOptions, type SelectTools, select } from './select.ts';
export { handleOf, loadRun, requireGitHub } from './task.ts';
export { diffsOf, LABEL, RUNNING_LABEL, viewOf } from './view.ts';
export type { Announcer, PromptLibrary, World } from './world.ts';

/** How a run ended, small enough to be the engine's result; all else is in the store. */
export type RunEnd = 'published' | 'refused' | 'failed' | 'stopped';

/** A run until it is admitted: it may start, has waited for its place, and its inputs are frozen. Else how it ended. */
async function begin(
  world: World,
  context: FlowContext,
  request: RunRequest,
  stage: StageRunner,
): Promise<RunEnd | null> {
  const { runId } = request;
  const permitted = await stage('permit', () => permit(world, request));
  if (permitted.kind === 'fault') return conclude(world, context, runId, permitted.fault, 'quietly');
  if (permitted.value === 'refused') return 'refused';

  // Not where an older version is past this place: that run goes on without.
  if (await context.patched('line')) {
    const enlisted = await stage('enlist', () => enlist(world, request));
    if (enlisted.kind === 'fault') return conclude(world, context, runId, enlisted.fault, 'quietly');
    await context.waitForSlot(enlisted.value);
  }

  const admitted = await stage('admit', () => admit(world, request));
  if (admitted.kind === 'fault') return conclude(world, context, runId, admitted.fault);
  return admitted.value === 'refused' ? 'refused' : null;
}

/** One run, top to bottom. Each stage is a durable step: after a crash, finished ones are not repeated. */
export async function runTask(world: World, context: FlowContext, request: RunRequest): Promise<RunEnd> {
  const { runId } = request;
  const time = workTimeOf(mostWorkMs(world));
  const stage = stagesWithin(world, context, time);

  const ended = await begin(world, context, request, stage);
  if (ended !== null) return ended;

  // The base must build and pass before anything is spent on coders; the planner thinks meanwhile.
  const plan = () => stage('brief', (signal) => brief(world, runId, signal));
  const [briefed, base] = await Promise.all([
    plan(),
    stage('base', (signal) => checkBase(world, runId, signal)),
  ]);
  if (base.kind === 'fault') return conclude(world, context, runId, base.fault);
  if (briefed.kind === 'fault') return conclude(world, context, runId, briefed.fault);

  const agreed = await agree(world, context, runId, stage, plan);
  if (agreed.kind === 'fault') return conclude(world, context, runId, agreed.fault);
  if (agreed.value === 'stopped') return 'stopped';

  const coded = await code(world, context, { ...request, time }, stage, (over, signal) =>
    stopEarly(world, runId, base.value, over, signal),
  );
  if (coded.kind === 'fault') return conclude(world, context, runId, coded.fault);

  const examined = await examineAll(world, context, { runId, baseRun: base.value }, time, () =>
    codeFurther(world, context, runId, stage, time),
  );
  if (examined.kind === 'fault') return conclude(world, context, runId, examined.fault);

  const judged = await stage('judge', (signal) => judge(world, runId, signal));
  if (judged.kind === 'fault') return conclude(world, context, runId, judged.fault);

  // Not where an older version, which reviewed nobody, has published already.
  const reviewed = (await context.patched('review'))
    ? await reviewWinner(world, runId, base.value, stage)
    : null;
  if (reviewed?.kind === 'fault') return conclude(world, context, runId, reviewed.fault);

  // Whatever time it took to get here: what is decided is shown.
  const published = await context.step('publish', (signal) =>
    guard(world, 'publish', signal, () => publish(world, runId, signal)),
  );
  if (published.kind === 'fault') return conclude(world, context, runId, published.fault);
  return 'published';
}

/** The flows of the durable engine: a run, one candidate of it, and the examination of all of them. */
export const flows = (world: World): Flows =>
  watched(world, {
    run: (context, input) => runTask(world, context, RunRequest.parse(input)),
    candidate: (context, input) => codeOne(world, context, CandidateInput.parse(input)),
    examination: (context, input) => examineHere(world, context, ExaminationInput.parse(input)),
  });
