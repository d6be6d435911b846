import { asFault } from '../../core/model/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import type { Bench } from './execute.ts';

/**
 * Fresh areas in all in which the same work is tried while its sandboxes are killed, or its commands ended by signals; our
 * default. What ends all of them by a signal does so by itself.
 */
const MOST_AREAS = 5;

/** An area whose work can be done again in another one. */
export interface CheckArea extends WorkArea {
  readonly repeatable?: boolean;
}

/** A signal that Runoff did not send ended a command: the command itself, the machine, or a person may have. */
export class EndedBySignal extends Error {}

/**
 * Opens a fresh area and does the work in it; the area stays. Where the sandbox was killed, or a signal ended a command in
 * it, the work is done again in another area. In the last of them the end of a command by a signal is its result; a
 * sandbox that is killed there as well rejects with PROGRAM_KILLED.
 */
export async function inKeptArea<T>(
  bench: Pick<Bench, 'world' | 'base'>,
  id: string,
  work: (area: WorkArea) => Promise<T>,
): Promise<{ readonly area: WorkArea; readonly result: T }> {
  for (let left = MOST_AREAS - 1; ; left -= 1) {
    const area = await bench.world.workspaces.open(bench.base, id);
    const check: CheckArea = { ...area, repeatable: left > 0 };
    try {
      return { area, result: await work(check) };
    } catch (thrown) {
      await bench.world.workspaces.remove(area);
      const killed = thrown instanceof EndedBySignal || asFault(thrown).code === 'PROGRAM_KILLED';
      if (!killed || left === 0) throw thrown;
    }
  }
}

/** The same with an area that is removed, whatever happens. */
export async function inArea<T>(
  bench: Pick<Bench, 'world' | 'base'>,
  id: string,
  work: (area: WorkArea) => Promise<T>,
): Promise<T> {
  const { area, result } = await inKeptArea(bench, id, work);
  await bench.world.workspaces.remove(area);
  return result;
}
