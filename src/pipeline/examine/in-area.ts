import { asFault } from '../../core/model/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import type { Bench } from './execute.ts';

/** Fresh areas in all in which the same work is tried while its sandboxes are killed from outside; our default. */
const MOST_AREAS = 3;

/** An area whose work can be done once more in another one. */
export interface CheckArea extends WorkArea {
  readonly repeatable?: true;
}

/** A signal that Runoff did not send ended a command: the command itself, the machine, or a person may have. */
export class EndedBySignal extends Error {}

/**
 * Opens a fresh area and does the work in it; the area stays. Where a command in it was ended by a signal, the work is done
 * once more in another area, and what comes of that counts: one that kills itself does so again. Where the sandbox itself
 * was killed, which no command in it can do, it is done again a few times.
 */
export async function inKeptArea<T>(
  bench: Pick<Bench, 'world' | 'base'>,
  id: string,
  work: (area: WorkArea) => Promise<T>,
): Promise<{ readonly area: WorkArea; readonly result: T }> {
  let repeatable = true;
  for (let left = MOST_AREAS; ; left -= 1) {
    const opened = await bench.world.workspaces.open(bench.base, id);
    const area: CheckArea = repeatable ? { ...opened, repeatable } : opened;
    try {
      return { area: opened, result: await work(area) };
    } catch (thrown) {
      await bench.world.workspaces.remove(opened);
      const killed = asFault(thrown).code === 'PROGRAM_KILLED' && left > 1;
      if (!(thrown instanceof EndedBySignal) && !killed) throw thrown;
      if (thrown instanceof EndedBySignal) repeatable = false;
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
