import {
  asked,
  type Inquiry,
  type Next,
  NO_DIALOGUE,
  nextInquiry,
  openInquiry,
  settle,
  withAssumed,
} from '../core/dialogue/index.ts';
import { Fault, type RunId } from '../core/model/index.ts';
import type { FlowContext, RunRecord } from '../ports/index.ts';
import { type Guarded, type StageRunner, stopIfCancelled } from './guard.ts';
import { otherwiseOf, postQuestion } from './question.ts';
import { loadRun } from './task.ts';
import type { World } from './world.ts';

/** Replies to a run come under this topic. */
export const REPLY = 'reply';

type Asked = { readonly kind: 'agreed' } | { readonly kind: 'waits'; readonly ms: number };

/**
 * Asks people what the brief leaves open, one thing at a time, and waits for them; an answer leads to a new brief by `plan`. Ends
 * when nothing is open and the plan is approved where it has to be, or when nobody spoke in time. Waiting takes no
 * coder's place, no token and no time of a process: how long it waits is decided inside steps, so that a run that was
 * woken elsewhere waits for what is left.
 */
export async function agree(
  world: World,
  context: FlowContext,
  runId: RunId,
  stage: StageRunner,
  plan: () => Promise<Guarded<unknown>>,
): Promise<Guarded<'agreed' | 'stopped'>> {
  // Of a version that asked nobody, and past its brief since then.
  if (!(await context.patched('agree'))) return { kind: 'ok', value: 'agreed' };
  for (;;) {
    const open = await stage('ask', (signal) => ask(world, runId, signal));
    if (open.kind === 'fault') return open;
    if (open.value.kind === 'agreed') return { kind: 'ok', value: 'agreed' };
    const said = await listen(world, context, runId, stage, open.value.ms);
    if (said.kind === 'fault') return said;
    if (said.value.kind === 'stop') return { kind: 'ok', value: 'stopped' };
    if (said.value.kind === 'go') continue;
    const again = await plan();
    if (again.kind === 'fault') return again;
  }
}

async function listen(
  world: World,
  context: FlowContext,
  runId: RunId,
  stage: StageRunner,
  ms: number,
): Promise<Guarded<Next>> {
  let left = ms;
  for (;;) {
    await context.wait(REPLY, left);
    const heard = await stage('hear', () => hear(world, runId));
    if (heard.kind === 'fault' || heard.value.kind !== 'waits') return heard;
    left = heard.value.ms;
  }
}

/** Repeated after a crash, it finds what it asked before, and writes what of it is not written yet. */
async function ask(world: World, runId: RunId, signal: AbortSignal): Promise<Asked> {
  const run = await loadRun(world, runId);
  const inquiry = openInquiry(run.dialogue ?? NO_DIALOGUE) ?? (await openNext(world, run));
  const now = world.clock.now();
  if (!inquiry) {
    await world.store.transition(runId, 'briefed', 'the brief is written', now);
    world.announcer.soon(runId);
    return { kind: 'agreed' };
  }
  const [state, cause] =
    inquiry.kind === 'answer'
      ? (['awaiting_answer', 'the brief leaves a question open'] as const)
      : (['awaiting_approval', 'its plan needs an approval'] as const);
  await world.store.transition(runId, state, cause, now);
  stopIfCancelled(signal);
  if (run.origin.kind === 'github')
    await postQuestion(world, await loadRun(world, runId), run.origin, inquiry);
  world.announcer.soon(runId);
  return { kind: 'waits', ms: Math.max(0, inquiry.until - now) };
}

/** Writes down the next inquiry, if there is one; where no question is left to be asked, what the brief assumes instead. */
async function openNext(world: World, run: RunRecord): Promise<Inquiry | null> {
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
  await world.store.updateRun(
    run.id,
    {
      ...(assumed === brief ? {} : { brief: assumed }),
      ...(inquiry ? { dialogue: asked(dialogue, inquiry, await world.store.replies(run.id)) } : {}),
    },
    now,
  );
  return inquiry;
}

/** Takes what was said since the last look. Decides the same again when it is repeated. */
async function hear(world: World, runId: RunId): Promise<Next> {
  const run = await loadRun(world, runId);
  const before = run.dialogue ?? NO_DIALOGUE;
  const now = world.clock.now();
  const { dialogue, next } = settle(before, await world.store.replies(runId), now, otherwiseOf(run));
  if (dialogue !== before) await world.store.updateRun(runId, { dialogue }, now);
  if (next.kind === 'stop') {
    await world.store.transition(runId, 'cancelled', next.because, now);
    await world.announcer.finish(runId);
    return next;
  }
  if (next.kind === 'replan') {
    await world.store.transition(runId, 'admitted', 'the brief is written anew with what was said', now);
  }
  world.announcer.soon(runId);
  return next;
}
