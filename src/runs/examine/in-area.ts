import { asFault } from '../../core/model/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import type { Bench } from './execute.ts';

/**
 * Fresh areas in which the same work is tried while its commands are ended by signals, and as many for sandboxes that are
 * killed; our default. Commands that signals end in all of them end so by themselves.
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
  const left = { signals: MOST_AREAS - 1, kills: MOST_AREAS - 1 };
  for (;;) {
    const area = await bench.world.workspaces.open(bench.base, id);
    const check: CheckArea = { ...area, repeatable: left.signals > 0 };
    try {
      return { area, result: await work(check) };
    } catch (thrown) {
      await bench.world.workspaces.remove(area);
      if (thrown instanceof EndedBySignal) left.signals -= 1;
      else if (asFault(thrown).code !== 'PROGRAM_KILLED' || left.kills === 0) throw thrown;
      else left.kills -= 1;
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
