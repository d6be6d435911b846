import { triage } from '../../core/brief/index.ts';
import { type Dialogue, NO_DIALOGUE } from '../../core/dialogue/index.ts';
import type { RunId } from '../../core/model/index.ts';
import { loadRun, loadTask } from '../task.ts';
import type { World } from '../world.ts';
import { plan, type Since } from './planner.ts';
import { refine } from './refine.ts';

export { type DebateNews, type DebatePlan, holdDebate } from './debate.ts';
export type { Turned } from './hear.ts';
export { criticsPrompts } from './refine.ts';
export type { Table } from './seats.ts';

/**
 * Writes the brief: the planner, and where it pays a debate of critics. Asked again, it takes in what maintainers said
 * since, and debates no second time.
 */
export async function brief(world: World, runId: RunId, signal: AbortSignal): Promise<'briefed'> {
  const { store, clock } = world;
  await store.markStage(runId, 'brief', 'start', clock.now());
  const task = await loadTask(world, runId);
  const run = await loadRun(world, runId);
  const dialogue = run.dialogue ?? NO_DIALOGUE;
  const said = saidIn(dialogue);
  let written = run.brief;
  if (!written || said.length > dialogue.heard) {
    const since: Since | null = written ? { brief: written, said } : null;
    written = await plan(world, task, since, signal);
    const heard = said.length > 0 ? { dialogue: { ...dialogue, heard: said.length } } : {};
    await store.updateRun(runId, { brief: written, ...heard }, clock.now());
    world.announcer.soon(runId);
  }
  if (!run.debate?.end && said.length === 0 && triage(written, task.settings).debate) {
    await store.updateRun(runId, await refine(world, task, written, run.debate, signal), clock.now());
  }
  await store.markStage(runId, 'brief', 'end', clock.now());
  return 'briefed';
}

/** What maintainers said to the questions of a run, a line each, oldest first. */
function saidIn({ inquiries }: Dialogue): readonly string[] {
  return inquiries.flatMap((inquiry): string[] => {
    const { settled } = inquiry;
    if (settled?.kind === 'answered' && inquiry.kind === 'answer') {
      return [`Asked: ${inquiry.question.text}\nAnswered: ${settled.text}`];
    }
    return settled?.kind === 'revised' ? [`Asked for a change of the plan: ${settled.text}`] : [];
  });
}
