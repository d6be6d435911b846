import { isOver } from '../core/lifecycle/index.ts';
import type { RunId } from '../core/model/index.ts';
import type { RunRecord } from '../ports/index.ts';
import { fail, unsaidSince } from './publish/index.ts';
import { wakeIfUnheard } from './reply.ts';
import { startRun } from './start.ts';
import type { World } from './world.ts';

/** How long a run's last words are still news, milliseconds. Our default: longer than most outages of GitHub. */
const LAST_WORDS_MS = 24 * 60 * 60_000;
/** How many ends are said in one look; the next look is a few minutes later. Our default: a tenth of what may be written in an hour. */
const MOST_WORDS = 40;

/**
 * Brings the store and the engine together again, at a start and every few minutes: runs that were accepted but never
 * started, runs whose flow ended without the run, runs that were not told of a reply, areas that no living run owns. Local runs belong to their own process.
 */
export async function reconcile(world: World): Promise<void> {
  const living = (await world.store.unfinished()).filter((run) => !isOver(run.state));
  for (const run of living) {
    if (run.origin.kind === 'github') await mend(world, run);
  }
  await sweepEnded(world);
}

const OF_A_RUN = /^(r[0-9a-z]{10})-/;

/** Removes areas whose run is over. Areas are listed before runs are asked, so that a run that begins meanwhile keeps its own. */
export async function sweepEnded(
  world: Pick<World, 'workspaces'> & { readonly store: Pick<World['store'], 'run'> },
): Promise<void> {
  const seen = new Set<RunId>();
  await world.workspaces.sweep((area) => {
    const runId = OF_A_RUN.exec(area)?.[1];
    if (runId) seen.add(runId);
    return true;
  });
  const ended = new Set<RunId>();
  for (const id of seen) {
    const run = await world.store.run(id);
    if (!run || isOver(run.state)) ended.add(id);
  }
  await world.workspaces.sweep((area) => !ended.has(OF_A_RUN.exec(area)?.[1] ?? ''));
}

/** Says the ends of runs that a crash, or an outage of GitHub, left unsaid. Repeating is harmless. */
export async function sayLastWords(world: World): Promise<void> {
  const since = world.clock.now() - LAST_WORDS_MS;
  for (const { id } of await unsaidSince(world.store, since, MOST_WORDS)) await world.announcer.finish(id);
}

async function mend(world: World, run: RunRecord): Promise<void> {
  const flow = await world.engine.status(run.id);
  switch (flow.kind) {
    case 'running':
      return wakeIfUnheard(world, run);
    case 'unknown':
      return startRun(world, run.id);
    case 'cancelled':
      await world.store.transition(
        run.id,
        'cancelled',
        'it was being cancelled when Runoff stopped',
        world.clock.now(),
      );
      return world.announcer.finish(run.id);
    case 'failed':
    case 'done': {
      const why = flow.kind === 'failed' ? flow.why : 'its flow ended and its record did not';
      const quiet = run.task === undefined ? 'quietly' : 'aloud';
      await fail(world, run.id, { code: 'INTERNAL', message: `The run broke off: ${why}` }, quiet);
    }
  }
}
