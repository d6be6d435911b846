/**
 * Runs `work` over the items in order, at most `width` at a time. After the first failure no further item is started;
 * rejects with that failure once all running work has ended, for which existing packages do not wait.
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

/**
 * Stops waiting when the signal aborts, without stopping the work: rejects with the signal's reason, or with the
 * result of `reason`.
 */
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
