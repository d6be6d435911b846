import { roundWords } from '../../core/adaptive/index.ts';
import { type Alias, type Contestant, NO_USAGE, type RunId } from '../../core/model/index.ts';
import type { ChildInput, ChildResult } from '../../ports/index.ts';
import { loadRun, priorityIn, repositoryOf } from '../task.ts';
import type { World } from '../world.ts';

export interface Place {
  readonly alias: Alias;
  readonly ordinal: number;
  readonly contestant: Contestant;
}

/** The same, told how many milliseconds their run may work from here on. */
export const within = (leftMs: number, inputs: readonly ChildInput[]): readonly ChildInput[] =>
  inputs.map((one) => ({ ...one, input: { ...Object(one.input), leftMs } }));

/** Writes down who codes next. One that is known already, from before a crash, is left as it is. */
export async function lineUp(
  world: World,
  task: { readonly runId: RunId; readonly origin: Parameters<typeof repositoryOf>[0] },
  places: readonly Place[],
): Promise<readonly ChildInput[]> {
  const { runId, origin } = task;
  const known = new Set((await world.store.candidates(runId)).map((c) => c.alias));
  for (const place of places.filter(({ alias }) => !known.has(alias))) {
    const note = noteOf(place.contestant, 'waits for a place');
    await world.store.putCandidate({ runId, ...place, usage: NO_USAGE, ms: 0, state: 'queued', note });
  }
  world.announcer.soon(runId);
  const where = { partition: repositoryOf(origin), priority: priorityIn(await loadRun(world, runId)) };
  return places.map(({ alias }) => ({ key: alias, ...where, input: { runId, alias } }));
}

/** A note says first how its candidate came about, if it was not there from the start. */
export const noteOf = ({ round }: Contestant, note: string): string =>
  round ? `${roundWords(round)}: ${note}` : note;

/** Every coder of a line-up has ended: what a fault stopped is noted, and the run moves on. Milliseconds of the longest. */
export async function closeStage(
  world: World,
  runId: RunId,
  inputs: readonly ChildInput[],
  results: readonly ChildResult<null>[],
): Promise<{ readonly codersMs: number }> {
  const candidates = await world.store.candidates(runId);
  for (const [i, result] of results.entries()) {
    const candidate = candidates.find((c) => c.alias === inputs[i]?.key);
    if (result.kind !== 'failed' || !candidate) continue;
    if (candidate.state === 'coded' || candidate.state === 'failed') continue;
    const note = noteOf(candidate.contestant, `stopped by a fault: ${result.why}`);
    await world.store.putCandidate({ ...candidate, state: 'failed', note });
  }
  await world.store.markStage(runId, 'code', 'end', world.clock.now());
  await world.store.transition(runId, 'coded', 'every coder has ended', world.clock.now());
  world.announcer.soon(runId);
  const lined = candidates.filter(({ alias }) => inputs.some(({ key }) => key === alias));
  return { codersMs: Math.max(0, ...lined.map(({ ms }) => ms)) };
}
