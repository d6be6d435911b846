import type { Actor } from '../../core/model/index.ts';
import { counted } from '../../core/reports/index.ts';
import type { GitHubReader } from '../../ports/index.ts';
import { isLikelyWriter, mayWrite } from './permit.ts';

/** Comments by writers that a task takes, the newest. Our default. */
const MOST_COMMENTS = 200;
/** Pages of 100 that are read of one list: GitHub takes no more than 2,500 comments on an issue. */
const MOST_PAGES = 25;
/** People whose permission is looked up for one task: likely writers (`isLikelyWriter`), and all others. Our defaults. */
const MOST_LOOKED_UP = { likely: 60, others: 30 } as const;

interface Said {
  readonly author: Actor;
  readonly authorIsBot: boolean;
  readonly association: string;
  /** Milliseconds since 1970 UTC. */
  readonly updatedAt: number;
}

/** What people with write permission said, found among whatever strangers add to it. */
export interface WritersWords {
  /**
   * What was said before a moment, bots and later edits left out (I5), by authors who may write to the repository now
   * (I4); oldest first. Pages come newest first and are read until there is enough. Faults: GITHUB_UNAVAILABLE.
   */
  among<T extends Said>(pages: AsyncIterable<readonly T[]>, before: number): Promise<readonly T[]>;
  /** What was left out because of a limit, a sentence each. */
  leftOut(): readonly string[];
}

export function openWritersWords(reader: GitHubReader): WritersWords {
  const people = openPeople(reader);
  let older = false;

  async function among<T extends Said>(pages: AsyncIterable<readonly T[]>, before: number) {
    let found: readonly T[] = [];
    let read = 0;
    for await (const page of pages) {
      // One more page is there, or one more comment than is taken.
      if (read === MOST_PAGES || found.length >= MOST_COMMENTS) {
        older = true;
        break;
      }
      read += 1;
      const said = page.filter((one) => !one.authorIsBot && one.updatedAt <= before);
      await people.lookUp(said);
      found = [...said.filter(({ author }) => people.mayWrite(author)), ...found];
    }
    older ||= found.length > MOST_COMMENTS;
    return found.slice(-MOST_COMMENTS);
  }
  return {
    among,
    leftOut: () => [
      ...(people.unasked() > 0
        ? [
            `Comments by ${counted(people.unasked(), 'person', 'people')} were left out: so many others had written here that their permission was not looked up.`,
          ]
        : []),
      ...(older ? [`Comments older than the newest ${MOST_COMMENTS} by writers were left out.`] : []),
    ],
  };
}

/** Looks each person up once, likely writers first; they have look-ups of their own, which strangers cannot use up. */
function openPeople(reader: GitHubReader) {
  const known = new Map<number, boolean>();
  const unasked = new Set<number>();
  const left: { likely: number; others: number } = { ...MOST_LOOKED_UP };

  async function lookUpOne({ author, association }: Said): Promise<void> {
    if (known.has(author.id)) return;
    const kind = isLikelyWriter(association) ? 'likely' : 'others';
    if (left[kind] === 0) {
      unasked.add(author.id);
      return;
    }
    left[kind] -= 1;
    unasked.delete(author.id);
    known.set(author.id, await mayWrite(reader, author));
  }
  return {
    async lookUp(said: readonly Said[]): Promise<void> {
      const newestFirst = said.toReversed();
      for (const one of newestFirst) if (isLikelyWriter(one.association)) await lookUpOne(one);
      for (const one of newestFirst) await lookUpOne(one);
    },
    mayWrite: ({ id }: Actor): boolean => known.get(id) === true,
    unasked: (): number => unasked.size,
  };
}
