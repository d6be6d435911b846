import type { Candidate } from '../../core/model/index.ts';
import type { Store } from '../../ports/index.ts';
import { noteOf } from './line-up.ts';

export interface Progress {
  /** Remembers the change, a note with how the candidate came about before it; the database hears of it at once when the state changed, else with the next write. */
  set(change: Partial<Omit<Candidate, 'runId' | 'alias'>>): void;
  /** Writes what is remembered; rejects if that fails, and may be asked again. */
  flush(): Promise<void>;
}

/** Serialises writes of one candidate's row: a coder's chatter becomes at most one write at a time. */
export function progressOf(
  store: Pick<Store, 'putCandidate'>,
  start: Candidate,
  onState: () => void,
): Progress {
  let current = start;
  let dirty = false;
  let writing: Promise<void> = Promise.resolve();
  let busy = false;

  const pump = async (): Promise<void> => {
    busy = true;
    try {
      while (dirty) {
        dirty = false;
        await store.putCandidate(current);
      }
    } catch (thrown) {
      // Not lost: the next change, or whoever flushes, writes it.
      dirty = true;
      throw thrown;
    } finally {
      busy = false;
    }
  };
  const write = (): void => {
    if (busy) return;
    writing = pump();
    // The rejection is delivered by flush; without this line it would count as unhandled until then.
    writing.catch(() => {});
  };

  return {
    set(change) {
      const stateChanged = change.state !== undefined && change.state !== current.state;
      const note = change.note === undefined ? {} : { note: noteOf(start.contestant, change.note) };
      current = { ...current, ...change, ...note };
      dirty = true;
      write();
      if (stateChanged) onState();
    },
    async flush() {
      await writing.catch(() => {});
      if (dirty) await pump();
    },
  };
}
