import { briefFrom, specOf } from '../../core/brief/index.ts';
import { acceptanceLine, assignCritics, type Debate, questionsOf } from '../../core/debate/index.ts';
import { familyOf, judgeModels } from '../../core/judging/index.ts';
import { type Brief, SEVERITIES, type Task } from '../../core/model/index.ts';
import { payerOf } from '../ask-model.ts';
import { isUsableModel } from '../contestants.ts';
import { type ModelPorts, taskText, type World } from '../context.ts';
import { rememberAnswers } from '../restore.ts';
import type { DebatePanel, DebatePlan } from './critics.ts';
import { holdDebate } from './debate.ts';
import { plannerModel } from './planner.ts';

/** Questions that one brief holds at most. */
const MAX_QUESTIONS = 5;

/**
 * Lets critics debate a run's brief; each round is stored as it ends, and `from` is what an earlier start stored. Returns the
 * brief that came of it.
 */
export async function refine(
  world: ModelPorts & Pick<World, 'announcer' | 'clock' | 'coders'>,
  task: Task,
  brief: Brief,
  from: Debate | undefined,
  signal: AbortSignal,
): Promise<{ readonly brief: Brief; readonly debate: Debate }> {
  const { runId } = task;
  const { payer, plan } = debatePlanFor(world, task, brief);
  const table: DebatePanel = { ...world, payer, remember: rememberAnswers(world, runId), signal };
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
) {
  const { settings } = task;
  const { agents, maxRounds, requiredForConsensus: required, focusAreas, assign, share } = settings.critics;
  const models = judgeModels(settings, world.defaults.models).filter((model) =>
    isUsableModel(world, settings, model),
  );
  const rotate = assign === 'rotating';
  const { run, tokens } = settings.budget;
  const plan: DebatePlan = {
    spec: specOf(brief),
    assignments: (round, lost) => assignCritics(agents, models, familyOf, { round, rotate, lost }),
    synthesisers: [...new Set([plannerModel(world, task), ...models])],
    instructions: criticsPrompts(world),
    shown: { task: taskText(task), focusAreas },
    maxRounds,
    ...(required === undefined ? {} : { required: Math.min(required, agents.length) }),
    share: { usd: share * run, ...(tokens === undefined ? {} : { tokens: Math.floor(share * tokens) }) },
    fits: (spec) => briefFrom(spec, brief) !== null,
  };
  return { payer: payerOf(task), plan };
}

/** Instructions of each critic: what is common to all, then what its persona looks for. */
export const criticsPrompts = ({ prompts }: Pick<World, 'prompts'>): DebatePlan['instructions'] => ({
  critic: (persona) => `${prompts.critic.trim()}\n\n${prompts.personas.get(persona)?.spec ?? ''}`.trim(),
  synthesiser: prompts.synthesiser,
});

/** The brief that the debated spec says, with what is left to a person and the tests that critics named. */
function refinedBrief(brief: Brief, debate: Debate): Brief {
  const read = briefFrom(debate.spec, brief) ?? brief;
  // Stable: of questions that weigh the same, those of the debate come first.
  const questions = [...questionsOf(debate), ...read.questions]
    .toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
    .slice(0, MAX_QUESTIONS);
  const acceptance = [...new Set(debate.acceptance.map(acceptanceLine))];
  return { ...read, questions, ...(acceptance.length > 0 ? { acceptance } : {}) };
}
