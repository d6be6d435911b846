/** An open pull request, as far as a list of them tells. */
export interface ListedPull {
  readonly number: number;
  readonly head: string;
  /** Null if the head repository was deleted; different from the base repository for a fork. */
  readonly headRepositoryId: number | null;
}

/** What an open pull request changes. */
export interface PullFiles {
  /** Paths of its files, old and new ones of renamed files. */
  readonly files: readonly string[];
  /** It has more files than were read. */
  readonly hasMore: boolean;
}

/** An open pull request, as far as it matters to others that change the same files. */
export type OpenPull = ListedPull & PullFiles;

/** Open pull requests of the same repository that change files which a run changes, too. */
export interface Overlaps {
  readonly pulls: readonly { readonly number: number; readonly files: readonly string[] }[];
  /** Why not every open pull request was compared, as a sentence; absent if all were. */
  readonly missing?: string;
}

/** The pull requests that change some of these files, in the given order. */
export function overlapsOf(
  files: readonly string[],
  pulls: readonly OpenPull[],
  missing: string | null,
): Overlaps {
  const own = new Set(files);
  const cut = pulls.filter(({ hasMore }) => hasMore).map(({ number }) => `#${number}`);
  const sentences = [
    ...(missing === null ? [] : [missing]),
    ...(cut.length === 0
      ? []
      : [
          `Only the first files of the open pull request${cut.length === 1 ? '' : 's'} ${cut.join(', ')} were compared, because there are more.`,
        ]),
  ];
  return {
    pulls: pulls.flatMap(({ number, files: theirs }) => {
      const same = theirs.filter((path) => own.has(path));
      return same.length === 0 ? [] : [{ number, files: [...new Set(same)] }];
    }),
    ...(sentences.length === 0 ? {} : { missing: sentences.join(' ') }),
  };
}
