/**
 * Runs `work` over the items, at most `width` at a time, in order of the items. After the first failure nothing more is
 * begun; it rejects with that failure once all under way have ended, for which the packages that do this do not wait.
 */
export async function inParallel<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const failures: unknown[] = [];
  const lane = async () => {
    for (const item of queue) {
      if (failures.length > 0) return;
      await work(item).catch((thrown: unknown) => failures.push(thrown));
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(width, items.length)) }, lane));
  if (failures.length > 0) throw failures[0];
}

/** Stops waiting, not the work, when the signal aborts: rejects with its reason, or with what `reason` makes. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => unknown = () => signal?.reason,
): Promise<T> {
  if (signal?.aborted) throw reason();
  const left = Promise.withResolvers<never>();
  const leave = (): void => left.reject(reason());
  signal?.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, left.promise]);
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}
