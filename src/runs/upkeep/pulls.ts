import type { PullDetails, RunRecord } from '../../ports/index.ts';
import { isGitHubRun, type World } from '../context.ts';
import { tryKeepOutcomes } from '../outcomes.ts';
import {
  announceEnding,
  applyPick,
  type CommitPorts,
  leaveWait,
  type PublishPorts,
} from '../publish/index.ts';

export type PullState = PullDetails['state'];

const STATES = {
  open: { to: 'published', cause: 'its pull request was reopened' },
  closed: { to: 'closed', cause: 'its pull request was closed' },
  merged: { to: 'merged', cause: 'its pull request was merged' },
} as const satisfies Record<PullState, object>;

/** Records what became of a run's pull request. Returns whether that changed the run. */
export async function followPull(
  world: PublishPorts & Pick<World, 'announcer'>,
  run: RunRecord,
  state: PullState,
): Promise<boolean> {
  const { clock, store } = world;
  const { to, cause } = STATES[state];
  const isHalfOpened = run.state === 'awaiting_pick';
  // A pick has opened it, and the rest of that pick is still to be written (0228).
  if (run.state === to || (isHalfOpened && state === 'open')) return false;
  if (isHalfOpened) await leaveWait(world, run.id, 'published', 'a person picked');
  if ((await store.transition(run.id, to, cause, clock.now())) !== to) return false;
  await tryKeepOutcomes(world, run.id);
  if (isHalfOpened) await announceEnding(world, run.id);
  return true;
}

/**
 * Completes picks whose pull request is open although their command has ended without the rest. A command without an
 * outcome completes its pick itself.
 */
export async function completePicks(world: CommitPorts & Pick<World, 'announcer'>): Promise<void> {
  for (const id of await world.store.idsIn(['awaiting_pick'])) {
    const run = await world.store.run(id);
    if (!run || !isGitHubRun(run) || run.outcome?.kind !== 'pull') continue;
    try {
      const last = (await world.store.picks(id)).at(-1);
      const command = last && (await world.store.command(last.key));
      if (last && (!command || command.outcome)) await applyPick(world, run);
    } catch (thrown) {
      world.log.warn(
        { run: id, err: thrown },
        'a pick could not be completed; it is tried again at the next check',
      );
    }
  }
}
