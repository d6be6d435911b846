import {
  briefFrom,
  briefSpec,
  type Dialogue,
  debatesAskedFor,
  NO_DIALOGUE,
  triage,
  withQuestions,
} from '../../core/brief/index.ts';
import { acceptanceLine, assignCritics, type Debate, questionsOf } from '../../core/debate/index.ts';
import { familyOf, judgeModels } from '../../core/judging/index.ts';
import type { Brief, Task } from '../../core/model/index.ts';
import type { RunRecord } from '../../ports/index.ts';
import { payerOf, rememberAnswers } from '../ask-model.ts';
import { isUsableModel } from '../contestants.ts';
import { type ModelPorts, taskOf, titleAndBody, type World } from '../context.ts';
import { readOpenPulls } from '../overlaps.ts';
import type { RunContext } from '../stage.ts';
import type { DebatePanel, DebatePlan } from './critics.ts';
import { holdDebate } from './debate.ts';
import { type EarlierBrief, type PlannerPorts, plan, plannerModel } from './planner.ts';

export type { DebateEvent, DebatePanel, DebatePlan } from './critics.ts';
export { holdDebate } from './debate.ts';

type BriefPorts = PlannerPorts & Pick<World, 'announcer' | 'clock' | 'github' | 'log'>;

/**
 * Writes the brief with the planner, and where it pays has critics debate it. Called again, it includes maintainers'
 * replies, and repeats the debate only if they asked for one.
 */
export async function brief(world: BriefPorts, { run, signal }: RunContext): Promise<'briefed'> {
  const { store, clock } = world;
  const runId = run.id;
  await store.markStage(runId, 'brief', 'start', clock.now());
  const task = taskOf(run);
  let dialogue = run.dialogue ?? NO_DIALOGUE;
  const replies = maintainerReplies(dialogue);
  let written = run.brief;
  if (!written || replies.length > dialogue.repliesUsed) {
    const since: EarlierBrief | null = written ? { brief: written, replies } : null;
    written = await planWithOverlaps(world, { ...run, task }, since, signal);
    if (replies.length > 0) dialogue = { ...dialogue, repliesUsed: replies.length };
    await store.updateRun(
      runId,
      { brief: written, ...(replies.length > 0 ? { dialogue } : {}) },
      clock.now(),
    );
    world.announcer.soon(runId);
  }
  const from = run.debate?.end ? undefined : run.debate;
  const asked = debatesAskedFor(dialogue);
  if (asked > (dialogue.debatesHeld ?? 0)) {
    const refined = await refine(world, task, written, { from, replies, session: asked }, signal);
    await store.updateRun(runId, { ...refined, dialogue: { ...dialogue, debatesHeld: asked } }, clock.now());
  } else if (!run.debate?.end && replies.length === 0 && triage(written, task.settings).debate) {
    await store.updateRun(runId, await refine(world, task, written, { from, replies }, signal), clock.now());
  }
  await store.markStage(runId, 'brief', 'end', clock.now());
  return 'briefed';
}

/** The planner's brief, and which open pull requests change its files; these are read while the planner works. */
async function planWithOverlaps(
  world: BriefPorts,
  { id, origin, task }: RunRecord & { readonly task: Task },
  since: EarlierBrief | null,
  signal: AbortSignal,
): Promise<Brief> {
  if (origin.kind === 'local') return plan(world, task, since, signal);
  const [written, compare] = await Promise.all([
    plan(world, task, since, signal),
    readOpenPulls(world, { id, origin }),
  ]);
  return { ...written, overlaps: compare(written.files) };
}

/** Maintainers' replies to a run's questions, one per line, oldest first. */
function maintainerReplies({ inquiries }: Dialogue): readonly string[] {
  return inquiries.flatMap((inquiry): string[] => {
    const { settled } = inquiry;
    if (settled?.kind === 'answered' && inquiry.kind === 'answer') {
      return [`Asked: ${inquiry.question.text}\nAnswered: ${settled.text}`];
    }
    return settled?.kind === 'revised' ? [`Asked for a change of the plan: ${settled.text}`] : [];
  });
}

interface RefineOptions {
  readonly from: Debate | undefined;
  /** What maintainers replied to earlier questions, oldest first. */
  readonly replies: readonly string[];
  readonly session?: number;
}

/**
 * Has critics debate a run's brief, and returns the refined brief. Each round is stored as it ends; `from` is what was
 * stored before a restart. `session`: which of the debates that people asked for; absent: the run's own.
 */
async function refine(
  world: ModelPorts & Pick<World, 'announcer' | 'clock' | 'coders'>,
  task: Task,
  brief: Brief,
  { from, replies, session }: RefineOptions,
  signal: AbortSignal,
): Promise<{ readonly brief: Brief; readonly debate: Debate }> {
  const { runId } = task;
  const { payer, plan } = debatePlanFor(world, task, brief, replies);
  const table: DebatePanel = {
    ...world,
    payer,
    remember: rememberAnswers(world, runId),
    signal,
    ...(session === undefined ? {} : { session }),
  };
  let debate: Debate | null = null;
  for await (const now of holdDebate(table, plan, from ? { from } : {})) {
    debate = now;
    if (!now.end) await world.store.updateRun(runId, { debate: now }, world.clock.now());
    world.announcer.soon(runId);
  }
  if (!debate) throw new TypeError('A debate has at least one round.');
  return { brief: refinedBrief(brief, debate), debate };
}

function debatePlanFor(
  world: Pick<World, 'coders' | 'defaults' | 'gateway' | 'prompts'>,
  task: Task,
  brief: Brief,
  replies: readonly string[],
) {
  const { settings } = task;
  const { agents, maxRounds, requiredForConsensus: required, focusAreas, assign, share } = settings.critics;
  const models = judgeModels(settings, world.defaults.models).filter((model) =>
    isUsableModel(world, settings, model),
  );
  const rotate = assign === 'rotating';
  const { run, tokens } = settings.budget;
  const plan: DebatePlan = {
    spec: briefSpec(brief),
    assignments: (round, unresponsive) =>
      assignCritics(agents, models, familyOf, { round, rotate, unresponsive }),
    synthesisers: [...new Set([plannerModel(world, task), ...models])],
    instructions: criticsPrompts(world),
    shown: { task: titleAndBody(task), said: { comments: task.comments, replies }, focusAreas },
    maxRounds,
    ...(required === undefined ? {} : { required: Math.min(required, agents.length) }),
    share: { usd: share * run, ...(tokens === undefined ? {} : { tokens: Math.floor(share * tokens) }) },
    fits: (spec) => briefFrom(spec, brief) !== null,
  };
  return { payer: payerOf(task), plan };
}

/** Instructions of each critic: the common part, then the persona's. */
export const criticsPrompts = ({ prompts }: Pick<World, 'prompts'>): DebatePlan['instructions'] => ({
  critic: (persona) => `${prompts.critic.trim()}\n\n${prompts.personas.get(persona)?.spec ?? ''}`.trim(),
  synthesiser: prompts.synthesiser,
});

/** The brief from the debated spec, with the questions left to people and the tests named by critics. */
function refinedBrief(brief: Brief, debate: Debate): Brief {
  const read = briefFrom(debate.spec, brief) ?? brief;
  // Of questions with equal weight, the planner's come first: it has read the repository.
  const { questions, assumptions } = withQuestions(read, [...read.questions, ...questionsOf(debate)]);
  const acceptance = [...new Set(debate.acceptance.map(acceptanceLine))];
  return { ...read, questions, assumptions, ...(acceptance.length > 0 ? { acceptance } : {}) };
}
