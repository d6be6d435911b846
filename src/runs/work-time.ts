import { Fault } from '../core/model/index.ts';
import type { FlowContext } from '../ports/index.ts';
import { type Guarded, guard, type StageRunner } from './guard.ts';
import type { World } from './world.ts';

/** What a step of a flow remembers beside its result. Of older flows it has no time: that counts as none. */
export type Timed<T> = T & {
  /** Milliseconds that it worked, in the process that finished it. */
  readonly elapsed?: number;
};

/**
 * How long a run has worked, kept in the flow's body from what its steps remember: the same after a restart, and without
 * what nobody worked in (waits for people, for a place, for a worker, for a process that comes back).
 */
export interface WorkTime {
  /** Milliseconds that are left at this place of the flow; never below 0. */
  left(): number;
  /** Something begins; call what is returned with the milliseconds it took. Of what goes on side by side the longest counts. */
  begin(): (elapsed: number) => void;
}

export function workTimeOf(mostMs: number): WorkTime {
  let spent = 0;
  return {
    left: () => Math.max(0, mostMs - spent),
    begin() {
      const from = spent;
      return (elapsed) => {
        spent = Math.max(spent, from + elapsed);
      };
    },
  };
}

/** Milliseconds that a run may work; the operator's MAX_RUN_TIME. */
export const mostWorkMs = ({ ceilings }: Pick<World, 'ceilings'>): number => ceilings.runSeconds * 1_000;

/** The steps of a run, each within what the steps before it left. */
export const stagesWithin =
  (world: World, context: FlowContext, time: WorkTime): StageRunner =>
  async (name, work) => {
    const left = time.left();
    const took = time.begin();
    const { elapsed = 0, ...result } = await context.step(name, (signal) =>
      guardWithin(world, name, { signal, leftMs: left }, work),
    );
    took(elapsed);
    return result;
  };

/** `guard`, and its work ends with RUN_TOO_LONG when `leftMs` milliseconds are over; with none left it does not begin. */
export async function guardWithin<T>(
  world: World,
  stage: string,
  { signal, leftMs }: { readonly signal: AbortSignal; readonly leftMs: number },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Timed<Guarded<T>>> {
  if (leftMs <= 0) return tooLong(world, stage);
  const began = world.clock.elapsed();
  const wall = new AbortController();
  const over = new AbortController();
  void world.clock.sleep(leftMs, over.signal).then(() => {
    if (!over.signal.aborted) wall.abort();
  });
  const both = AbortSignal.any([signal, wall.signal]);
  const elapsed = (): number => Math.round(world.clock.elapsed() - began);
  try {
    const result = await guard(world, stage, both, () => work(both));
    return { ...result, elapsed: elapsed() };
  } catch (thrown) {
    if (signal.aborted || !wall.signal.aborted) throw thrown;
    return { ...tooLong(world, stage), elapsed: elapsed() };
  } finally {
    over.abort();
  }
}

function tooLong(world: World, stage: string): Extract<Guarded<never>, { kind: 'fault' }> {
  const hours = Math.round(mostWorkMs(world) / 36_000) / 100;
  const fault = new Fault(
    'RUN_TOO_LONG',
    `The run had worked for the ${hours} h that a run may take on this server, and was ended in its stage \`${stage}\`.`,
  );
  world.log.warn({ stage, code: fault.code }, fault.message);
  return { kind: 'fault', fault: { code: fault.code, message: fault.message } };
}
