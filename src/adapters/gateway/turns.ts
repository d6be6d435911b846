/** Runs one piece of work after the other. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** Tells calls that wait for money when another one gave some back. */
export interface Settlements {
  /** How many there were. */
  count(): number;
  tell(): void;
  /** Resolves when there are more than `seen`, or the signal aborts. */
  next(seen: number, signal: AbortSignal): Promise<void>;
}

export function openSettlements(): Settlements {
  const waiting = new Set<() => void>();
  let told = 0;
  return {
    count: () => told,
    tell() {
      told += 1;
      for (const wake of [...waiting]) wake();
    },
    next(seen, signal) {
      if (told > seen || signal.aborted) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = () => {
        waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake);
      return promise;
    },
  };
}
