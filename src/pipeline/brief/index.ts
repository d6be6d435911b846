import { Brief, Fault, type RunId, type Task } from '../../core/model/index.ts';
import { contestantsOf } from '../field.ts';
import { loadRun, loadTask, repositoryOf, sourceOf } from '../task.ts';
import type { World } from '../world.ts';

/** Paths shown to the planner; a bigger repository is cut. Our default, tune on dev data. */
const MOST_PATHS = 600;
const MOST_TEXT = 30_000;
/** The planner's own share of the run's budget is at most this, US dollars. */
const PLANNER_CAP = 1;

/** Asks the planner for the brief. The answer is schema-checked data; nothing in it is executed (I6). */
export async function brief(world: World, runId: RunId, signal: AbortSignal): Promise<'briefed'> {
  await world.store.markStage(runId, 'brief', 'start', world.clock.now());
  const run = await loadRun(world, runId);
  if (!run.brief) await askPlanner(world, runId, signal);
  await world.store.markStage(runId, 'brief', 'end', world.clock.now());
  await world.store.transition(runId, 'briefed', 'the brief is written', world.clock.now());
  return 'briefed';
}

async function askPlanner(world: World, runId: RunId, signal: AbortSignal): Promise<void> {
  const task = await loadTask(world, runId);
  const planner = plannerModel(world, task);
  const { tokens } = task.settings.budget;
  const capTokens = tokens === undefined ? {} : { capTokens: tokens };
  const lease = await world.gateway.open({
    runId,
    spender: 'brief',
    repository: repositoryOf(task.origin),
    models: [planner],
    capUsd: Math.min(PLANNER_CAP, task.settings.budget.run),
    runCapUsd: task.settings.budget.run,
    ...capTokens,
    ttlMs: 10 * 60_000,
  });
  try {
    const answer = await world.model.ask({
      route: world.gateway.route(planner, capTokens),
      lease,
      instructions: world.prompts.planner,
      prompt: await question(world, task),
      schema: Brief,
      signal,
    });
    if (answer.kind === 'failed') {
      const { usd } = lease.usage();
      const refusal = lease.refusal();
      if (refusal && /cap|budget/i.test(refusal)) {
        throw new Fault(
          /MAX_BUDGET/.test(refusal) ? 'DAY_BUDGET_REACHED' : 'BUDGET_TOO_SMALL',
          `The planner cannot be paid: ${refusal} Spent so far: $${usd.toFixed(4)}.`,
        );
      }
      throw new Fault(
        'MODEL_UNAVAILABLE',
        `The planner (${planner}) gave no brief: ${lease.refusal() ?? answer.why}`,
      );
    }
    await world.store.updateRun(runId, { brief: answer.value }, world.clock.now());
  } finally {
    await lease.close();
  }
}

function plannerModel(world: World, task: Task): string {
  const [first] = contestantsOf(world, task.settings);
  if (!first) throw new Fault('MODEL_KEY_MISSING', 'No model is configured.');
  return first.model;
}

/** Untrusted text stands between delimiters that carry a fresh nonce, so it cannot close them itself. */
async function question(world: World, task: Task): Promise<string> {
  const nonce = world.random.nonce();
  const block = (name: string, text: string) =>
    `<<<${name} ${nonce}\n${text.slice(0, MOST_TEXT)}\n${name} ${nonce}>>>`;
  const paths = await world.workspaces.listFiles(await sourceOf(world, task), task.base.sha);
  const listed = paths.slice(0, MOST_PATHS).join('\n');
  const cut = paths.length > MOST_PATHS ? `\n(${paths.length - MOST_PATHS} more paths are not shown)` : '';
  const comments = task.comments.map((c) => `${c.author} wrote:\n${c.body}`).join('\n\n');
  return [
    block('TASK', `${task.title}\n\n${task.body}`),
    ...(comments ? [block('COMMENTS', comments)] : []),
    block('FILES', `${listed}${cut}`),
    'Write the brief.',
  ].join('\n\n');
}
