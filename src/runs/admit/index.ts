import { Fault, isOver, type Origin, type Task } from '../../core/model/index.ts';
import type { Refusal } from '../../core/reports/index.ts';
import type { RunRecord } from '../../ports/index.ts';
import { recordSandbox, sourceOf, type World } from '../context.ts';
import { reserveCapacity } from './caps.ts';
import { fromLocal, requireTrust, resolveSettings, type SettingsPorts } from './exposure.ts';
import { fromGitHub, fromPull, type GitHubTaskPorts } from './from-github.ts';
import { reportRefusal } from './refuse.ts';
import type { Gathered, Refused, RunRequest } from './request.ts';

export { checksAt, type Exposure, exposureOf, exposureOfLocal, fromLocal } from './exposure.ts';
export { enqueue, Overrides, RunRequest } from './request.ts';

export { isLikelyWriter, mayWrite, permit } from './writers.ts';

export type AdmitPorts = SettingsPorts &
  GitHubTaskPorts &
  Pick<World, 'announcer' | 'artifacts' | 'log' | 'sandbox'>;

/** May this run start? Freezes the task, its base commit and its settings, or refuses and says why. */
export async function admit(
  world: AdmitPorts,
  run: RunRecord,
  request: RunRequest,
): Promise<'go' | 'refused'> {
  if (run.state !== 'queued') return isOver(run.state) ? 'refused' : 'go';
  await world.store.markStage(run.id, 'admit', 'start', world.clock.now());

  const gathered = await gather(world, run.origin, request);
  if (gathered.kind === 'refused') return refuse(world, request, run.origin, gathered.refusal);
  const text = gathered.text ?? (await readTaskText(world, request));

  const source = await sourceOf(world, run);
  const settled = await resolveSettings(
    world,
    source,
    { base: gathered.base.sha, rules: gathered.rules },
    request,
  );
  if (settled.kind === 'refused') return refuse(world, request, run.origin, settled.refusal);
  if (run.origin.kind === 'local') await requireTrust(world, run.origin, request, settled.settings);
  const full = run.origin.kind === 'github' ? await reserveCapacity(world, run.origin, run.id) : null;
  if (full) return refuse(world, request, run.origin, full);

  const task: Task = {
    runId: run.id,
    origin: run.origin,
    ...text,
    comments: gathered.comments,
    base: gathered.base,
    settings: settled.settings,
    lowered: settled.lowered,
    ...(gathered.leftOut.length > 0 ? { leftOut: gathered.leftOut } : {}),
    ...(settled.instructions ? { instructions: settled.instructions } : {}),
  };
  const { checks } = settled;
  await world.store.updateRun(run.id, { task, checks }, world.clock.now());
  await recordSandbox(world, run.id);
  await world.store.markStage(run.id, 'admit', 'end', world.clock.now());
  await world.store.transition(run.id, 'admitted', 'the run may start', world.clock.now());
  world.announcer.soon(run.id);
  return 'go';
}

/** The task's own words as they were at the trigger. */
async function readTaskText(
  world: Pick<World, 'artifacts'>,
  { text }: RunRequest,
): Promise<Pick<Task, 'title' | 'body'>> {
  const body = await world.artifacts.get(text.body);
  if (`${text.title}${body}`.trim() === '') throw new Fault('PROMPT_EMPTY', 'The task has no text.');
  return { title: text.title, body };
}

function gather(world: GitHubTaskPorts, origin: Origin, request: RunRequest): Promise<Gathered | Refused> {
  if (origin.kind === 'local') return fromLocal(world, origin, request);
  const { work } = origin;
  return work ? fromPull(world, { ...origin, work }, request) : fromGitHub(world, origin, request);
}

async function refuse(
  world: Pick<World, 'announcer' | 'clock' | 'github' | 'log' | 'store'>,
  request: RunRequest,
  origin: Origin,
  refusal: Refusal,
): Promise<'refused'> {
  await reportRefusal(world, request, origin, refusal);
  // A status comment that told of its place in line has an end too.
  await world.announcer.finish(request.runId);
  return 'refused';
}
