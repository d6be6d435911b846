/** Work under one key is done one at a time, in the order asked for. */
export function takeTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}

/** Who asks for a key while its work is going on gets that work's result. */
export function shareWork<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const going = new Map<string, Promise<T>>();
  return async (key, work) => {
    const found = going.get(key);
    if (found) return found;
    const mine = work();
    going.set(key, mine);
    try {
      return await mine;
    } finally {
      going.delete(key);
    }
  };
}
