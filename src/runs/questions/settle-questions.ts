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

/** Replies to a run come under this topic. */
export const REPLY_TOPIC = 'reply';

type AskOutcome = { readonly kind: 'agreed' } | { readonly kind: 'waits'; readonly ms: number };

/**
 * Asks people what the brief leaves open, one thing at a time, and waits for them; an answer leads to a new brief by `plan`. Ends
 * when nothing is open and the plan is approved where it has to be, or when nobody spoke in time. Waiting takes no
 * coder's place, no token and no time of a process: how long it waits is decided inside steps, so that a run that was
 * woken elsewhere waits for what is left.
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

/** Repeated after a crash, it finds what it asked before, and writes what of it is not written yet. */
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
 * The run with the inquiry that is open, or with the next one, which is written down; null where nothing is left to be
 * asked, and the brief then says what it assumes instead.
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

/** Takes what was said since the last look. Decides the same again when it is repeated. */
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
