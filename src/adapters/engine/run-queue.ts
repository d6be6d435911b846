import { nextInLine, type Waiting } from '../../core/queue/index.ts';
import type { Standing } from '../../ports/index.ts';

/** The runs that this process works on at a time, and those that wait for a place. */
export interface Line {
  /** Waits for a place. Rejects with the signal's reason when it aborts first; never settles once the line is closed. */
  take(who: Waiting, signal: AbortSignal): Promise<void>;
  /** Gives a place up, or leaves the line; does nothing for whoever has neither. */
  give(id: string): void;
  /** From now on nobody gets a place. */
  close(): void;
}

export interface LineOptions {
  readonly places: number;
  /** False: nobody who never had a place begins now, e.g. because the disk is full. Absent: always. */
  readonly mayBegin?: () => boolean;
  /** Milliseconds after which `mayBegin` is asked again while somebody waits. Our default: 5 000. */
  readonly askEveryMs?: number;
}

export function openLine({ places, mayBegin = () => true, askEveryMs = 5_000 }: LineOptions): Line {
  const waiting = new Map<string, { readonly who: Waiting; readonly enter: () => void }>();
  const placed = new Map<string, Waiting>();
  let closed = false;
  let asking: NodeJS.Timeout | null = null;

  function grant(): void {
    while (!closed && placed.size < places) {
      const begins = mayBegin();
      const those = [...waiting.values()].map(({ who }) => who).filter((who) => begins || who.returning);
      const next = nextInLine(those, placed.values());
      if (next === null) break;
      const { enter } = waiting.get(next.id) ?? {};
      waiting.delete(next.id);
      placed.set(next.id, next);
      enter?.();
    }
    // Places are free and somebody waits all the same.
    if (!closed && waiting.size > 0 && placed.size < places) asking ??= setTimeout(again, askEveryMs).unref();
  }
  function again(): void {
    asking = null;
    grant();
  }

  return {
    take: (who, signal) =>
      new Promise<void>((settle, fail) => {
        if (signal.aborted) return fail(signal.reason);
        const leave = () => {
          if (closed || !waiting.delete(who.id)) return;
          fail(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        const enter = () => {
          signal.removeEventListener('abort', leave);
          settle();
        };
        waiting.set(who.id, { who, enter });
        grant();
      }),
    give(id) {
      waiting.delete(id);
      if (placed.delete(id)) grant();
    },
    close() {
      closed = true;
      if (asking !== null) clearTimeout(asking);
    },
  };
}

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

/** At most `count` pieces of work at once; the others wait in order. */
export interface Slots {
  /** Waits for a slot. Rejects with the signal's reason when it aborts first. */
  take(signal: AbortSignal): Promise<void>;
  give(): void;
}

export function slots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    async take(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return;
      }
      await new Promise<void>((settle, fail) => {
        const leave = () => {
          waiting.splice(waiting.indexOf(enter), 1);
          fail(signal.reason);
        };
        const enter = () => {
          signal.removeEventListener('abort', leave);
          settle();
        };
        waiting.push(enter);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
    give() {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}
