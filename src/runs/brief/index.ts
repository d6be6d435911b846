import { type Dialogue, NO_DIALOGUE, triage } from '../../core/brief/index.ts';
import { taskOf, type World } from '../context.ts';
import type { RunContext } from '../stage.ts';
import { type EarlierBrief, type PlannerPorts, plan } from './planner.ts';
import { refine } from './refine.ts';

export type { CriticTurnResult, DebateEvent, DebatePanel, DebatePlan } from './critics.ts';
export { holdDebate } from './debate.ts';
export { criticsPrompts } from './refine.ts';

export type BriefPorts = PlannerPorts & Pick<World, 'announcer' | 'clock'>;

/**
 * Writes the brief: the planner, and where it pays a debate of critics. Asked again, it takes in what maintainers said
 * since, and debates no second time.
 */
export async function brief(world: BriefPorts, { run, signal }: RunContext): Promise<'briefed'> {
  const { store, clock } = world;
  const runId = run.id;
  await store.markStage(runId, 'brief', 'start', clock.now());
  const task = taskOf(run);
  const dialogue = run.dialogue ?? NO_DIALOGUE;
  const said = maintainerReplies(dialogue);
  let written = run.brief;
  if (!written || said.length > dialogue.repliesUsed) {
    const since: EarlierBrief | null = written ? { brief: written, said } : null;
    written = await plan(world, task, since, signal);
    const replied = said.length > 0 ? { dialogue: { ...dialogue, repliesUsed: said.length } } : {};
    await store.updateRun(runId, { brief: written, ...replied }, clock.now());
    world.announcer.soon(runId);
  }
  if (!run.debate?.end && said.length === 0 && triage(written, task.settings).debate) {
    await store.updateRun(runId, await refine(world, task, written, run.debate, signal), clock.now());
  }
  await store.markStage(runId, 'brief', 'end', clock.now());
  return 'briefed';
}

/** What maintainers said to the questions of a run, a line each, oldest first. */
function maintainerReplies({ inquiries }: Dialogue): readonly string[] {
  return inquiries.flatMap((inquiry): string[] => {
    const { settled } = inquiry;
    if (settled?.kind === 'answered' && inquiry.kind === 'answer') {
      return [`Asked: ${inquiry.question.text}\nAnswered: ${settled.text}`];
    }
    return settled?.kind === 'revised' ? [`Asked for a change of the plan: ${settled.text}`] : [];
  });
}
