import {
  type Inquiry,
  type NextStep,
  NO_DIALOGUE,
  nextInquiry,
  openInquiry,
  settleInquiry,
  withAssumed,
  withInquiry,
} from '../../core/brief/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { FlowContext, RunRecord } from '../../ports/index.ts';
import type { World } from '../context.ts';
import { type RunContext, type StageResult, type StageRunner, throwIfCancelled } from '../stage.ts';
import { defaultOutcomeOf, postQuestion } from './question.ts';

export {
  acceptedBox,
  closeQuestions,
  findComment,
  findOwnComment,
  firstQuestionText,
  inquiryOf,
  type OwnComment,
  questionCommentOf,
  questionText,
  reportUnrecognized,
  restoreQuestion,
} from './question.ts';

/** Topic of replies to a run. */
export const REPLY_TOPIC = 'reply';

type AskOutcome = { readonly kind: 'agreed' } | { readonly kind: 'waits'; readonly ms: number };

/**
 * Asks people the brief's open questions one at a time and waits for replies; `plan` writes a new brief from an answer.
 * Ends when no question is open and the plan is approved where required, or when the time is over. Waiting uses no
 * slot, token or process: the remaining time is determined in durable steps, so that a run resumed elsewhere waits only
 * for the rest.
 */
export async function settleQuestions(
  world: Pick<World, 'announcer' | 'clock' | 'github' | 'store'>,
  flow: FlowContext,
  stage: StageRunner,
  plan: () => Promise<StageResult<unknown>>,
): Promise<StageResult<'agreed' | 'stopped'>> {
  for (;;) {
    const open = await stage('ask', (context) => askNext(world, context));
    if (open.kind === 'fault') return open;
    if (open.value.kind === 'agreed') return { kind: 'ok', value: 'agreed' };
    const next = await waitForReply(world, flow, stage, open.value.ms);
    if (next.kind === 'fault') return next;
    if (next.value.kind === 'stop') return { kind: 'ok', value: 'stopped' };
    if (next.value.kind === 'go') continue;
    const again = await plan();
    if (again.kind === 'fault') return again;
  }
}

async function waitForReply(
  world: Pick<World, 'announcer' | 'clock' | 'store'>,
  flow: FlowContext,
  stage: StageRunner,
  ms: number,
): Promise<StageResult<NextStep>> {
  let left = ms;
  for (;;) {
    await flow.wait(REPLY_TOPIC, left);
    const next = await stage('hear', ({ run }) => takeReplies(world, run));
    if (next.kind === 'fault' || next.value.kind !== 'waits') return next;
    left = next.value.ms;
  }
}

/** Idempotent: after a crash it finds the question it asked and completes missing writes. */
async function askNext(
  world: Pick<World, 'announcer' | 'clock' | 'github' | 'store'>,
  { run: before, signal }: RunContext,
): Promise<AskOutcome> {
  const { run, inquiry } = await openNextInquiry(world, before);
  const now = world.clock.now();
  if (!inquiry) {
    await world.store.transition(run.id, 'briefed', 'the brief is written', now);
    world.announcer.soon(run.id);
    return { kind: 'agreed' };
  }
  const [state, cause] =
    inquiry.kind === 'answer'
      ? (['awaiting_answer', 'the brief leaves a question open'] as const)
      : (['awaiting_approval', 'its plan needs an approval'] as const);
  await world.store.transition(run.id, state, cause, now);
  throwIfCancelled(signal);
  if (run.origin.kind === 'github') await postQuestion(world, { ...run, state }, run.origin, inquiry);
  world.announcer.soon(run.id);
  return { kind: 'waits', ms: Math.max(0, inquiry.until - now) };
}

/**
 * The run with its open inquiry, or with the next one, which is stored. Null if there is nothing left to ask; the brief
 * then states its assumptions.
 */
async function openNextInquiry(
  world: Pick<World, 'clock' | 'store'>,
  run: RunRecord,
): Promise<{ readonly run: RunRecord; readonly inquiry: Inquiry | null }> {
  const open = openInquiry(run.dialogue ?? NO_DIALOGUE);
  if (open) return { run, inquiry: open };
  const { task, brief, dialogue = NO_DIALOGUE } = run;
  if (!task || !brief) throw new Fault('INTERNAL', `Run ${run.id} has no brief although one was written.`);
  const { approval, answer } = task.settings;
  const now = world.clock.now();
  const inquiry = nextInquiry(dialogue, {
    questions: brief.questions,
    approval,
    mayAsk: answer.ask,
    now,
    withinMs: answer.within * 1_000,
  });
  const assumed = inquiry?.kind === 'answer' ? brief : withAssumed(brief, dialogue);
  const patch = {
    ...(assumed === brief ? {} : { brief: assumed }),
    ...(inquiry ? { dialogue: withInquiry(dialogue, inquiry, await world.store.replies(run.id)) } : {}),
  };
  await world.store.updateRun(run.id, patch, now);
  return { run: { ...run, ...patch }, inquiry };
}

/** Processes replies since the last check. Deterministic when repeated. */
async function takeReplies(
  world: Pick<World, 'announcer' | 'clock' | 'store'>,
  run: RunRecord,
): Promise<NextStep> {
  const runId = run.id;
  const before = run.dialogue ?? NO_DIALOGUE;
  const now = world.clock.now();
  const { dialogue, next } = settleInquiry(
    before,
    await world.store.replies(runId),
    now,
    defaultOutcomeOf(run),
  );
  if (dialogue !== before) await world.store.updateRun(runId, { dialogue }, now);
  if (next.kind === 'stop') {
    await world.store.transition(runId, 'cancelled', next.because, now);
    await world.announcer.finish(runId);
    return next;
  }
  if (next.kind === 'replan') {
    await world.store.transition(runId, 'admitted', 'the brief is rewritten with the replies', now);
  }
  world.announcer.soon(runId);
  return next;
}
