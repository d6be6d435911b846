/** The memory shared by all request bodies that are being read or processed. */
export interface BodyBudget {
  /** Registers a body that begins to arrive. `dropped` is called when its memory is given to others; from then on it no longer counts. */
  open(sender: string, dropped: () => void): HeldBody;
  /** Bytes held now. */
  readonly held: number;
}

export interface HeldBody {
  /** Sets how many bytes it holds in total. Returns false when they exceed the budget; the body then no longer counts. */
  hold(bytes: number): boolean;
  /** The body is complete and is being processed: from now on it is not dropped. */
  keep(): void;
  /** The body is no longer needed. */
  release(): void;
}

/**
 * A budget of `maxBytes`. When a body needs more than is left, unfinished bodies are dropped, each time the oldest of the
 * sender that holds the most, until it fits. Complete bodies are kept until they are released.
 */
export function openBodyBudget(maxBytes: number): BodyBudget {
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
    while (held > maxBytes) {
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

/** What one sender holds of a resource that all senders share. */
export interface Holding {
  readonly sender: string;
  /** In the unit of the resource: bytes, or 1 for a connection. */
  readonly weight: number;
  /** False while it is being processed. */
  readonly droppable: boolean;
}

/**
 * What to drop to free the resource for others: the oldest holding of the sender that holds the most, so that a sender
 * that holds little is never first. `holdings` are in the order in which they began. Null if nothing can be dropped.
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
