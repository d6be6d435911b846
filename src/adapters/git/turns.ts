import { abortError, isAbortError } from './faults.ts';

/** Work under one key is done one at a time, in the order asked for. Who waits leaves when the signal is aborted. */
export function takeTurns(): <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work, signal) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = unlessAborted(before, signal).then(work);
    const turn = Promise.allSettled([before, mine]);
    last.set(key, turn);
    try {
      return await mine;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}

/**
 * Who asks for a key while its work is going on gets that work's result. The work heeds the signal of the one who
 * started it; when it ends by that, one of the others starts it again.
 */
export function shareWork<T>(): (key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  const going = new Map<string, Promise<T>>();
  return async (key, work, signal) => {
    for (;;) {
      if (signal?.aborted) throw abortError();
      const found = going.get(key);
      if (!found) {
        const mine = work().finally(() => going.delete(key));
        going.set(key, mine);
        return mine;
      }
      try {
        return await unlessAborted(found, signal);
      } catch (error) {
        if (!isAbortError(error)) throw error;
      }
    }
  };
}

/** Stops waiting, not the work, when the signal is aborted. */
async function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal?.aborted) throw abortError();
  const left = Promise.withResolvers<never>();
  const leave = (): void => left.reject(abortError());
  signal?.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, left.promise]);
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}
