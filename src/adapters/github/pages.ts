/** The most that GitHub puts on one page of a list. */
export const PAGE = 100;

interface Page {
  readonly headers: { readonly link?: string | undefined };
  readonly data: unknown;
}

/** The number of the last page by GitHub's `Link` header, which a list that fits on one page has not. */
const lastPage = (link: string | undefined): number =>
  Number(/<[^>]*[?&]page=(\d+)[^>]*>; rel="last"/.exec(link ?? '')?.[1] ?? 1);

/**
 * The newest items of a list that GitHub tells oldest first only, so from its last page backwards; in GitHub's order.
 * Ends when there are `most`, or `enough` is content with what there is.
 */
export async function newest<T>(
  readPage: (page: number) => Promise<Page>,
  parse: (data: unknown) => readonly T[],
  most: number,
  enough: (found: readonly T[]) => boolean = () => false,
): Promise<readonly T[]> {
  const first = await readPage(1);
  let found: readonly T[] = [];
  for (let page = lastPage(first.headers.link); found.length < most && page > 0 && !enough(found); page--) {
    const { data } = page === 1 ? first : await readPage(page);
    found = [...parse(data), ...found];
  }
  return found.slice(-most);
}

/** All pages of such a list, the last one first, each in GitHub's order. The first one is read to know where the end is. */
export async function* backwards<T>(
  readPage: (page: number) => Promise<{ readonly link: string | undefined; readonly items: readonly T[] }>,
): AsyncGenerator<readonly T[]> {
  const first = await readPage(1);
  for (let page = lastPage(first.link); page > 1; page--) yield (await readPage(page)).items;
  yield first.items;
}

/** Pages of a list in GitHub's order until one is not full, at most so many. */
export async function pagesOf<T>(
  readPage: (page: number) => Promise<readonly T[]>,
  most: number,
): Promise<readonly T[]> {
  const found: T[] = [];
  for (let page = 1; page <= most; page++) {
    const items = await readPage(page);
    found.push(...items);
    if (items.length < PAGE) break;
  }
  return found;
}
