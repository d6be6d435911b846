import type { Semaphore } from 'async-mutex';
import { nextInQueue, unlessAborted, type WaitingRun } from '../../core/model/index.ts';
import type { QueueEntry } from '../../ports/index.ts';

/**
 * The active runs of this process, and those that wait for a slot. Which run is next depends on who holds slots at that
 * moment and on `mayBegin`; queues in packages use a priority that is set once.
 */
export interface RunQueue {
  /** Waits for a slot. Rejects with the signal's reason if it aborts first; never settles once the queue is closed. */
  acquire(run: WaitingRun, signal: AbortSignal): Promise<void>;
  /** Frees the run's slot or removes the run from the queue; otherwise does nothing. */
  release(id: string): void;
  /** From now on no run gets a slot. */
  close(): void;
}

interface RunQueueOptions {
  /** Maximum number of active runs. */
  readonly slots: number;
  /** False: no run that never had a slot starts now, e.g. because the disk is full. Default: always true. */
  readonly mayBegin?: () => boolean;
  /** Milliseconds after which `mayBegin` is called again while a run waits. Our default: 5,000. */
  readonly retryMs?: number;
}

export function openRunQueue({ slots, mayBegin = () => true, retryMs = 5_000 }: RunQueueOptions): RunQueue {
  const waiting = new Map<string, { readonly run: WaitingRun; readonly enter: () => void }>();
  const running = new Map<string, WaitingRun>();
  let closed = false;
  let retrying: NodeJS.Timeout | null = null;

  function fillSlots(): void {
    while (!closed && running.size < slots) {
      const newMayBegin = mayBegin();
      const eligible = [...waiting.values()]
        .map(({ run }) => run)
        .filter((run) => newMayBegin || run.returning);
      const next = nextInQueue(eligible, running.values());
      if (next === null) break;
      const { enter } = waiting.get(next.id) ?? {};
      waiting.delete(next.id);
      running.set(next.id, next);
      enter?.();
    }
    // A run waits although a slot is free: `mayBegin` returned false.
    if (!closed && waiting.size > 0 && running.size < slots) retrying ??= setTimeout(retry, retryMs).unref();
  }
  function retry(): void {
    retrying = null;
    fillSlots();
  }

  return {
    acquire: (run, signal) =>
      new Promise<void>((settle, fail) => {
        if (signal.aborted) return fail(signal.reason);
        const leave = () => {
          if (closed || !waiting.delete(run.id)) return;
          fail(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        const enter = () => {
          signal.removeEventListener('abort', leave);
          settle();
        };
        waiting.set(run.id, { run, enter });
        fillSlots();
      }),
    release(id) {
      waiting.delete(id);
      if (running.delete(id)) fillSlots();
    },
    close() {
      closed = true;
      if (retrying !== null) clearTimeout(retrying);
    },
  };
}

/** One flow's slot in the run queue of its process. */
export interface RunSlot {
  /** Waits for the flow's first slot. */
  enter(entry: QueueEntry, signal: AbortSignal): Promise<void>;
  /** The flow had its first slot before a crash. It waits for another only when there is something to do. */
  restore(entry: QueueEntry): void;
  /** Frees the slot until there is something to do. */
  release(): void;
  /** Resolves when the flow has its slot, or needs none. */
  regain(signal: AbortSignal): Promise<void>;
}

export function openRunSlot(queue: RunQueue, id: string): RunSlot {
  let position: QueueEntry | null = null;
  // Shared by steps that begin at the same time.
  let held: Promise<void> | null = null;

  function enter(entry: QueueEntry, returning: boolean, signal: AbortSignal): Promise<void> {
    held ??= queue.acquire({ ...entry, id, returning }, signal).catch((error: unknown) => {
      held = null;
      throw error;
    });
    return held;
  }
  return {
    enter(entry, signal) {
      position = entry;
      return enter(entry, false, signal);
    },
    restore(entry) {
      position = entry;
    },
    release() {
      held = null;
      queue.release(id);
    },
    regain: async (signal) => (position === null ? undefined : enter(position, true, signal)),
  };
}

/**
 * Runs `work` in one of the slots. If the signal aborts, a waiting caller leaves the queue and rejects with its reason.
 * The work keeps its slot until it has ended, and the DBOS context of its flow: `p-queue` supports neither.
 */
export async function inSlot<T>(slots: Semaphore, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const slot = slots.acquire();
  try {
    await unlessAborted(slot, signal);
    return await work();
  } finally {
    // A caller that left still gets a slot later and releases it.
    void slot.then(([, release]) => release());
  }
}
