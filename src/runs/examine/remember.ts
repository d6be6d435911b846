/**
 * Does work once for each key, and gives the same answer to whoever asks again, also while the work is under way. Answers
 * are plain JSON, so that they can be kept where a resumed run finds them. A key says all that the answer depends on, so it
 * can be long: whoever stores it hashes it. Work that fails is forgotten.
 */
export type Remember = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Remembers in memory, for as long as it is held itself, what `beyond` may have kept for longer. */
export function rememberHere(beyond: Remember = (_, work) => work()): Remember {
  const known = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = known.get(key);
    // Whoever chose the key chose the type with it.
    if (before) return before as Promise<T>;
    const answer = beyond(key, work);
    known.set(key, answer);
    answer.catch(() => known.delete(key));
    return answer;
  };
}
