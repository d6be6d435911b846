/** Where a page of a list begins, the newest first: after this entry. */
interface ListPlace {
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number;
  readonly id: string;
}

/** The place as it stands in an address. */
export const listCursor = ({ createdAt, id }: ListPlace): string => `${createdAt}-${id}`;

/** Null for anything that is not a cursor. */
export function readListCursor(text: string): ListPlace | null {
  const [, at, id] = /^(\d{1,15})-([0-9a-z]{1,40})$/.exec(text) ?? [];
  return at === undefined || id === undefined ? null : { createdAt: Number(at), id };
}
