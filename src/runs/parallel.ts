/** Runs `work` over the items, at most `width` at a time, in order of the items; rejects with the first failure once all under way have ended. */
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
