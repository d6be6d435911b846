/** The memory shared by all bodies that are being read or worked on. */
export interface BodyBudget {
  /** A body begins to arrive. `dropped` is called when its memory is given to others; it no longer counts then. */
  open(sender: string, dropped: () => void): HeldBody;
  /** Bytes that are held now. */
  readonly held: number;
}

export interface HeldBody {
  /** Says how many bytes it holds in all. False: there is no room for it, and it no longer counts. */
  hold(bytes: number): boolean;
  /** It has arrived whole and is being worked on: from now on it is not dropped. */
  keep(): void;
  /** It is not needed any more. */
  release(): void;
}

/**
 * A budget of so many bytes. Where a body needs more than is left, unfinished ones are dropped: the oldest of the sender
 * that holds the most, until there is room. Bodies that have arrived are kept until they are released.
 */
export function openBodyBudget(most: number): BodyBudget {
  interface Entry extends Holding {
    weight: number;
    droppable: boolean;
    readonly dropped: () => void;
  }
  const entries = new Set<Entry>();
  let held = 0;

  function remove(entry: Entry): void {
    if (entries.delete(entry)) held -= entry.weight;
  }
  function hold(entry: Entry, bytes: number): boolean {
    if (!entries.has(entry)) return false;
    held += bytes - entry.weight;
    entry.weight = bytes;
    while (held > most) {
      const victim = toDrop(entries) ?? entry;
      remove(victim);
      if (victim === entry) return false;
      victim.dropped();
    }
    return true;
  }
  return {
    open(sender, dropped) {
      const entry: Entry = { sender, weight: 0, droppable: true, dropped };
      entries.add(entry);
      return {
        hold: (bytes) => hold(entry, bytes),
        keep: () => {
          entry.droppable = false;
        },
        release: () => remove(entry),
      };
    },
    get held() {
      return held;
    },
  };
}

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
