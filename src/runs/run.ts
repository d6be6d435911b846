import { Semaphore } from 'async-mutex';
import type { FlowContext, Flows } from '../ports/index.ts';
import { type AdmitPorts, admit, enqueue, permit, RunRequest } from './admit/index.ts';
import { examineAhead } from './ahead.ts';
import { brief } from './brief/index.ts';
import { CandidateInput, code, codeFurther, codeOne } from './code/index.ts';
import type { World } from './context.ts';
import { instrumentFlows } from './instrumentation.ts';
import { judge } from './judge/index.ts';
import { keepOutcomes } from './outcomes.ts';
import { conclude, publish } from './publish/index.ts';
import { settleQuestions } from './questions/index.ts';
import { checkBase } from './recipe/index.ts';
import { reviewWinner } from './review.ts';
import { ExaminationInput, examineHere, examineRounds } from './rounds.ts';
import { maxWorkMs, type StageRunner, stagesOf, UNLIMITED, workTimeOf } from './stage.ts';

/** How a run ended, small enough to be the engine's result; everything else is in the store. */
type RunEnd = 'published' | 'refused' | 'failed' | 'stopped';

/** Checks permission, waits for a slot and freezes the run's inputs. Null if the run is admitted, else how it ended. */
async function admitRun(
  world: AdmitPorts,
  flow: FlowContext,
  request: RunRequest,
  stage: StageRunner,
): Promise<RunEnd | null> {
  const { runId } = request;
  const permitted = await stage('permit', ({ run }) => permit(world, run, request));
  if (permitted.kind === 'fault') return conclude(world, flow, runId, permitted.fault, 'quietly');
  if (permitted.value === 'refused') return 'refused';

  const enlisted = await stage('enlist', ({ run }) => enqueue(world, run, request));
  if (enlisted.kind === 'fault') return conclude(world, flow, runId, enlisted.fault, 'quietly');
  await flow.waitForSlot(enlisted.value);

  const admitted = await stage('admit', ({ run }) => admit(world, run, request));
  if (admitted.kind === 'fault') return conclude(world, flow, runId, admitted.fault);
  return admitted.value === 'refused' ? 'refused' : null;
}

/** One run from start to end. Each stage is a durable step: finished ones are not repeated after a crash. */
async function runTask(
  world: World,
  flow: FlowContext,
  request: RunRequest,
  aheadConcurrency: Semaphore,
): Promise<RunEnd> {
  const { runId } = request;
  const time = workTimeOf(maxWorkMs(world));
  const stage = stagesOf(world, flow, runId, time);

  const ended = await admitRun(world, flow, request, stage);
  if (ended !== null) return ended;

  // The base must build before anything is spent on coders; the planner works concurrently.
  const plan = () => stage('brief', (context) => brief(world, context));
  const [briefed, base] = await Promise.all([plan(), stage('base', (context) => checkBase(world, context))]);
  if (base.kind === 'fault') return conclude(world, flow, runId, base.fault);
  if (briefed.kind === 'fault') return conclude(world, flow, runId, briefed.fault);

  const agreed = await settleQuestions(world, flow, stage, plan);
  if (agreed.kind === 'fault') return conclude(world, flow, runId, agreed.fault);
  if (agreed.value === 'stopped') return 'stopped';

  // Finished candidates are examined while others are still coded.
  const ahead = examineAhead(world, aheadConcurrency, base.value);
  const coded = await code(world, flow, { ...request, time }, stage, ahead);
  if (coded.kind === 'fault') return conclude(world, flow, runId, coded.fault);

  const examined = await examineRounds(world, flow, { runId, baseRun: base.value }, time, (examinedMs) =>
    codeFurther(world, flow, stage, time, examinedMs),
  );
  if (examined.kind === 'fault') return conclude(world, flow, runId, examined.fault);

  const judged = await stage('judge', (context) => judge(world, context));
  if (judged.kind === 'fault') return conclude(world, flow, runId, judged.fault);

  const reviewed = await reviewWinner(world, base.value, stage);
  if (reviewed.kind === 'fault') return conclude(world, flow, runId, reviewed.fault);

  // Without a time limit, so that a decision is always published.
  const ending = stagesOf(world, flow, runId, UNLIMITED);
  const published = await ending('publish', (context) => publish(world, context));
  if (published.kind === 'fault') return conclude(world, flow, runId, published.fault);
  // The run is over, whether or not this succeeds: upkeep keeps what is due.
  await ending('outcomes', () => keepOutcomes(world, runId));
  return 'published';
}

/** The flows of the durable engine: a run, one candidate of it, and the examination of all of them. */
export function flows(world: World): Flows {
  const aheadConcurrency = new Semaphore(world.examinations);
  return instrumentFlows(world, {
    async run(flow, input) {
      return runTask(world, flow, RunRequest.parse(input), aheadConcurrency);
    },
    candidate: (flow, input) => codeOne(world, flow, CandidateInput.parse(input)),
    examination: (flow, input) => examineHere(world, flow, ExaminationInput.parse(input)),
  });
}
