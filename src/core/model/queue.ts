/** A run that waits for a slot. */
export interface Waiting {
  readonly id: string;
  /** Whose work it is: places are shared out evenly among these. */
  readonly share: string;
  /** 0 comes first. */
  readonly priority: number;
  /** When it was asked for, milliseconds since 1970 UTC. */
  readonly since: number;
  /** Had a place before: a crash, or the wait for a person, came in between. */
  readonly returning: boolean;
}

/** Somebody who has a place. */
export type Placed = Pick<Waiting, 'share'>;

const within = (one: Waiting, other: Waiting): number =>
  one.since - other.since || (one.id < other.id ? -1 : 1);

/** Who goes first: whoever had a place before, then by priority, then whose share holds fewer places, then the older. */
const first = (one: Waiting, other: Waiting, held: ReadonlyMap<string, number>): number =>
  Number(other.returning) - Number(one.returning) ||
  one.priority - other.priority ||
  (held.get(one.share) ?? 0) - (held.get(other.share) ?? 0) ||
  within(one, other);

const counts = (placed: Iterable<Placed>): Map<string, number> => {
  const held = new Map<string, number>();
  for (const { share } of placed) held.set(share, (held.get(share) ?? 0) + 1);
  return held;
};

/** Who gets the next place; null where nobody waits. */
export function nextInLine(waiting: Iterable<Waiting>, placed: Iterable<Placed>): Waiting | null {
  const held = counts(placed);
  let best: Waiting | null = null;
  for (const one of waiting) if (best === null || first(one, best, held) < 0) best = one;
  return best;
}

/** The order in which those who wait get places, if nobody who has one leaves and nobody else comes. */
export function lineOrder(waiting: readonly Waiting[], placed: Iterable<Placed>): readonly Waiting[] {
  const held = counts(placed);
  const nobody = new Map<string, number>();
  // Within a share the order never changes, so that only the first of each need be compared.
  const rows = [...Map.groupBy(waiting, ({ share }) => share).values()].map((row) =>
    row.toSorted((one, other) => first(one, other, nobody)).values(),
  );
  const heads = new Map(rows.flatMap((row) => headOf(row)));
  const order: Waiting[] = [];
  for (;;) {
    const next = nextHead([...heads.keys()], held);
    if (next === null) return order;
    const row = heads.get(next);
    heads.delete(next);
    order.push(next);
    held.set(next.share, (held.get(next.share) ?? 0) + 1);
    for (const [head, rest] of row ? headOf(row) : []) heads.set(head, rest);
  }
}

type Row = IterableIterator<Waiting>;

function headOf(row: Row): readonly (readonly [Waiting, Row])[] {
  const { value, done } = row.next();
  return done === true ? [] : [[value, row]];
}

const nextHead = (heads: readonly Waiting[], held: ReadonlyMap<string, number>): Waiting | null =>
  heads.reduce<Waiting | null>(
    (best, one) => (best === null || first(one, best, held) < 0 ? one : best),
    null,
  );

/**
 * What goes before what in the line of runs; 0 comes first. A person who asks by a command is there and waits; a label may
 * be one of two hundred. A run of the command line has a process of its own, and waits for nobody.
 */
export const priorityOf = (trigger: 'label' | 'command' | 'local'): number => (trigger === 'label' ? 1 : 0);
