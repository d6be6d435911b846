import type { Actor } from '../../core/model/index.ts';
import type { GitHubReader } from '../../ports/index.ts';
import { mayWrite } from './permit.ts';

/** Authors whose permission is looked up; a longer thread is cut, newest kept. */
const MOST_AUTHORS = 20;

interface Said {
  readonly author: Actor;
  readonly authorIsBot: boolean;
  /** Milliseconds since 1970 UTC. */
  readonly updatedAt: number;
}

/** What people wrote before a moment, bots and later edits left out (I5). */
export const saidBefore = <T extends Said>(said: readonly T[], at: number): readonly T[] =>
  said.filter((one) => !one.authorIsBot && one.updatedAt <= at);

/** Ids of those authors who may write to the repository now (I4); of very many, the newest are looked at. Faults: GITHUB_UNAVAILABLE. */
export async function writersAmong(
  reader: GitHubReader,
  said: readonly Said[],
): Promise<ReadonlySet<number>> {
  const authors = new Map<number, Actor>();
  for (const { author } of said.toSorted((a, b) => b.updatedAt - a.updatedAt)) {
    if (authors.size < MOST_AUTHORS) authors.set(author.id, author);
  }
  const writers = new Set<number>();
  for (const author of authors.values()) {
    if (await mayWrite(reader, author)) writers.add(author.id);
  }
  return writers;
}
