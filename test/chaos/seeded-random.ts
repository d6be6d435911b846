/** Numbers that one seed always gives in the same order (mulberry32). */
export interface SeededRandom {
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
}

export function seededRandom(seed: number): SeededRandom {
  const state = { at: seed | 0 };
  const next = (): number => {
    state.at = (state.at + 0x6d2b79f5) | 0;
    let t = Math.imul(state.at ^ (state.at >>> 15), 1 | state.at);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return { between: (least, most) => least + Math.floor(next() * (most - least + 1)) };
}
