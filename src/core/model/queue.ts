/** A run that waits for a slot. */
export interface WaitingRun {
  readonly id: string;
  /** The key for fair sharing: slots are distributed evenly among shares. */
  readonly share: string;
  /** 0 comes first. */
  readonly priority: number;
  /** When the run was requested, milliseconds since 1970 UTC. */
  readonly since: number;
  /** Had a slot before, and lost it in a crash or released it while waiting for a person. */
  readonly returning: boolean;
}

/** A run that has a slot. */
export type SlotHolder = Pick<WaitingRun, 'share'>;

const byAge = (one: WaitingRun, other: WaitingRun): number =>
  one.since - other.since || (one.id < other.id ? -1 : 1);

/**
 * Runs that had a slot before come first, then by priority, then by the fewest slots of their share, then the oldest.
 */
const compareWaiting = (one: WaitingRun, other: WaitingRun, held: ReadonlyMap<string, number>): number =>
  Number(other.returning) - Number(one.returning) ||
  one.priority - other.priority ||
  (held.get(one.share) ?? 0) - (held.get(other.share) ?? 0) ||
  byAge(one, other);

const slotsByShare = (holders: Iterable<SlotHolder>): Map<string, number> => {
  const held = new Map<string, number>();
  for (const { share } of holders) held.set(share, (held.get(share) ?? 0) + 1);
  return held;
};

/** The run that gets the next slot; null if none is waiting. */
export function nextInQueue(waiting: Iterable<WaitingRun>, holders: Iterable<SlotHolder>): WaitingRun | null {
  const held = slotsByShare(holders);
  let best: WaitingRun | null = null;
  for (const one of waiting) if (best === null || compareWaiting(one, best, held) < 0) best = one;
  return best;
}

/** The order in which waiting runs get slots if no slot is released and no run is added. */
export function queueOrder(
  waiting: readonly WaitingRun[],
  holders: Iterable<SlotHolder>,
): readonly WaitingRun[] {
  const held = slotsByShare(holders);
  const noSlots = new Map<string, number>();
  // The order within a share never changes, so only the first run of each share is compared.
  const shares = [...Map.groupBy(waiting, ({ share }) => share).values()].map((share) =>
    share.toSorted((one, other) => compareWaiting(one, other, noSlots)).values(),
  );
  const heads = new Map(shares.flatMap((share) => takeHead(share)));
  const order: WaitingRun[] = [];
  for (;;) {
    const next = nextHead([...heads.keys()], held);
    if (next === null) return order;
    const queue = heads.get(next);
    heads.delete(next);
    order.push(next);
    held.set(next.share, (held.get(next.share) ?? 0) + 1);
    for (const [head, rest] of queue ? takeHead(queue) : []) heads.set(head, rest);
  }
}

type ShareQueue = IterableIterator<WaitingRun>;

function takeHead(queue: ShareQueue): readonly (readonly [WaitingRun, ShareQueue])[] {
  const { value, done } = queue.next();
  return done === true ? [] : [[value, queue]];
}

const nextHead = (heads: readonly WaitingRun[], held: ReadonlyMap<string, number>): WaitingRun | null =>
  heads.reduce<WaitingRun | null>(
    (best, one) => (best === null || compareWaiting(one, best, held) < 0 ? one : best),
    null,
  );

/**
 * The priority of a run in the queue; lower values come first. A person who uses a command is waiting for the result;
 * a label may be one of two hundred. A run of the command line has its own process and does not queue.
 */
export const priorityOf = (trigger: 'label' | 'command' | 'local'): number => (trigger === 'label' ? 1 : 0);
