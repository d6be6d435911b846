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
