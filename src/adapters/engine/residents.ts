import { setTimeout as delay } from 'node:timers/promises';
import { isOurs, type OwnFence } from './fence.ts';
import type { Line } from './line.ts';
import type { Slots } from './slots.ts';

/** The flows that run in this process now, and whether they may go on. */
export interface Residents {
  /**
   * Runs a flow: `signal` aborts when it is cancelled from here or the engine has shut down. Ends after all its steps, those
   * included that ran beside one which failed.
   */
  host<T>(id: string, parent: string | null, body: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Where candidates wait for their turn; null where a queue outside decides. */
  readonly places: Slots | null;
  /** Where runs wait for a place. */
  readonly line: Line;
  isStopping(): boolean;
  /** Whether what a step brought may be kept: nobody else has taken over. */
  isOurs(): Promise<boolean>;
  /** Notes a step of this flow that is under way. */
  track(id: string, step: Promise<void>): void;
  /** Whether a step of this flow, or of a child of it, is under way here. */
  isWorking(id: string): boolean;
  /** Aborts a flow and its children. */
  abort(id: string): void;
  /** From now on no step starts; waits for those under way, at most `graceMs`. */
  settle(graceMs: number): Promise<void>;
  abortAll(): void;
}

interface Resident {
  readonly abort: AbortController;
  readonly parent: string | null;
  /** Those under way; none of them rejects. */
  readonly steps: Set<Promise<void>>;
}

export function openResidents(places: Slots | null, line: Line, fence: OwnFence | null): Residents {
  const living = new Map<string, Resident>();
  let stopping = false;
  return {
    places,
    line,
    isStopping: () => stopping || (fence?.isGivenUp() ?? false),
    isOurs: async () => fence === null || (await isOurs(fence, delay)),
    async host(id, parent, body) {
      const abort = new AbortController();
      const steps = new Set<Promise<void>>();
      living.set(id, { abort, parent, steps });
      try {
        return await body(abort.signal);
      } finally {
        await Promise.all(steps);
        living.delete(id);
      }
    },
    track(id, step) {
      const steps = living.get(id)?.steps;
      steps?.add(step);
      void step.then(() => steps?.delete(step));
    },
    isWorking: (id) =>
      [...living].some(([other, { parent, steps }]) => (other === id || parent === id) && steps.size > 0),
    abort(id) {
      for (const [other, { abort, parent }] of living) {
        if (other === id || parent === id) abort.abort(new Error('The run was cancelled.'));
      }
    },
    async settle(graceMs) {
      stopping = true;
      line.close();
      const patience = new AbortController();
      await Promise.race([
        Promise.all([...living.values()].flatMap(({ steps }) => [...steps])),
        delay(graceMs, undefined, { signal: patience.signal }).catch(() => undefined),
      ]);
      patience.abort();
    },
    abortAll() {
      for (const { abort } of living.values()) abort.abort(new Error('Runoff is shutting down.'));
    },
  };
}
