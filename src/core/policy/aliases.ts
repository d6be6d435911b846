/**
 * One letter for each contestant, `A` to `Z`: a shuffle that depends on the run id alone, so that a letter says
 * nothing about who wrote the patch and a replay gives the same letters. At most 26.
 */
export function assignAliases(runId: string, count: number): readonly string[] {
  if (!Number.isInteger(count) || count < 0 || count > 26) {
    throw new RangeError(`There are aliases for 0 to 26 candidates, not for ${count}.`);
  }
  const letters = Array.from({ length: count }, (_, i) => String.fromCharCode(65 + i));
  const random = mulberry32(fnv1a(runId));
  for (let i = letters.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [letters[i], letters[j]] = [letters[j] as string, letters[i] as string];
  }
  return letters;
}

/** FNV-1a over UTF-16 code units, 32 bits. No cryptographic strength is needed: run ids are random already. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Tommy Ettinger's mulberry32: a stream of numbers in [0, 1) from a seed of 32 bits. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
