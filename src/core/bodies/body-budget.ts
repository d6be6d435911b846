import { type Holding, toDrop } from './fair-share.ts';

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
