/** What one sender holds of something that all senders share. */
export interface Holding {
  readonly sender: string;
  /** In the unit of what is shared: bytes, or 1 for a connection. */
  readonly weight: number;
  /** False: it is being worked on and is not taken away. */
  readonly droppable: boolean;
}

/**
 * What to drop so that the others have room: of the sender that holds the most, the oldest. Whoever sends little, and
 * quickly, is never first. `holdings` in the order in which they began; null where nothing can be dropped.
 */
export function toDrop<T extends Holding>(holdings: Iterable<T>): T | null {
  const senders = new Map<string, { weight: number; oldest: T | null }>();
  for (const one of holdings) {
    const sender = senders.get(one.sender) ?? { weight: 0, oldest: null };
    senders.set(one.sender, sender);
    sender.weight += one.weight;
    if (one.droppable) sender.oldest ??= one;
  }
  let found: { weight: number; oldest: T } | null = null;
  for (const { weight, oldest } of senders.values()) {
    if (oldest && (!found || weight > found.weight)) found = { weight, oldest };
  }
  return found?.oldest ?? null;
}
