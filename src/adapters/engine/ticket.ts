import type { Standing } from '../../ports/index.ts';
import type { Line } from './line.ts';

/** What one flow has to do with the line of its process. */
export interface Ticket {
  /** Waits in line for the flow's first place. */
  take(standing: Standing, signal: AbortSignal): Promise<void>;
  /** The flow had its first place before a crash. It waits for another only when there is something to do. */
  recall(standing: Standing): void;
  /** Gives the place up until there is something to do. */
  leave(): void;
  /** Resolves when the flow has its place, or needs none. */
  resume(signal: AbortSignal): Promise<void>;
}

export function openTicket(line: Line, id: string): Ticket {
  let own: Standing | null = null;
  // Shared by steps that begin side by side.
  let held: Promise<void> | null = null;

  function enter(standing: Standing, returning: boolean, signal: AbortSignal): Promise<void> {
    held ??= line.take({ ...standing, id, returning }, signal).catch((error: unknown) => {
      held = null;
      throw error;
    });
    return held;
  }
  return {
    take(standing, signal) {
      own = standing;
      return enter(standing, false, signal);
    },
    recall(standing) {
      own = standing;
    },
    leave() {
      held = null;
      line.give(id);
    },
    resume: async (signal) => (own === null ? undefined : enter(own, true, signal)),
  };
}
