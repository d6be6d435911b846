/** What was opened and has to be closed again. */
export interface Closers {
  later(closer: () => Promise<unknown>): void;
  /** Runs all of them, the last first, and then rejects with the first failure. A second call waits for the first. */
  close(): Promise<void>;
}

export function openClosers(): Closers {
  const open: (() => Promise<unknown>)[] = [];
  let closing: Promise<void> | null = null;

  async function closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const closer of open.toReversed()) {
      try {
        await closer();
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    later: (closer) => open.push(closer),
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

/** Does `work`, which registers what it opens. When it fails, that is closed again, and the failure is the work's own. */
export async function closedOnFailure<T>(closers: Closers, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    await Promise.allSettled([closers.close()]);
    throw thrown;
  }
}
