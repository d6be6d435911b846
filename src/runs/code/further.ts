import { furtherAliases, type NextRound, nextRound } from '../../core/adaptive/index.ts';
import {
  type Alias,
  type Candidate,
  type Contestant,
  Fault,
  type FurtherKind,
  type RunId,
  type Task,
  type Usd,
} from '../../core/model/index.ts';
import type { ChildInput, FlowContext } from '../../ports/index.ts';
import { hasPrice, oneMoreContestant } from '../field.ts';
import type { StageRunner } from '../guard.ts';
import { loadRun, loadTask } from '../task.ts';
import type { WorkTime } from '../work-time.ts';
import type { World } from '../world.ts';
import { closeStage, lineUp, type Place, within } from './line-up.ts';

/**
 * Codes a further round where the evidence asks for one: repairs, one more candidate, a synthesis. Its candidates run in
 * flows of their own like all others, so that none is coded twice. False when there is nothing more to examine: then the
 * run goes on with what it has, which a round that could not be made does not change.
 */
export async function codeFurther(
  world: World,
  context: FlowContext,
  runId: RunId,
  stage: StageRunner,
  time: WorkTime,
): Promise<boolean> {
  const lined = await stage('round', () => lineUpRound(world, runId));
  if (lined.kind === 'fault' || lined.value.length === 0) return false;
  const took = time.begin();
  const results = await context.fanOut<null>(within(time.left(), lined.value));
  const closed = await stage('code', () => closeStage(world, runId, lined.value, results));
  if (closed.kind === 'ok') took(closed.value.codersMs);
  return true;
}

/** Decides from what was examined alone: repeated after a crash, it names the same candidates again. */
async function lineUpRound(world: World, runId: RunId): Promise<readonly ChildInput[]> {
  const task = await loadTask(world, runId);
  const { evidence = [] } = await loadRun(world, runId);
  const candidates = await world.store.candidates(runId);
  const examined = candidates.filter(({ alias }) => evidence.some((one) => one.alias === alias));
  // Only those that an interrupted pass of this step has lined up are not examined; any other would be asked for again.
  if (candidates.some((one) => one.state !== 'queued' && !examined.includes(one))) return [];
  const left = await leftOf(world, task, examined);
  const next = nextRound({ candidates: examined, evidence, settings: task.settings, left });
  world.log.info({ run: runId, round: next.kind }, next.because);
  const contestants = contestantsFor(world, task, next, examined);
  if (contestants.length === 0) return [];
  await world.store.markStage(runId, 'code', 'start', world.clock.now());
  await world.store.transition(runId, 'briefed', next.because, world.clock.now());
  const aliases = furtherAliases(examined.length, contestants.length);
  const places = aliases.map((alias, i): Place => {
    const ordinal = examined.length + i;
    return { alias, ordinal, contestant: contestants[i] as Contestant };
  });
  return lineUp(world, task, places);
}

/** US dollars; null where a model has no price, so that what was spent is more than the ledger's sum says. */
async function leftOf(world: World, task: Task, examined: readonly Candidate[]): Promise<Usd | null> {
  if (!examined.every(({ contestant }) => hasPrice(world, contestant))) return null;
  const { usd } = await world.store.usage(task.runId);
  return task.settings.budget.run - usd;
}

function contestantsFor(
  world: World,
  task: Task,
  next: NextRound,
  examined: readonly Candidate[],
): readonly Contestant[] {
  const again = (alias: Alias, kind: FurtherKind, of: readonly Alias[]): Contestant => {
    const candidate = examined.find((one) => one.alias === alias);
    if (!candidate) throw new Fault('INTERNAL', `A round names candidate ${alias}, which was not examined.`);
    return { ...candidate.contestant, round: { kind, of } };
  };
  switch (next.kind) {
    case 'enough':
      return [];
    case 'repair':
      return next.aliases.map((alias) => again(alias, 'repair', [alias]));
    case 'one-more':
      return [{ ...oneMoreContestant(world, task.settings), round: { kind: 'one-more', of: [] } }];
    case 'synthesise':
      return [again(next.from[0], 'synthesis', next.from)];
  }
}
