import { isOver } from '../../core/lifecycle/index.ts';
import { Fault, type Origin, type Sha, type Task } from '../../core/model/index.ts';
import type { Refusal } from '../../core/reports/index.ts';
import { loadRun, sourceOf } from '../task.ts';
import { noteSandbox } from '../where.ts';
import type { World } from '../world.ts';
import { takePlace } from './caps.ts';
import { fromLocal, requireTrust, settle } from './exposure.ts';
import { fromGitHub } from './from-github.ts';
import { fromPull } from './from-pull.ts';
import { sayRefused } from './refuse.ts';
import type { RunRequest } from './request.ts';

export { enlist } from './enlist.ts';
export { type Exposure, exposureOfLocal } from './exposure.ts';
export { Overrides, RunRequest } from './request.ts';
export { isLikelyWriter, mayWrite, permit } from './writers.ts';

/** Where the task starts and what was said about it, before settings are known. */
export interface Gathered {
  readonly kind: 'gathered';
  readonly base: Task['base'];
  readonly comments: Task['comments'];
  /** What was said and not taken, because of a limit: a sentence each. */
  readonly leftOut: readonly string[];
  /** Commit whose settings and instructions hold. */
  readonly rules: Sha;
  /** Absent: the request's own text is the task. */
  readonly text?: Pick<Task, 'title' | 'body'>;
}
export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
}

/** May this run start? Freezes the task, its base commit and its settings, or refuses and says why. */
export async function admit(world: World, request: RunRequest): Promise<'go' | 'refused'> {
  const run = await loadRun(world, request.runId);
  if (run.state !== 'queued') return isOver(run.state) ? 'refused' : 'go';
  await world.store.markStage(run.id, 'admit', 'start', world.clock.now());

  const gathered = await gather(world, run.origin, request);
  if (gathered.kind === 'refused') return refuse(world, request, run.origin, gathered.refusal);
  const text = gathered.text ?? (await textOf(world, request));

  const source = await sourceOf(world, run);
  const settled = await settle(world, source, { base: gathered.base.sha, rules: gathered.rules }, request);
  if (settled.kind === 'refused') return refuse(world, request, run.origin, settled.refusal);
  if (run.origin.kind === 'local') await requireTrust(world, run.origin, request, settled.settings);
  const full = run.origin.kind === 'github' ? await takePlace(world, run.origin, run.id) : null;
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
  await noteSandbox(world, run.id);
  await world.store.markStage(run.id, 'admit', 'end', world.clock.now());
  await world.store.transition(run.id, 'admitted', 'the run may start', world.clock.now());
  world.announcer.soon(run.id);
  return 'go';
}

/** The task's own words as they were at the trigger. */
async function textOf(world: World, { text }: RunRequest): Promise<Pick<Task, 'title' | 'body'>> {
  const body = await world.artifacts.get(text.body);
  if (`${text.title}${body}`.trim() === '') throw new Fault('PROMPT_EMPTY', 'The task has no text.');
  return { title: text.title, body };
}

function gather(world: World, origin: Origin, request: RunRequest): Promise<Gathered | Refused> {
  if (origin.kind === 'local') return fromLocal(world, origin, request);
  const { work } = origin;
  return work ? fromPull(world, { ...origin, work }, request) : fromGitHub(world, origin, request);
}

async function refuse(
  world: World,
  request: RunRequest,
  origin: Origin,
  refusal: Refusal,
): Promise<'refused'> {
  await sayRefused(world, request, origin, refusal);
  // A status comment that told of its place in line has an end too.
  await world.announcer.finish(request.runId);
  return 'refused';
}
