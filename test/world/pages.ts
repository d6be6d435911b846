/** All items of pages that come newest first, oldest first. */
export async function allOf<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const page of pages) found.unshift(...page);
  return found;
}

/** A list in pages of a hundred as a reader gives them: the newest first. */
export async function* inPages<T>(
  items: readonly T[],
  onPage = (): void => {},
): AsyncGenerator<readonly T[]> {
  const size = 100;
  for (let from = Math.floor(Math.max(0, items.length - 1) / size) * size; from >= 0; from -= size) {
    onPage();
    yield items.slice(from, from + size);
  }
}
