import { nextInLine, type Waiting } from '../../core/queue/index.ts';

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
