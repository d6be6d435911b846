import type { ListedRun, RunFilter } from '../ports/index.ts';

/** Where the next page of a list of runs begins, as it stands in an address: after this run. */
export const runCursor = ({ createdAt, id }: Pick<ListedRun, 'createdAt' | 'id'>): string =>
  `${createdAt}-${id}`;

/** Null for anything that is not a cursor. */
export function readRunCursor(text: string): NonNullable<RunFilter['after']> | null {
  const [, at, id] = /^(\d{1,15})-([0-9a-z]{1,40})$/.exec(text) ?? [];
  return at === undefined || id === undefined ? null : { createdAt: Number(at), id };
}
